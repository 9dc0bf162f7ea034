package gate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
)

// fake is an agent that ends each turn like this, and keeps the time that each was given, in ms.
type fake struct {
	ended executor.AgentEnded
	err   error
	times []int64
	asked string // the schema of its answer
}

func (*fake) Check(context.Context, executor.AgentRun) error { return nil }

func (f *fake) Run(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	f.times, f.asked = append(f.times, r.Step.Limits.TimeoutMS), string(r.Schema)
	*r.Answer = []byte("I do not know.")
	return f.ended, f.err
}

// An invalid answer is asked for once more, in what the first turn left of the gate's time.
func TestAnswersShareTheTimeOfTheirGate(t *testing.T) { // execution §4 (agent gates: timeout; asked again once)
	for millis, left := range map[int64]int64{0: 20_000, 5_000: 15_000, 19_000: 1_000, 19_001: 0, 30_000: 0} {
		a := &fake{ended: executor.AgentEnded{End: executor.EndExited, Millis: millis}}
		got, err := gate.Agent{Runners: map[string]executor.Runner{"command": a}}.Judge(t.Context(), judgeBy(t, ""))
		if err != nil || got.Verdict != executor.ErrorJudged {
			t.Fatalf("got %+v, %v", got, err)
		}
		switch {
		case a.asked != typed:
			t.Errorf("its answer was to be %s", a.asked)
		case a.times[0] != 20_000:
			t.Errorf("the first turn had %d ms", a.times[0])
		case left == 0 && len(a.times) != 1:
			t.Errorf("after %d ms it was asked again, in %d", millis, a.times[1])
		case left > 0 && (len(a.times) != 2 || a.times[1] != left):
			t.Errorf("after %d ms it was asked in %v, not again in %d", millis, a.times, left)
		}
	}
	r := judgeBy(t, "")
	r.Gate.TimeoutMS = 0
	a := &fake{ended: executor.AgentEnded{End: executor.EndExited, Millis: 1 << 40}}
	if _, err := (gate.Agent{Runners: map[string]executor.Runner{"command": a}}).Judge(t.Context(), r); err != nil || len(a.times) != 2 || a.times[1] != 0 {
		t.Errorf("without a limit: %v, %v", a.times, err)
	}
}

// What a judge's program says at its end is told only where it failed.
func TestAnInvalidVerdictTellsHowItsProgramEnded(t *testing.T) {
	for _, c := range []struct {
		code  int
		tail  string
		tells bool
	}{{0, "bye", false}, {3, "", false}, {3, "no such model\n", true}} {
		a := &fake{ended: executor.AgentEnded{End: executor.EndExited, ExitCode: c.code, Tail: c.tail}}
		got, err := gate.Agent{Runners: map[string]executor.Runner{"command": a}}.Judge(t.Context(), judgeBy(t, ""))
		if tells := strings.Contains(got.Message, "It ended with exit code 3: no such model"); err != nil || tells != c.tells || tells != strings.Contains(got.Message, "exit code") {
			t.Errorf("%+v: %q, %v", c, got.Message, err)
		}
	}
	a := &fake{ended: executor.AgentEnded{End: executor.EndExited, ExitCode: 1, Tail: strings.Repeat("long ", 1<<16)}}
	if got, err := (gate.Agent{Runners: map[string]executor.Runner{"command": a}}).Judge(t.Context(), judgeBy(t, "")); err != nil || len(got.Message) > executor.MaxNote {
		t.Errorf("a message of %d bytes, %v", len(got.Message), err)
	}
}

// A runner that fails without saying how is tried again; of a judge that is cancelled nothing is
// said but that.
func TestAFailureOfTheRunnerIsNoVerdict(t *testing.T) { // execution §4 (error of the runner)
	ctx, cancel := context.WithCancel(t.Context())
	judge := func(a *fake) *executor.Failure {
		var f *executor.Failure
		if _, err := (gate.Agent{Runners: map[string]executor.Runner{"command": a}}).Judge(ctx, judgeBy(t, "")); !errors.As(err, &f) && ctx.Err() == nil {
			t.Errorf("got %v", err)
		}
		return f
	}
	if f := judge(&fake{err: errors.New("broken pipe")}); f == nil || f.Class != executor.FailTransient {
		t.Errorf("an unknown failure: %+v", f)
	}
	if f := judge(&fake{err: &executor.Failure{Class: executor.FailConfig, Err: errors.New("no key")}}); f == nil || f.Class != executor.FailConfig {
		t.Errorf("a known failure: %+v", f)
	}
	cancel()
	if f := judge(&fake{err: errors.New("killed")}); f != nil {
		t.Errorf("cancelled: %+v", f)
	}
}
