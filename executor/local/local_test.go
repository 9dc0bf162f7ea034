package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// bench is an epic with everything faked, that survives crashes of the driver.
type bench struct {
	t       *testing.T
	epic    *ir.Epic
	journal *executortest.Journal
	ws      *executortest.Workspace
	runner  executortest.Runner
	gate    executortest.Gate
	state   string
}

func newBench(t *testing.T, epic *ir.Epic) *bench {
	b := &bench{
		t: t, epic: epic, journal: &executortest.Journal{}, ws: executortest.NewWorkspace(epic.Epic.ID),
		state: t.TempDir(),
	}
	b.runner.Do = func(context.Context, executor.AgentRun) (executor.AgentEnded, error) {
		return executortest.Success(), nil
	}
	return b
}

// replay is what a new process does: a new machine from the journal.
func (b *bench) replay() *machine.Run {
	b.t.Helper()
	run, err := machine.New(b.epic)
	if err != nil {
		b.t.Fatal(err)
	}
	for e, err := range b.journal.Events(b.t.Context()) {
		if err != nil {
			b.t.Fatal(err)
		}
		// What was kept is what was written: through JSON and back.
		raw, err := e.MarshalJSON()
		if err != nil {
			b.t.Fatal(err)
		}
		var back executor.Event
		if err := back.UnmarshalJSON(raw); err != nil {
			b.t.Fatal(err)
		}
		if err := run.Apply(back); err != nil {
			b.t.Fatal(err)
		}
	}
	return run
}

func (b *bench) apply(change ...func(*local.Config, *executor.RunStarted)) (*machine.Run, error) {
	b.t.Helper()
	run := b.replay()
	c := local.Config{
		Tools: effects.Tools{
			Epic: b.epic, Workspace: b.ws, State: b.state,
			Runners: map[string]executor.Runner{"command": b.runner}, Gates: map[string]executor.Gate{"command": b.gate},
		},
		Run: run, Journal: b.journal,
	}
	start := executortest.Start(b.epic)
	for _, f := range change {
		f(&c, &start)
	}
	_, err := local.Apply(b.t.Context(), c, start)
	return run, err
}

func (b *bench) want(run *machine.Run, want string) {
	b.t.Helper()
	var got []string
	for _, v := range run.Views() {
		line := fmt.Sprintf("%s %s", v.Key, v.Status)
		if v.Reason != "" {
			line += " (" + v.Reason + ")"
		}
		got = append(got, line)
	}
	if g := strings.Join(got, "\n"); g != strings.TrimSpace(strings.ReplaceAll(want, "\t", "")) {
		b.t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}

var diamond = []string{"1.1", "1.2a: 1.1", "1.2b: 1.1", "1.3: 1.2a 1.2b"}

// The lists that a request refers to come from the run itself.
func TestManyResultsAreJoined(t *testing.T) { // execution §3, §9
	var keys []string
	for i := range 60 {
		keys = append(keys, fmt.Sprintf("1.%d", i+1))
	}
	b := newBench(t, executortest.Epic(keys))
	var joined atomic.Int64
	b.ws.Fail = func(e executor.Effect) error {
		if e.Node == executor.Integration && e.Kind == executor.EffectBase {
			joined.Store(int64(len(e.Inputs)))
		}
		return nil
	}
	run, err := b.apply()
	if got := run.Summary().Counts(); err != nil || got["done"] != 60 || joined.Load() < 60 {
		t.Errorf("%v; %d results are joined (%v)", got, joined.Load(), err)
	}
}

func TestAnEpicRunsToItsEnd(t *testing.T) { // S2-18, S4-58
	b := newBench(t, executortest.Epic(diamond))
	run, err := b.apply()
	if err != nil {
		t.Fatal(err)
	}
	b.want(run, "1.1 done\n1.2a done\n1.2b done\n1.3 done\nintegration done")
	seen := map[string]bool{}
	for _, e := range b.journal.Kept {
		if _, ok := e.Body.(executor.NodeStarted); ok {
			seen[string(e.Node)] = true
		}
		if s, ok := e.Body.(executor.EffectStarted); ok && s.Kind == executor.EffectAgent && !seen[string(e.Node)] {
			t.Errorf("the agent of %s began before the node was recorded as started", e.Node)
		}
	}
}

func TestAFinishedEpicIsNotRunAgain(t *testing.T) {
	b := newBench(t, executortest.Epic(diamond))
	if _, err := b.apply(); err != nil {
		t.Fatal(err)
	}
	before := len(b.ws.Done)
	run, err := b.apply()
	if err != nil {
		t.Fatal(err)
	}
	b.want(run, "1.1 done\n1.2a done\n1.2b done\n1.3 done\nintegration done")
	if len(b.ws.Done) != before {
		t.Errorf("%d effects, then %d", before, len(b.ws.Done))
	}
}

func TestAFailGoesBackToTheAgentWithFeedback(t *testing.T) { // S0-56, S2-19, S2-27
	b := newBench(t, executortest.Epic([]string{"1.1"}))
	var notes []string
	b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
		notes = append(notes, string(r.Notes))
		if r.Effect.Attempt > 1 && !strings.Contains(string(r.Prompt), "check says fail") {
			t.Errorf("the prompt of attempt %d has no feedback:\n%s", r.Effect.Attempt, r.Prompt)
		}
		return executortest.Success(), nil
	}
	b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
		if r.Effect.Attempt == 1 {
			return executortest.Verdict(r.Name, executor.Fail), nil
		}
		return executortest.Verdict(r.Name, executor.Pass), nil
	}
	run, err := b.apply()
	if err != nil {
		t.Fatal(err)
	}
	b.want(run, "1.1 done\nintegration done")
	if len(notes) != 2 || notes[0] != "" || !strings.Contains(notes[1], "Gate check: fail") {
		t.Errorf("feedback was %q", notes)
	}
	v, _ := run.View("bd-1-1")
	if len(v.Attempts) != 2 || v.Attempts[1].From == v.Attempts[0].From || v.Attempts[1].Start != v.Attempts[0].Start {
		t.Errorf("attempts %+v: the second starts from the first's commit, in the same step", v.Attempts) // L1-01
	}
}

func TestVerdictsOfGates(t *testing.T) {
	for name, c := range map[string]struct {
		verdicts []executor.Verdict // of successive judgements; the last one stays
		change   func(*ir.Epic)
		want     string
		agents   int
	}{
		"pass goes on": { // S0-55
			[]executor.Verdict{executor.Pass}, nil, "1.1 done\n2.1 done\n1.2 done\nintegration done", 1},
		"fail uses up the attempts and blocks, and what does not depend on it goes on": { // S0-58, S0-59, K6
			[]executor.Verdict{executor.Fail},
			nil,
			"1.1 blocked (the 3 attempts of step implement used up; last: gate check failed: check says fail)\n2.1 done\n1.2 pending (needs 1.1 (blocked))\nintegration done", 3,
		},
		"stop blocks at once": { // S0-57
			[]executor.Verdict{executor.Stop},
			nil,
			"1.1 blocked (gate check said stop: check says stop)\n2.1 done\n1.2 pending (needs 1.1 (blocked))\nintegration done", 1,
		},
		"a fail of a gate that stops is a stop": {
			[]executor.Verdict{executor.Fail},
			func(e *ir.Epic) { g := e.Gates["check"]; g.OnFailure = "stop"; e.Gates["check"] = g },
			"1.1 blocked (gate check said stop: check says fail)\n2.1 done\n1.2 pending (needs 1.1 (blocked))\nintegration done", 1,
		},
		"the breaker ends a failure that repeats": {
			[]executor.Verdict{executor.Fail},
			func(e *ir.Epic) { e.Nodes[0].Steps[0].Limits.Breaker = 2 },
			"1.1 blocked (the same failure 2 times in a row: gate check failed: check says fail)\n2.1 done\n1.2 pending (needs 1.1 (blocked))\nintegration done", 2,
		},
		"an error is asked again and costs no attempt": {
			[]executor.Verdict{executor.ErrorJudged, executor.Pass}, nil, "1.1 done\n2.1 done\n1.2 done\nintegration done", 1,
		},
		"an error that stays waits for a person": {
			[]executor.Verdict{executor.ErrorJudged},
			nil,
			"1.1 waiting (check: check says error)\n2.1 done\n1.2 pending (needs 1.1 (waiting))\nintegration done", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var changes []func(*ir.Epic)
			if c.change != nil {
				changes = append(changes, c.change)
			}
			b := newBench(t, executortest.Epic([]string{"1.1", "2.1", "1.2: 1.1"}, changes...))
			agents, judged := 0, 0
			b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
				if r.Node.Key == "1.1" {
					agents++
				}
				return executortest.Success(), nil
			}
			b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
				if r.Node.Key != "1.1" {
					return executortest.Verdict(r.Name, executor.Pass), nil
				}
				judged++
				return executortest.Verdict(r.Name, c.verdicts[min(judged, len(c.verdicts))-1]), nil
			}
			run, err := b.apply()
			if err != nil {
				t.Fatal(err)
			}
			b.want(run, c.want)
			if agents != c.agents {
				t.Errorf("the agent ran %d times, want %d", agents, c.agents)
			}
		})
	}
}

// TestACrashAtEveryRecordChangesNothing kills the driver at each event of a run
// with a failure, a retry and merges, once before and once after the record, and
// expects the end of an undisturbed run.
func TestACrashAtEveryRecordChangesNothing(t *testing.T) { // L0-12
	build := func(t *testing.T) *bench {
		b := newBench(t, executortest.Epic(diamond))
		b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
			if r.Node.Key == "1.2a" && r.Effect.Attempt == 1 {
				return executortest.Verdict(r.Name, executor.Fail), nil
			}
			return executortest.Verdict(r.Name, executor.Pass), nil
		}
		return b
	}
	calm := build(t)
	run, err := calm.apply()
	if err != nil {
		t.Fatal(err)
	}
	want := executortest.Statuses(run)
	total := run.Seq()
	for at := int64(1); at <= total; at++ {
		for _, lose := range []bool{true, false} {
			b := build(t)
			b.journal.CrashAt, b.journal.Lose = at, lose
			if _, err := b.apply(); !errors.Is(err, executortest.ErrCrash) {
				t.Fatalf("crash at %d: %v", at, err)
			}
			b.journal = &executortest.Journal{Kept: b.journal.Kept}
			run, err := b.apply()
			if err != nil {
				t.Fatalf("after a crash at %d (lose %v): %v", at, lose, err)
			}
			if got := executortest.Statuses(run); got != want {
				t.Errorf("after a crash at %d (lose %v):\n%swant\n%s", at, lose, got, want)
			}
			for key, n := range b.ws.Done {
				if n > calm.ws.Done[key]+2 { // done again, and put back before it
					t.Errorf("after a crash at %d: %s was done %d times", at, key, n)
				}
			}
			for node, n := range b.ws.Published {
				if n != 1 {
					t.Errorf("after a crash at %d: %s was published %d times", at, node, n)
				}
			}
		}
	}
}

func TestBackoffWaitsWithoutASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
			e.Run.Concurrency.Nodes = 1
			e.Nodes[0].Steps[0].Retry = ir.Retry{Backoff: "exponential", InitialMS: 10_000, MaxMS: 60_000}
		}))
		var order []string
		b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
			order = append(order, fmt.Sprintf("%s#%d", r.Node.Key, r.Effect.Attempt))
			return executortest.Success(), nil
		}
		b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
			if r.Node.Key == "1.1" && r.Effect.Attempt < 3 {
				return executortest.Verdict(r.Name, executor.Fail), nil
			}
			return executortest.Verdict(r.Name, executor.Pass), nil
		}
		began := time.Now()
		run, err := b.apply()
		if err != nil {
			t.Fatal(err)
		}
		b.want(run, "1.1 done\n1.2 done\nintegration done")
		if got := strings.Join(order, " "); got != "1.1#1 1.2#1 1.1#2 1.1#3" {
			t.Errorf("order %s", got)
		}
		if took := time.Since(began); took < 29*time.Second || took > 31*time.Second {
			t.Errorf("it took %s; 10 s and 20 s of waiting were due", took)
		}
	})
}

func TestInterrupts(t *testing.T) { // S2-32
	for name, c := range map[string]struct {
		interrupts int
		took       time.Duration
		want       string
	}{
		"the first lets running attempts finish":    {1, 10 * time.Second, "1.1 waiting\n1.2 pending"},
		"the grace ends what takes longer":          {1, 10 * time.Hour, ""},
		"the second stops running attempts at once": {2, 10 * time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}))
				stop := make(chan os.Signal, 2)
				first := true
				b.runner.Do = func(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
					if !first {
						return executortest.Success(), nil
					}
					first = false
					for range c.interrupts {
						stop <- os.Interrupt
					}
					select {
					case <-time.After(c.took):
						return executortest.Success(), nil
					case <-ctx.Done():
						return executor.AgentEnded{}, ctx.Err()
					}
				}
				began := time.Now()
				run, err := b.apply(func(cfg *local.Config, _ *executor.RunStarted) {
					cfg.Interrupts, cfg.Grace = stop, time.Minute
				})
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > 2*time.Minute {
					t.Errorf("it took %s", took)
				}
				if v, _ := run.View("bd-1-2"); v.Status != executor.Pending && v.Status != executor.Ready {
					t.Errorf("1.2 is %s", v.Status)
				}
				last := b.journal.Kept[len(b.journal.Kept)-1]
				if e, ok := last.Body.(executor.RunEnded); !ok || !e.Interrupted {
					t.Errorf("the last event is %+v", last.Body)
				}
				run, err = b.apply()
				if err != nil {
					t.Fatal(err)
				}
				b.want(run, "1.1 done\n1.2 done\nintegration done")
				if v, _ := run.View("bd-1-1"); len(v.Attempts) != 1 {
					t.Errorf("an interrupt counts nothing, and there were %d attempts", len(v.Attempts))
				}
			})
		})
	}
}

func TestOnlyRunsANodeAndWhatItNeeds(t *testing.T) { // S2-17, S4-50
	b := newBench(t, executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3: 1.2", "2.1"}))
	run, err := b.apply(func(_ *local.Config, s *executor.RunStarted) { s.Only = []ir.NodeID{"bd-1-2"} })
	if err != nil {
		t.Fatal(err)
	}
	b.want(run, "1.1 done\n1.2 done\n1.3 pending (not selected by --only)\n2.1 pending (not selected by --only)\nintegration pending (not selected by --only)")
	if run, err = b.apply(); err != nil {
		t.Fatal(err)
	}
	b.want(run, "1.1 done\n1.2 done\n1.3 done\n2.1 done\nintegration done")
}

func TestAConflictIsGivenToTheAgentAndThenToAPerson(t *testing.T) { // execution §3
	for _, solved := range []bool{true, false} {
		b := newBench(t, executortest.Epic(diamond))
		b.ws.Conflicts["bd-1-3"] = true
		turns := 0
		b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
			if r.Effect.Step == executor.MergeStep {
				turns++
				if r.Step.Name != executor.MergeStep || r.Step.Limits.TimeoutMS != 60_000 || !r.Effect.Merge {
					t.Errorf("the agent is asked for %+v in step %+v", r.Effect, r.Step)
				}
			}
			return executortest.Success(), nil
		}
		b.ws.Problems = func(e executor.Effect) []string {
			if e.Merge && !solved {
				return []string{"a.go still holds conflict markers"}
			}
			return nil
		}
		run, err := b.apply()
		if err != nil {
			t.Fatal(err)
		}
		want, asked := "1.1 done\n1.2a done\n1.2b done\n1.3 done\nintegration done", 1
		if !solved {
			want, asked = "1.1 done\n1.2a done\n1.2b done\n1.3 waiting (1.2a, 1.2b do not merge)\nintegration done", 3
		}
		b.want(run, want)
		if turns != asked {
			t.Errorf("agents tried %d times to resolve the conflict, want %d", turns, asked)
		}
		if run, err = b.apply(); err != nil {
			t.Fatal(err)
		}
		b.want(run, want) // what a person has to resolve stays as it lies there
	}
}

func TestStateFilesLieBelowTheStateDirectory(t *testing.T) {
	b := newBench(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Nodes[0].Steps[0].Name = "../../x"; e.Nodes[0].Steps[0].Next = "../../x" }))
	b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
		if rel, err := filepath.Rel(b.state, r.Files); err != nil || strings.HasPrefix(rel, "..") {
			t.Errorf("files in %s", r.Files)
		}
		return executortest.Success(), nil
	}
	if _, err := b.apply(); err != nil {
		t.Fatal(err)
	}
}
