package effects_test

import (
	"context"
	"encoding/json"
	"errors"
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

// drive goes on until there is nothing left to do.
func (a *afar) drive() {
	a.t.Helper()
	for range 1000 {
		todo, err := machine.Settle(a.run, func() time.Time { return a.now }, a.put)
		if err != nil {
			a.t.Fatal(err)
		}
		if todo.Done {
			return
		}
		if len(todo.Start) == 0 {
			if a.now = todo.Wake; a.now.IsZero() {
				return
			}
			continue
		}
		e := todo.Start[0]
		if err := machine.Begin(a.run, &e, a.put); err != nil {
			a.t.Fatal(err)
		}
		q := sent(a.t, a.run.Request(e))
		a.kinds[e.Kind]++
		body, err := a.worker.Do(a.t.Context(), q)
		if err == nil {
			err = a.put(q.Effect.Says(body))
		}
		if err != nil {
			a.t.Fatal(err)
		}
	}
	a.t.Fatal("it does not end")
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
	if got := a.run.Counts(); got["done"] != 4 {
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

func TestWhatDoesNotHappenIsSaid(t *testing.T) { // execution §4
	epic := executortest.Epic([]string{"1.1"})
	turn := executor.Request{Effect: executor.Effect{Kind: executor.EffectAgent, Node: epic.Nodes[0].ID, Step: "implement", Attempt: 1, Iteration: 1}, Late: &executor.Late{}}
	do := func(change func(*effects.Tools, *executor.Request)) (executor.Body, error) {
		t.Helper()
		with, q := tools(t, epic), turn
		change(&with, &q)
		return effects.New(with, nil).Do(t.Context(), sent(t, q))
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
	_, ok := errors.AsType[*effects.Bug](err)
	return ok
}
