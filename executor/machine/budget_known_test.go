package machine_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// What asks no model costs nothing when it is cut; what does has an unknown cost then.
func TestOnlyTurnsOfAgentsHaveAnUnknownCost(t *testing.T) { // execution §5: unknown is never 0
	for cut, known := range map[executor.EffectKind]bool{
		executor.EffectPrepare: true, executor.EffectCollect: true, executor.EffectGate: true, executor.EffectPublish: true,
		executor.EffectAgent: false, executor.EffectDiagnose: false,
	} {
		s := newScript(t, []string{"1.1"}, func(e *ir.Epic) {
			e.Agents["doctor"] = ir.Agent{Runner: "r"}
			e.Nodes[0].Steps[0].Stall = ir.Stall{Action: "diagnose", Agent: "doctor"}
		})
		s.answer = func(e executor.Effect) executor.Body {
			if e.Kind != executor.EffectAgent {
				return nil
			}
			b := used(num(10), num(1_000), "success")
			if cut == executor.EffectDiagnose {
				b.End = executor.EndStalled
			}
			return b
		}
		s.begin()
		s.until(func(e executor.Effect) bool { return e.Kind == cut })
		s.begin()
		if v := s.view("1.1"); v.Spent.TokensKnown != known || v.Spent.USDKnown != known {
			t.Errorf("%s was cut, and what was spent is %+v", cut, v.Spent)
		}
	}
}

// What exceeds a budget says nothing of what has no limit.
func TestWhatHasNoLimitIsNotExceeded(t *testing.T) { // execution §4 budget
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Run.OnExceed, e.Run.Budget.Tokens = "pause", 50
		e.Nodes[0].Limits.Budget.USDMicro = 1_000_000
	})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {used(num(60), num(2_000_000), "success")}})
	s.begin()
	s.end()
	if got, want := s.view("1.1").Over, "$2.00 of $1.00 are spent"; got != want {
		t.Errorf("the sprint exceeds its budget: %q, want %q", got, want)
	}
	if got, want := s.run.Overview().Over, "60 of 50 tokens are used"; got != want {
		t.Errorf("the run exceeds its budget: %q, want %q", got, want)
	}
}
