package machine_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// ends are the ends of attempts of sprint 1.1, in order.
func (s *stage) ends() (out []executor.AttemptEnded) {
	for _, e := range s.events {
		if b, ok := e.Body.(executor.AttemptEnded); ok && e.Node == "bd-1-1" {
			out = append(out, b)
		}
	}
	return out
}

// What an attempt came to: the first of what the agent's end, its outcome, ralph's own
// checks and the gates say against it. execution §4; S0-55..57, S0-70, S1-61, S4-41
func TestWhatAnAttemptCameTo(t *testing.T) {
	by := func(end executor.AgentEnd, o executor.Outcome) executor.AgentEnded {
		return executor.AgentEnded{End: end, Outcome: o}
	}
	problems := func(p ...string) executor.Collected {
		return executor.Collected{Result: executor.Tree{Commit: "c", Tree: "t"}, Files: 1, Problems: p}
	}
	judged := func(gate string, v executor.Verdict, message string) executor.GateJudged {
		g := executortest.Verdict(gate, v)
		g.Message = message
		return g
	}
	done := executor.Outcome{Result: "success"}
	for name, c := range map[string]struct {
		agent  executor.AgentEnded
		found  executor.Body // what was collected; nil: as usual
		gates  []executor.GateJudged
		status executor.AttemptStatus
		reason string
	}{
		"all pass":                          {by(executor.EndExited, done), nil, nil, executor.AttemptPassed, ""},
		"no time left":                      {by(executor.EndTimeout, executor.Outcome{}), nil, nil, executor.AttemptTimeout, "the agent used up its time of 1m0s"},
		"no time left, whatever it says":    {by(executor.EndTimeout, done), problems("scope"), nil, executor.AttemptTimeout, "the agent used up its time of 1m0s"},
		"no sign of life":                   {by(executor.EndStalled, executor.Outcome{}), nil, nil, executor.AttemptStalled, "the agent gave no sign of life"},
		"an outcome that is none":           {by(executor.EndExited, executor.Outcome{Invalid: "no JSON"}), nil, nil, executor.AttemptFailed, "no valid outcome: no JSON"},
		"it says that it failed":            {by(executor.EndExited, executor.Outcome{Result: "failed"}), nil, nil, executor.AttemptFailed, "the agent reported failure"},
		"it says why it failed":             {by(executor.EndExited, executor.Outcome{Result: "failed", Summary: "no net\nat all"}), nil, nil, executor.AttemptFailed, "the agent reported failure: no net"},
		"it says nothing, and exits badly":  {executor.AgentEnded{End: executor.EndExited, ExitCode: 2, Tail: "a\nlast words\n"}, nil, nil, executor.AttemptFailed, "the agent ended with exit code 2: last words"},
		"it says failed, and exits":         {executor.AgentEnded{End: executor.EndExited, ExitCode: 2, Tail: "last words", Outcome: executor.Outcome{Result: "failed"}}, nil, nil, executor.AttemptFailed, "the agent reported failure"},
		"it exits badly without a word":     {executor.AgentEnded{End: executor.EndExited, ExitCode: 2}, nil, nil, executor.AttemptFailed, "the agent ended with exit code 2"},
		"a check fails":                     {by(executor.EndExited, done), problems("outside its scope: x", "conflict markers"), nil, executor.AttemptFailed, "outside its scope: x"},
		"a gate fails":                      {by(executor.EndExited, done), nil, []executor.GateJudged{judged("unit", executor.Fail, "1 failed\nTestA")}, executor.AttemptFailed, "gate unit failed: 1 failed"},
		"two gates fail: the first is told": {by(executor.EndExited, done), nil, []executor.GateJudged{judged("unit", executor.Fail, "1 failed"), judged("lint", executor.Fail, "long line")}, executor.AttemptFailed, "gate unit failed: 1 failed"},
		"a gate says stop":                  {by(executor.EndExited, done), nil, []executor.GateJudged{judged("unit", executor.Stop, "")}, executor.AttemptStopped, "gate unit said stop"},
		"a stop after a fail":               {by(executor.EndExited, done), nil, []executor.GateJudged{judged("unit", executor.Fail, "x"), judged("lint", executor.Stop, "secrets")}, executor.AttemptStopped, "gate lint said stop: secrets"},
		"it goes on for ever":               {by(executor.EndExited, executor.Outcome{Result: "failed", Summary: strings.Repeat("x", 1000)}), nil, nil, executor.AttemptFailed, "the agent reported failure: " + strings.Repeat("x", 270) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, withGates("ordered", goesOn(cmd("unit")), cmd("lint")), step(func(s *ir.Step) {
				s.Limits.Attempts, s.Limits.Iterations = 1, 1
			}))
			s.answer = func(e executor.Effect) executor.Body {
				switch e.Kind {
				case executor.EffectAgent:
					return c.agent
				case executor.EffectCollect:
					return c.found
				case executor.EffectGate:
					for _, g := range c.gates {
						if g.Gate == e.Gate {
							return g
						}
					}
				}
				return nil
			}
			s.begin()
			s.until(nil)
			ends := s.ends()
			if len(ends) != 1 {
				t.Fatalf("%d attempts ended", len(ends))
			}
			got := ends[0]
			if got.Status != c.status || strings.TrimRight(got.Reason, "x…") != strings.TrimRight(c.reason, "x…") || len(got.Reason) > 300 {
				t.Errorf("got %s, %q; want %s, %q", got.Status, got.Reason, c.status, c.reason)
			}
			if (got.Signature == "") != (c.status == executor.AttemptPassed) {
				t.Errorf("the signature is %q", got.Signature)
			}
		})
	}
}

func goesOn(g ir.Gate) ir.Gate {
	g.OnFailure = "continue"
	return g
}

// The breaker counts what failed, not how it was told: the same signature means the same
// failure. execution §4; L2-01
func TestTheSignatureIsOfWhatFailed(t *testing.T) {
	signature := func(agent executor.AgentEnded, problems []string, signs ...string) string {
		t.Helper()
		s := newStage(t, []string{"1.1"}, withGates("ordered", goesOn(cmd("unit")), cmd("lint")), step(func(s *ir.Step) { s.Limits.Attempts, s.Limits.Iterations = 1, 1 }))
		s.answer = func(e executor.Effect) executor.Body {
			switch e.Kind {
			case executor.EffectAgent:
				return agent
			case executor.EffectCollect:
				return executor.Collected{Result: executor.Tree{Commit: "c", Tree: "t"}, Files: 1, Problems: problems}
			case executor.EffectGate:
				for _, x := range signs {
					if gate, sign, _ := strings.Cut(x, " "); gate == e.Gate {
						g := executortest.Verdict(gate, executor.Fail)
						g.Signature, g.Message = sign, "at "+s.now.String()
						if sign == "warned" {
							g.Verdict = executor.Pass
						}
						return g
					}
				}
			}
			return nil
		}
		s.begin()
		s.until(nil)
		return s.ends()[0].Signature
	}
	end := func(e executor.AgentEnd) executor.AgentEnded { return executor.AgentEnded{End: e} }
	exit := func(code int, tail string) executor.AgentEnded {
		return executor.AgentEnded{End: executor.EndExited, ExitCode: code, Tail: tail}
	}
	invalid := func(why string) executor.AgentEnded {
		return executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Invalid: why}}
	}
	fine := ended("success")
	all := map[string]string{ // each a failure of its own
		"timeout":             signature(end(executor.EndTimeout), nil),
		"stalled":             signature(end(executor.EndStalled), nil),
		"no JSON":             signature(invalid("no JSON"), nil),
		"no object":           signature(invalid("no object"), nil),
		"exit 2":              signature(exit(2, "at noon"), nil),
		"exit 3":              signature(exit(3, "at noon"), nil),
		"scope":               signature(fine, []string{"scope"}),
		"scope and markers":   signature(fine, []string{"scope", "markers"}),
		"unit a":              signature(fine, nil, "unit a"),
		"unit b":              signature(fine, nil, "unit b"),
		"lint a":              signature(fine, nil, "lint a"),
		"unit a and lint a":   signature(fine, nil, "unit a", "lint a"),
		"failed, and no more": signature(ended("failed"), nil),
		"fatal":               signature(ended("failed", func(a *executor.AgentEnded) { a.Outcome.Fatal = true }), nil),
	}
	of := map[string]string{}
	for what, s := range all {
		if other, twice := of[s]; twice || s == "" {
			t.Errorf("%s and %s have one signature, %q", what, other, s)
		}
		of[s] = what
	}
	if again := signature(exit(2, "at one"), nil); again != all["exit 2"] {
		t.Error("the last words of an agent make another failure")
	}
	if again := signature(fine, nil, "unit a", "lint warned"); again != all["unit a"] {
		t.Error("what a gate that passes says makes another failure")
	}
	if again := signature(fine, nil, "unit a"); again != all["unit a"] {
		t.Error("the message of a gate makes another failure")
	}
}
