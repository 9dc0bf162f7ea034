package effects_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// afar is a driver whose worker is in another process: what they say to each other
// goes through JSON.
type afar struct {
	t      *testing.T
	run    *machine.Run
	worker *effects.Worker
	kinds  map[executor.EffectKind]int
	begun  []executor.Effect
	now    time.Time
}

func newAfar(t *testing.T, tools effects.Tools) *afar {
	run, err := machine.New(tools.Epic)
	if err != nil {
		t.Fatal(err)
	}
	a := &afar{t: t, run: run, kinds: map[executor.EffectKind]int{}, now: time.UnixMilli(1_000_000).UTC()}
	a.worker = effects.New(tools, func(_ context.Context, e executor.Event) error { return a.put(e) })
	if err := a.put(executor.Event{Body: executortest.Start(tools.Epic)}); err != nil {
		t.Fatal(err)
	}
	return a
}

// sent is a value as it arrives elsewhere.
func sent[V any](t *testing.T, v V) (out V) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (a *afar) put(e executor.Event) error {
	e.Seq, e.At = a.run.Seq()+1, a.now
	return a.run.Apply(sent(a.t, e))
}

func (a *afar) Now() time.Time { return a.now }

func (a *afar) Stays() bool { return false }

func (a *afar) Put(e executor.Event) error {
	parts, e := e.Split()
	for _, e := range append(parts, e) {
		if err := a.put(e); err != nil {
			return err
		}
	}
	return nil
}

func (a *afar) Hear(bool) (bool, error) { return false, nil }

func (a *afar) Keep(machine.Todo, bool) error { return nil }

func (a *afar) Do(todo machine.Todo) error {
	a.begun = append(a.begun, todo.Start...)
	return nil
}

func (a *afar) Wait(wake time.Time) (*machine.Run, error) {
	if len(a.begun) == 0 {
		if a.now = wake; a.now.IsZero() {
			return nil, nil
		}
		return a.run, nil
	}
	q := sent(a.t, a.run.Request(a.begun[0]))
	a.begun = a.begun[1:]
	a.kinds[q.Effect.Kind]++
	body, err := a.worker.Do(a.t.Context(), q)
	if err == nil {
		err = a.put(q.Effect.Says(body))
	}
	return a.run, err
}

// drive goes on until there is nothing left to do.
func (a *afar) drive() {
	a.t.Helper()
	if err := machine.Drive(a.run, a); err != nil {
		a.t.Fatal(err)
	}
}

func tools(t *testing.T, epic *ir.Epic) effects.Tools {
	return effects.Tools{
		Epic: epic, Workspace: executortest.NewWorkspace(epic.Epic.ID), State: t.TempDir(),
		Runners: map[string]executor.Runner{"command": executortest.Runner{}}, Gates: map[string]executor.Gate{"command": executortest.Gate{}},
	}
}

func TestAWorkerThatHasNothingButRequests(t *testing.T) { // execution §3, §9
	epic := executortest.Epic([]string{"1.1", "1.2a: 1.1", "1.2b: 1.1", "1.3: 1.2a 1.2b"}, func(e *ir.Epic) {
		check := e.Gates["check"]
		check.RedFirst = true
		e.Gates["repro"] = check
		e.Nodes[0].Steps[0].Gates = []string{"check", "repro"}
		e.Nodes[0].Goal = "People log in"
	})
	with := tools(t, epic)
	var told []executor.AgentRun
	with.Runners["command"] = executortest.Runner{Do: func(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
		if r.Node.Key == "1.1" {
			told = append(told, r)
		}
		if r.Node.Key == "1.2a" && r.Effect.Attempt == 1 && !r.Effect.Redo {
			return executor.AgentEnded{}, &executor.Failure{Class: executor.FailTransient, Err: errors.New("no line to hunter2")}
		}
		return executortest.Success(), r.Record(ctx, executor.WorkProposed{Proposal: executor.Proposal{Title: "more of hunter2"}, Agent: r.Agent})
	}}
	var judged []executor.GateRun
	with.Gates["command"] = executortest.Gate{Do: func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
		if r.Node.Key == "1.1" && r.Name == "check" {
			judged = append(judged, r)
		}
		if r.Effect.Kind == executor.EffectRed || r.Node.Key == "1.1" && r.Name == "check" && r.Effect.Attempt == 1 {
			return executortest.Verdict(r.Name, executor.Fail), nil
		}
		return executortest.Verdict(r.Name, executor.Pass), nil
	}}
	with.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "****") }
	a := newAfar(t, with)
	a.drive()
	if got := a.run.Summary().Counts(); got["done"] != 4 {
		t.Fatalf("%v\n%s", got, executortest.Statuses(a.run))
	}
	for _, k := range []executor.EffectKind{executor.EffectBase, executor.EffectPrepare, executor.EffectAgent, executor.EffectCollect, executor.EffectRed, executor.EffectGate, executor.EffectPublish} {
		if a.kinds[k] == 0 {
			t.Errorf("no %s was done: %v", k, a.kinds)
		}
	}
	if len(told) != 2 || !strings.Contains(string(told[1].Prompt), "check says fail") || !strings.Contains(string(told[1].Notes), "check says fail") ||
		!strings.Contains(string(told[1].Context), "People log in") {
		t.Errorf("the second attempt is told %d:\n%s", len(told), told[len(told)-1].Prompt)
	}
	if len(judged) != 2 || !strings.Contains(strings.Join(judged[1].Feedback, "\n"), "check says fail") || judged[1].Outcome.Summary != "done" {
		t.Errorf("the gate is told %+v", judged)
	}
	titles := 0
	for _, v := range a.run.Views() {
		for _, at := range v.Attempts {
			for _, p := range at.Proposed {
				if titles++; p.Proposal.Title != "more of ****" {
					t.Errorf("on record: %q", p.Proposal.Title)
				}
			}
		}
	}
	if titles != 5 || a.kinds[executor.EffectAgent] != 6 {
		t.Errorf("%d facts of %d turns are on record", titles, a.kinds[executor.EffectAgent])
	}
}

// A request for what joins many results refers to them, and the worker looks them up. One
// that does not find them does nothing.
func TestAWorkerLooksUpLongLists(t *testing.T) { // execution §3, §9
	var keys []string
	for i := range 60 {
		keys = append(keys, fmt.Sprintf("1.%d", i+1))
	}
	with := tools(t, executortest.Epic(keys))
	var a *afar
	looked, lost := 0, true
	with.Lists = func(_ context.Context, ref executor.ListRef) (executor.Lists, error) {
		l, ok := executor.ListsOf(a.run.InFlight(), sent(t, ref))
		if looked++; !ok || lost {
			lost = false
			return nil, errors.New("nobody knows them")
		}
		return sent(t, l), nil
	}
	joined := 0
	ws := executortest.NewWorkspace(with.Epic.Epic.ID)
	ws.Fail = func(e executor.Effect) error {
		if e.Node == executor.Integration && e.Kind == executor.EffectBase {
			joined = len(e.Inputs)
		}
		return nil
	}
	with.Workspace = ws
	a = newAfar(t, with)
	a.drive()
	if got := a.run.Summary().Counts(); got["done"] != 60 || joined < 60 || looked < 3 || lost {
		t.Errorf("%v; %d results are joined, lists are looked up %d times", got, joined, looked)
	}
	l, ok := executor.ListsOf(a.run.InFlight(), executor.ListRef{Listed: 61})
	other := &executor.Request{Effect: executor.Effect{Kind: executor.EffectBase}, Lists: executor.ListRef{Listed: 61, List: "x"}}
	body, err := effects.New(with, nil).Do(t.Context(), other)
	if f, is := body.(executor.EffectFailed); ok || l != nil || err != nil || !is || f.Class != executor.FailTransient {
		t.Errorf("got %+v (%v), %v", body, err, l)
	}
}

func TestWhatDoesNotHappenIsSaid(t *testing.T) { // execution §4
	epic := executortest.Epic([]string{"1.1"})
	turn := executor.Request{Effect: executor.Effect{Kind: executor.EffectAgent, Node: epic.Nodes[0].ID, Step: "implement", Attempt: 1, Iteration: 1}, Late: &executor.Late{}}
	do := func(change func(*effects.Tools, *executor.Request)) (executor.Body, error) {
		t.Helper()
		with, q := tools(t, epic), turn
		change(&with, &q)
		return effects.New(with, nil).Do(t.Context(), sent(t, &q))
	}
	for name, change := range map[string]func(*effects.Tools, *executor.Request){
		"an effect that nobody knows":  func(_ *effects.Tools, q *executor.Request) { q.Effect.Kind = "dance" },
		"a runner that was not given":  func(with *effects.Tools, _ *executor.Request) { with.Runners = nil },
		"an agent that is in no epic":  func(_ *effects.Tools, q *executor.Request) { q.Effect.Agent = "nobody" },
		"a gate that nobody can judge": func(_ *effects.Tools, q *executor.Request) { q.Effect.Kind, q.Effect.Gate = executor.EffectGate, "x" },
	} {
		if body, err := do(change); body != nil || !isBug(err) {
			t.Errorf("%s: %v, %v; want a bug", name, body, err)
		}
	}
	body, err := do(func(with *effects.Tools, _ *executor.Request) {
		with.Room = func() error { return errors.New("the disk is full of hunter2") }
		with.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "****") }
	})
	if want := (executor.EffectFailed{Class: executor.FailTransient, Detail: "the disk is full of ****"}); err != nil || !reflect.DeepEqual(body, executor.Body(want)) {
		t.Errorf("without room: %+v, %v", body, err)
	}
}

func isBug(err error) bool {
	_, ok := errors.AsType[*executor.Bug](err)
	return ok
}
