package local_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/ir"
)

func twoGates(e *ir.Epic) {
	lint := e.Gates["check"]
	lint.Run = "lint"
	e.Gates["lint"] = lint
	e.Nodes[0].Steps[0].Gates = []string{"check", "lint"}
}

// story is what a run put on record, as kinds of events; what nodes did is one word.
func (b *bench) story() string {
	var out []string
	for _, e := range b.journal.Kept {
		word := e.Kind()
		if e.Node != "" {
			word = "…"
		}
		if j, ok := e.Body.(executor.BaselineJudged); ok {
			word = j.Gate + ":" + string(j.Verdict)
		}
		if len(out) == 0 || out[len(out)-1] != word {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

func preflight(_ *local.Config, start *executor.RunStarted) { start.Preflight = "setup" }

func TestGatesAreTriedBeforeAnythingStarts(t *testing.T) { // execution §5, preflight
	b := newBench(t, executortest.Epic([]string{"1.1", "1.2"}, twoGates))
	var asked []executor.GateRun
	b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
		if r.Effect.Step == executor.Preflight {
			asked = append(asked, r)
			if r.Name == "lint" {
				return executortest.Verdict(r.Name, executor.Fail), nil
			}
		}
		return executortest.Verdict(r.Name, executor.Pass), nil
	}
	run, err := b.apply(preflight, func(c *local.Config, _ *executor.RunStarted) {
		c.Env = map[string]string{"A": "1"}
		c.Redact = func(s string) string { return strings.ReplaceAll(s, "says", "****") }
	})
	if err != nil || run.Summary().Counts()["done"] != 2 {
		t.Fatalf("%v, %v", run.Summary().Counts(), err)
	}
	want := "run.started preflight.started check:pass lint:fail preflight.ended … run.ended"
	if got := b.story(); got != want {
		t.Errorf("it did\n%s\nwant\n%s", got, want)
	}
	if len(asked) != 2 || asked[0].Dir == "" || asked[0].Dir != asked[1].Dir || asked[0].Env["A"] != "1" || asked[0].Files == asked[1].Files || !strings.HasPrefix(asked[0].Files, b.state) {
		t.Errorf("the gates were asked %+v", asked)
	}
	if red := b.journal.Kept[3].Body.(executor.BaselineJudged); red.Message != "lint **** fail" {
		t.Errorf("on record: %+v", red)
	}
}

func TestACrashInAPreflightCostsOneMore(t *testing.T) { // execution §5, §9
	for at := int64(1); at < 8; at++ {
		for _, lose := range []bool{true, false} {
			b := newBench(t, executortest.Epic([]string{"1.1"}, twoGates))
			began := map[string]int{}
			b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
				if r.Effect.Step == executor.Preflight {
					began[r.Name]++
				}
				return executortest.Verdict(r.Name, executor.Pass), nil
			}
			b.journal.CrashAt, b.journal.Lose = at, lose
			if _, err := b.apply(preflight); !errors.Is(err, executortest.ErrCrash) {
				t.Fatalf("at %d: %v", at, err)
			}
			b.journal = &executortest.Journal{Kept: b.journal.Kept}
			run, err := b.apply(preflight)
			if err != nil || run.Summary().Counts()["done"] != 1 {
				t.Errorf("at %d: %v, %v", at, run.Summary().Counts(), err)
			}
			if began["check"] > 2 || began["lint"] > 2 {
				t.Errorf("at %d gates were tried %v times", at, began)
			}
		}
	}
}

func TestAPreflightIsInterrupted(t *testing.T) { // execution §5
	b := newBench(t, executortest.Epic([]string{"1.1"}, twoGates))
	interrupts := make(chan os.Signal, 1)
	b.gate.Do = func(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
		interrupts <- os.Interrupt
		<-ctx.Done()
		return executor.GateJudged{}, ctx.Err()
	}
	run, err := b.apply(preflight, func(c *local.Config, _ *executor.RunStarted) { c.Interrupts, c.Grace = interrupts, time.Hour })
	if err != nil || run.Summary().Counts()["ready"] != 1 || strings.Contains(b.story(), "…") {
		t.Errorf("%v, %v\n%s", run.Summary().Counts(), err, b.story())
	}
}

// A base that cannot be prepared says nothing of its gates. One that has to be green
// holds the run; it is tried again at the next start.
func TestABaseThatCannotBePreparedIsNotGreen(t *testing.T) { // execution §5
	b := newBench(t, executortest.Epic([]string{"1.1"}, twoGates, func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Baseline = "green"
		e.Gates["check"] = g
	}))
	run, err := b.apply(preflight, func(c *local.Config, _ *executor.RunStarted) {
		full := true
		c.Room = func() error {
			if full {
				full = false
				return errors.New("the disk is full")
			}
			return nil
		}
	})
	if err != nil || run.Summary().Counts()["done"] != 0 {
		t.Fatalf("%v, %v", run.Summary().Counts(), err)
	}
	if got := b.story(); got != "run.started preflight.started check:error preflight.ended run.held run.ended" {
		t.Errorf("on record: %s", got)
	}
	if run, err = b.apply(preflight); err != nil || run.Summary().Counts()["done"] != 1 {
		t.Errorf("with room: %v, %v\n%s", run.Summary().Counts(), err, b.story())
	}
}

func TestAWaitingRunGoesOnWhenTheBaseIsApproved(t *testing.T) { // execution §5
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executortest.Epic([]string{"1.1"}, twoGates, func(e *ir.Epic) {
			g := e.Gates["lint"]
			g.Baseline = "green"
			e.Gates["lint"] = g
		}))
		b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
			if r.Effect.Step == executor.Preflight && r.Name == "lint" {
				return executortest.Verdict(r.Name, executor.Fail), nil
			}
			return executortest.Verdict(r.Name, executor.Pass), nil
		}
		in := &executortest.Inbox{}
		run, err := b.apply(preflight, func(c *local.Config, start *executor.RunStarted) {
			c.Inbox, start.Wait = in, true
			c.Observe = func(list []executor.Event) {
				if h, ok := list[len(list)-1].Body.(executor.RunHeld); ok && h.For == executor.ForBase {
					in.Send("", executor.Decision{ID: "d1", Verb: executor.Approve, How: executor.Baseline, By: "ann", User: "ann"})
				}
			}
		})
		if err != nil || run.Summary().Counts()["done"] != 1 || in.Answers["d1"] != "" {
			t.Errorf("%v, %v, answers %v", run.Summary().Counts(), err, in.Answers)
		}
		want := "run.started preflight.started check:pass lint:fail preflight.ended run.held decided … run.ended"
		if got := b.story(); got != want {
			t.Errorf("it did\n%s\nwant\n%s", got, want)
		}
	})
}
