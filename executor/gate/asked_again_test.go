package gate_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
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
	killed := executortest.Runner{Do: func(context.Context, executor.AgentRun) (executor.AgentEnded, error) {
		cancel()
		return executor.AgentEnded{}, &executor.Failure{Class: executor.FailCrash, Err: errors.New("killed")}
	}}
	if got, err := (gate.Agent{Runners: map[string]executor.Runner{"command": killed}}).Judge(ctx, judgeBy(t, "")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in its turn: %+v, %v", got, err)
	}
	if f := judge(&fake{err: errors.New("killed")}); f != nil {
		t.Errorf("cancelled: %+v", f)
	}
}

// A limit that is met behind the verdict does not take it back.
func TestAVerdictCountsInSpiteOfALimit(t *testing.T) {
	for _, c := range []struct {
		class   executor.FailureClass
		answer  string
		verdict executor.Verdict
	}{
		{executor.FailLimit, `{"status":"fail","message":"no test"}`, executor.Fail},
		{executor.FailLimit, `{"status":"pass","message":"ok"}`, executor.Pass},
		{executor.FailLimit, "I was cut", executor.ErrorJudged},
		{executor.FailCrash, `{"status":"pass","message":"ok"}`, executor.ErrorJudged},
	} {
		limited := executortest.Runner{Do: func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
			*r.Answer = []byte(c.answer)
			return executor.AgentEnded{End: executor.EndExited}, &executor.Failure{Class: c.class, Err: errors.New("429")}
		}}
		got, err := gate.Agent{Runners: map[string]executor.Runner{"command": limited}}.Judge(t.Context(), judgeBy(t, ""))
		if got.Verdict != c.verdict || (err == nil) != (c.verdict != executor.ErrorJudged) {
			t.Errorf("%s beside %s: got %+v, %v", c.class, c.answer, got, err)
		}
	}
}

// What a judge costs is what its turns cost together. What one of them did not say is not known.
func TestAJudgeCostsWhatItsTurnsCost(t *testing.T) {
	five, two, dear, cheap := new(int64(5)), new(int64(2)), new(int64(700)), new(int64(30))
	for name, c := range map[string]struct{ first, second, want executor.Usage }{
		"both are known":             {executor.Usage{Tokens: five, USDMicro: dear}, executor.Usage{Tokens: two, USDMicro: cheap}, executor.Usage{Tokens: new(int64(7)), USDMicro: new(int64(730))}},
		"the first says nothing":     {executor.Usage{}, executor.Usage{Tokens: two, USDMicro: cheap}, executor.Usage{}},
		"the second says nothing":    {executor.Usage{Tokens: five, USDMicro: dear}, executor.Usage{}, executor.Usage{}},
		"each says something else":   {executor.Usage{Tokens: five}, executor.Usage{USDMicro: cheap}, executor.Usage{}},
		"the tokens alone are known": {executor.Usage{Tokens: five}, executor.Usage{Tokens: two}, executor.Usage{Tokens: new(int64(7))}},
	} {
		first := true
		twice := executortest.Runner{Do: func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
			if first {
				first = false
				return executor.AgentEnded{End: executor.EndExited, Millis: 1500, Model: "m1", Session: "s1", Usage: c.first}, nil
			}
			*r.Answer = []byte(`{"status":"pass","message":"ok"}`)
			return executor.AgentEnded{End: executor.EndExited, Millis: 40, Usage: c.second}, nil
		}}
		got, err := gate.Agent{Runners: map[string]executor.Runner{"command": twice}}.Judge(t.Context(), judgeBy(t, ""))
		if err != nil || got.Verdict != executor.Pass || got.Millis != 1540 || got.Model != "m1" || got.Session != "s1" || !reflect.DeepEqual(got.Usage, c.want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// The second turn goes on in the session of the first, and keeps the first one's files.
func TestWhereAJudgeIsAskedAgain(t *testing.T) {
	for told, want := range map[string][]string{"": {"s0", "s0"}, "s1": {"s0", "s1"}} {
		var names, sessions []string
		mute := executortest.Runner{Do: func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
			names, sessions = append(names, r.Name), append(sessions, r.Effect.Session)
			return executor.AgentEnded{End: executor.EndExited, Session: told}, nil
		}}
		r := judgeBy(t, "")
		r.Effect.Session = "s0"
		if _, err := (gate.Agent{Runners: map[string]executor.Runner{"command": mute}}).Judge(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sessions, want) || !slices.Equal(names, []string{"gate-1.1-qa", "gate-1.1-qa-again"}) {
			t.Errorf("it was asked in the sessions %q as %q; want %q", sessions, names, want)
		}
	}
}
