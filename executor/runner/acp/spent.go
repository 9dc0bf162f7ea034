package acp

import (
	"errors"
	"math"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// tokens is what a program says that a turn took.
type tokens struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	Thought    int64 `json:"thoughtTokens"`
	CacheRead  int64 `json:"cachedReadTokens"`
	CacheWrite int64 `json:"cachedWriteTokens"`
	Total      int64 `json:"totalTokens"`
}

// totals is what they mean: in some programs thoughts are a part of the output, and
// cached tokens one of the input; the total tells.
func (k tokens) totals() runner.Totals {
	t := runner.Totals{Input: k.Input, Output: k.Output + k.Thought, CacheRead: k.CacheRead, CacheWrite: k.CacheWrite}
	cached := k.CacheRead + k.CacheWrite
	switch k.Total {
	case k.Input + k.Output:
		t.Input, t.Output = max(k.Input-cached, 0), k.Output
	case k.Input + k.Output + k.Thought:
		t.Input = max(k.Input-cached, 0)
	case k.Input + k.Output + cached:
		t.Output = k.Output
	}
	return t
}

// spent is what the turn cost, as far as it is known. Tokens are unknown where the
// program tells only those of its last request: after a tool call there were
// several, and what they took together is more than what the context holds.
func (t *turn) spent(session string, k *tokens) (executor.Usage, error) {
	h := t.heard
	h.mu.Lock()
	used, called, cost, before := h.used, h.called, h.cost, h.before
	h.mu.Unlock()
	var out executor.Usage
	if k != nil {
		totals := k.totals()
		read := totals.Input + totals.CacheRead + totals.CacheWrite
		if read+totals.Output > 0 && !(called && read <= used) {
			out = totals.Usage(t.run.Alias)
		}
	}
	if cost == nil {
		return out, nil
	}
	var forked error
	if t.run.Fork {
		forked = t.turn.Forked(t.run.Effect.Session, session) // as OpenCode counts a copy
	}
	now, err := t.turn.Cumulative(session, runner.Totals{USD: cost})
	usd := *now.USD
	switch {
	case before != nil:
		usd = max(*cost-*before, 0)
	case t.run.Fork && usd == 0:
		usd = *cost // less than the original's: it was counted from nothing
	}
	out.USDMicro = new(int64(math.Round(usd * 1e6)))
	return out, errors.Join(forked, err)
}
