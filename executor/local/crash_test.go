package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// world is a bench with an inbox and people who answer, and gates of all kinds.
type world struct {
	*bench
	in   *executortest.Inbox
	say  func(v machine.NodeView) (executor.Decision, bool) // to a node that waits for a person
	last *machine.Run
}

func newWorld(t *testing.T, lines []string, change ...func(*ir.Epic)) *world {
	t.Helper()
	w := &world{bench: newBench(t, executortest.Epic(lines, change...)), in: &executortest.Inbox{}}
	w.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
		return executortest.Verdict(r.Name, executor.Pass), nil
	}
	return w
}

// people answer every wait for a person, each once: the answer's name says which.
func (w *world) people(run *machine.Run) (some bool) {
	if w.say == nil {
		return false
	}
	for _, v := range run.Views() {
		if v.Status != executor.Waiting || v.For != executor.ForHuman {
			continue
		}
		d, ok := w.say(v)
		if !ok {
			continue
		}
		d.ID, d.By, d.User = fmt.Sprintf("%s-%d", v.ID, len(v.Decisions)), "ann", "ann"
		if _, answered := w.in.Answers[d.ID]; !answered {
			w.in.Send(v.ID, d)
			some = true
		}
	}
	return some
}

// finish applies until nobody has anything to say any more.
func (w *world) finish() (*machine.Run, error) {
	w.t.Helper()
	for range 20 {
		run, err := w.apply(func(c *local.Config, _ *executor.RunStarted) {
			c.Inbox = w.in
			c.Gates = map[string]executor.Gate{"command": w.gate, "agent": w.gate, "review": w.gate}
			c.Observe = func([]executor.Event) { w.people(c.Run) }
		})
		w.last = run
		if err != nil || !w.people(run) {
			return run, err
		}
	}
	return w.last, errors.New("people were asked 20 times")
}

func TestACrashAnywhereChangesNothing(t *testing.T) { // L0-12, execution §3, §5, §9
	gates := func(e *ir.Epic) {
		check := e.Gates["check"]
		e.Gates["lint"] = check
		qa := check
		qa.Kind, qa.Run, qa.Agent, qa.Access, qa.Prompt = "agent", "", "dev", "read", []string{"Look."}
		e.Gates["qa"], e.Gates["blind"] = qa, qa
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Gates = []string{"check", "lint", "qa", "blind"}
		}
	}
	human := func(e *ir.Epic) {
		e.Gates["ok"] = ir.Gate{Kind: "human", From: "policy", OnFailure: "retry", OnTimeout: "fail", ProtectNew: true}
		e.Nodes[0].Steps[0].Gates = []string{"check", "ok"}
	}
	for name, build := range map[string]func(t *testing.T) *world{
		"gates beside each other, one of which fails at first": func(t *testing.T) *world {
			w := newWorld(t, []string{"1.1", "1.2: 1.1"}, gates)
			w.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
				if r.Node.Key == "1.1" && r.Effect.Attempt == 1 && r.Name == "qa" {
					return executortest.Verdict(r.Name, executor.Fail), nil
				}
				return executortest.Verdict(r.Name, executor.Pass), nil
			}
			return w
		},
		"a person rejects, then approves": func(t *testing.T) *world {
			w := newWorld(t, []string{"1.1", "1.2: 1.1", "2.1"}, human)
			w.say = func(v machine.NodeView) (executor.Decision, bool) {
				if len(v.Attempts) < 2 {
					return executor.Decision{Verb: executor.Reject, Message: "shorter, please"}, true
				}
				return executor.Decision{Verb: executor.Approve}, true
			}
			return w
		},
		"a merge in conflict that an agent resolves": func(t *testing.T) *world {
			w := newWorld(t, diamond)
			w.ws.Conflicts["bd-1-3"] = true
			return w
		},
		"a gate that cannot judge until a person says retry": func(t *testing.T) *world {
			w := newWorld(t, []string{"1.1", "1.2: 1.1"})
			w.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
				if r.Node.Key == "1.1" && len(w.in.Answers) == 0 {
					return executortest.Verdict(r.Name, executor.ErrorJudged), nil
				}
				return executortest.Verdict(r.Name, executor.Pass), nil
			}
			w.say = func(machine.NodeView) (executor.Decision, bool) {
				return executor.Decision{Verb: executor.RetryNode}, true
			}
			return w
		},
		"a runner whose limit is used up for an hour": func(t *testing.T) *world {
			w := newWorld(t, []string{"1.1", "1.2: 1.1"})
			began := time.Now()
			w.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
				if r.Node.Key == "1.2" && time.Since(began) < time.Hour {
					return executor.AgentEnded{}, &executor.Failure{
						Class: executor.FailLimit, Err: errors.New("429"), Until: began.Add(time.Hour).UTC().Format(time.RFC3339),
					}
				}
				return executortest.Success(), nil
			}
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { crashEverywhere(t, build) })
		})
	}
}

func crashEverywhere(t *testing.T, build func(t *testing.T) *world) {
	t.Helper()
	calm := build(t)
	run, err := calm.finish()
	if err != nil {
		t.Fatal(err)
	}
	want := results(run)
	if strings.Contains(want, "blocked") || strings.Contains(want, "waiting") {
		t.Fatalf("undisturbed it ends\n%s", want)
	}
	total, step := run.Seq(), int64(3) // a sample: both before and after each third record
	switch {
	case os.Getenv("RALPH_E2E") != "":
		step = 1
	case testing.Short():
		step = 7
	}
	for at := int64(1); at <= total; at += step {
		for _, lose := range []bool{true, false} {
			what := fmt.Sprintf("after a crash at %d of %d (lose %v)", at, total, lose)
			w := build(t)
			w.journal.CrashAt, w.journal.Lose = at, lose
			if _, err := w.finish(); !errors.Is(err, executortest.ErrCrash) {
				if err == nil && len(w.journal.Kept) < int(at) {
					continue // this time it was shorter
				}
				t.Fatalf("%s: %v", what, err)
			}
			w.journal = &executortest.Journal{Kept: w.journal.Kept}
			run, err := w.finish()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if got := results(run); got != want {
				t.Errorf("%s:\n%swant\n%s", what, got, want)
			}
			w.exactlyOnce(what, calm)
		}
	}
}

// results is where all nodes stand and what came of them, however often agents
// were asked.
func results(run *machine.Run) string {
	var b strings.Builder
	for _, v := range run.Views() {
		fmt.Fprintf(&b, "%s %s %s\n", v.Key, v.Status, v.Result.Tree)
	}
	return b.String()
}

// exactlyOnce checks what a crash must never double.
func (w *world) exactlyOnce(what string, calm *world) {
	w.t.Helper()
	for node, n := range w.ws.Published {
		if n > calm.ws.Published[node] { // the sum moves whenever a run ends with more results
			w.t.Errorf("%s: %s was published %d times", what, node, n)
		}
	}
	var decided []string
	for i, e := range w.journal.Kept {
		if e.Seq != int64(i)+1 {
			w.t.Fatalf("%s: event %d is at place %d", what, e.Seq, i+1)
		}
		if d, ok := e.Body.(executor.Decided); ok {
			if slices.Contains(decided, d.ID) {
				w.t.Errorf("%s: decision %s is twice on record", what, d.ID)
			}
			decided = append(decided, d.ID)
		}
	}
	for id, refused := range w.in.Answers {
		if refused != "" {
			w.t.Errorf("%s: decision %s was refused: %s", what, id, refused)
		}
	}
}
