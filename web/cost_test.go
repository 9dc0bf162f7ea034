package web

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

func TestAnAttemptCostsWhatItsJudgesCostToo(t *testing.T) {
	t.Parallel()
	told := func(tokens, usd int64) executor.Usage { return executor.Usage{Tokens: &tokens, USDMicro: &usd} }
	judge := func(u executor.Usage) executor.GateJudged {
		return executor.GateJudged{Gate: "review", Agent: "reviewer", Usage: u}
	}
	for want, a := range map[string]machine.AttemptLog{
		"":        {Gates: []executor.GateJudged{{Gate: "tests"}}},
		"$0.07":   {Turns: 1, Usage: told(1200, 70_000), Gates: []executor.GateJudged{{Gate: "tests"}}},
		"$0.10":   {Turns: 1, Usage: told(1200, 70_000), Gates: []executor.GateJudged{judge(told(100, 30_000))}},
		"≥ $0.07": {Turns: 1, Usage: told(1200, 70_000), Gates: []executor.GateJudged{judge(executor.Usage{})}},
		"≥ $0.08": {Turns: 1, Usage: told(1200, 80_000), Untold: 1},
		"unknown": {Turns: 1, Gates: []executor.GateJudged{judge(executor.Usage{})}},
	} {
		if got := spentOn(a); got != want {
			t.Errorf("got %q, want %q: %+v", got, want, a)
		}
	}
}
