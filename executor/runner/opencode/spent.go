package opencode

import (
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// cost is what a message cost.
type cost struct {
	tokens tokens
	usd    float64
}

func costOf(m info) cost { return cost{m.Tokens, m.Cost} }

// usage is what the turn's own messages and those of its subagents cost; a
// session's figures hold earlier turns, and not its subagents.
func (u *turn) usage() executor.Usage {
	if len(u.spent) == 0 {
		return executor.Usage{}
	}
	var t runner.Totals
	var usd float64
	for _, m := range u.spent {
		t.Input += int64(m.tokens.Input)
		t.Output += int64(m.tokens.Output + m.tokens.Reasoning)
		t.CacheRead += int64(m.tokens.Cache.Read)
		t.CacheWrite += int64(m.tokens.Cache.Write)
		usd += m.usd
	}
	if usd > 0 {
		t.USD = &usd // 0 is also what it says of a model whose price it does not know
	}
	return t.Usage(u.run.Alias)
}
