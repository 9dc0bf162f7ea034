package opencode

import (
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// usage is what the turn's own messages and those of its subagents cost; a
// session's figures hold earlier turns, and not its subagents.
func (u *turn) usage() executor.Usage {
	if len(u.spent) == 0 {
		return executor.Usage{}
	}
	var t runner.Totals
	var usd float64
	for _, m := range u.spent {
		t.Input += int64(m.Tokens.Input)
		t.Output += int64(m.Tokens.Output + m.Tokens.Reasoning)
		t.CacheRead += int64(m.Tokens.Cache.Read)
		t.CacheWrite += int64(m.Tokens.Cache.Write)
		usd += m.Cost
	}
	if usd > 0 {
		t.USD = &usd // 0 is also what it says of a model whose price it does not know
	}
	return t.Usage(u.run.Alias)
}
