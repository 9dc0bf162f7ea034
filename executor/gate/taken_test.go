package gate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/ir"
)

func TestAJudgeWhoseTurnDidNotEndByItselfGaveNoVerdict(t *testing.T) { // execution §4, §6
	for end, want := range map[executor.AgentEnd]string{
		executor.EndTakenOver: "a person wrote in the session of agent qa, which gave no verdict",
		executor.EndStalled:   "agent qa gave no sign of life, and no verdict",
		executor.EndTimeout:   "agent qa gave no verdict within 20s",
	} {
		asked := 0
		fake := executortest.Runner{Do: func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
			asked++
			if r.Human.OnHumanMessage != "pause" {
				t.Errorf("%s: asked with %+v", end, r.Human)
			}
			*r.Answer = []byte(`{"status":"pass","message":"ok"}`)
			return executor.AgentEnded{End: end, Session: "s"}, nil
		}}
		r := judgeBy(t, "")
		r.Human = ir.HITL{OnHumanMessage: "pause"}
		got, err := gate.Agent{Runners: map[string]executor.Runner{"command": fake}}.Judge(t.Context(), r)
		if err != nil || got.Verdict != executor.ErrorJudged || !strings.Contains(got.Message, want) || got.Session != "s" || asked != 1 {
			t.Errorf("%s: got %+v, %v after %d turns; want an error that says %q", end, got, err, asked, want)
		}
	}
}
