package machine_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

// Each attempt keeps the handle of its agent's session, and each verdict that of
// its judge; none replaces an earlier one.
func TestSessionsAreKeptPerAttempt(t *testing.T) { // S0-61, S0-65, S0-73, S0-125, S4-38
	s := newScript(t, []string{"1.1"}, withGates("ordered", cmd("unit"), qa("qa")))
	verdict := func(v executor.Verdict, session string) executor.Body {
		j := executortest.Verdict("qa", v)
		j.Session = session
		return j
	}
	judged := []executor.Body{verdict(executor.Fail, "qa-one"), verdict(executor.Pass, "qa-two")}
	s.answer = first(
		onKind(executor.EffectAgent,
			ended("success", func(a *executor.AgentEnded) { a.Session = "one" }),
			ended("success", func(a *executor.AgentEnded) { a.Session = "two" })),
		func(e executor.Effect) executor.Body {
			if e.Kind != executor.EffectGate || e.Gate != "qa" {
				return nil
			}
			b := judged[0]
			judged = judged[1:]
			return b
		})
	s.play(0)
	s.replay()
	all := s.view("1.1").Attempts
	if len(all) != 2 {
		t.Fatalf("%d attempts, want 2", len(all))
	}
	for i, want := range []string{"one", "two"} {
		a := all[i]
		if a.Session != want || len(a.Gates) != 2 || a.Gates[1].Session != "qa-"+want {
			t.Errorf("attempt %d: session %q, gates %+v; want %s and qa-%s", i+1, a.Session, a.Gates, want, want)
		}
	}
}
