package machine

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

func TestABudgetAtItsBounds(t *testing.T) { // execution §4; S1-38, S1-51, K35
	if got, want := allowed(ir.Budget{Tokens: 1, WallMS: 5}, ir.Budget{Tokens: 2, USDMicro: 3, WallMS: 4}), (ir.Budget{Tokens: 3, WallMS: 9}); got != want {
		t.Errorf("allowed: %+v, want %+v: what has no limit gets none by what is added", got, want)
	}
	if got := allowed(ir.Budget{}, ir.Budget{Tokens: 1, USDMicro: 1, WallMS: 1}); got != (ir.Budget{}) {
		t.Errorf("a budget without limits became %+v", got)
	}
	if got := sumCap(1<<62, 1); got != 1<<62 {
		t.Errorf("a sum overflows: %d", got)
	}
	for _, b := range []ir.Budget{{Tokens: -1}, {USDMicro: -1}, {WallMS: -1}} {
		if !negative(b) {
			t.Errorf("%+v is not negative", b)
		}
	}
	if negative(ir.Budget{}) {
		t.Error("nothing is negative")
	}
	for name, c := range map[string]struct {
		budget      ir.Budget
		used        meter
		over, above string // nothing more may begin; it was exceeded
	}{
		"no limit":         {ir.Budget{}, meter{tokens: 9, usd: 9}, "", ""},
		"below":            {ir.Budget{Tokens: 10, USDMicro: 10}, meter{tokens: 9, usd: 9}, "", ""},
		"tokens, exactly":  {ir.Budget{Tokens: 10}, meter{tokens: 10, usd: 99}, "10 of 10 tokens are used", ""},
		"tokens, exceeded": {ir.Budget{Tokens: 10}, meter{tokens: 11}, "11 of 10 tokens are used", "11 of 10 tokens are used"},
		"money, exactly":   {ir.Budget{USDMicro: 1_500_000}, meter{usd: 1_500_000, tokens: 99}, "$1.50 of $1.50 are spent", ""},
		"money, exceeded":  {ir.Budget{USDMicro: 1_500_000}, meter{usd: 2_000_001, noUSD: 1}, "$2.000001 of $1.50 are spent, and one turn did not report its usage", "$2.000001 of $1.50 are spent, and one turn did not report its usage"},
		"both, exceeded":   {ir.Budget{USDMicro: 1, Tokens: 1}, meter{usd: 2, tokens: 3, noTokens: 2}, "3 of 1 tokens are used, and 2 turns did not report their usage", "$0.000002 of $0.000001 are spent; 3 of 1 tokens are used, and 2 turns did not report their usage"},
	} {
		account := &cost{now: c.used, all: c.used}
		if got := over(c.budget, account, time.Time{}); got != c.over {
			t.Errorf("%s: over %q, want %q", name, got, c.over)
		}
		if got := overshoot(c.budget, account); got != c.above {
			t.Errorf("%s: exceeded %q, want %q", name, got, c.above)
		}
	}
}

func TestTheClockOfAnAllowance(t *testing.T) { // execution §4: waiting time is no working time
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	c := &cost{}
	c.start(at(10))
	c.start(at(15)) // it works already
	if got := c.wall(at(20)); got != 10*time.Second {
		t.Errorf("it worked for %s, want 10s", got)
	}
	if got := c.wall(at(5)); got != 0 {
		t.Errorf("under a clock that was set back it worked for %s", got)
	}
	c.renew(at(20), "its text changed") // while it works
	if got, all := c.wall(at(23)), c.worked(at(23)); got != 3*time.Second || all != 13*time.Second {
		t.Errorf("in the next allowance it worked for %s, %s in all; want 3s, 13s", got, all)
	}
	c.stop(at(24))
	if got := c.wall(at(99)); got != 4*time.Second {
		t.Errorf("while it waited its time grew to %s", got)
	}
	c.renew(at(99), "retried") // while it waits
	if got, all := c.wall(at(150)), c.worked(at(150)); got != 0 || all != 14*time.Second {
		t.Errorf("in the third it worked for %s, %s in all; want 0s, 14s", got, all)
	}
	c.start(at(200))
	c.stop(at(201))
	if c.counted() != "" {
		t.Errorf("all that it used is of the third allowance, and it says %q", c.counted())
	}
	c.all.tokens = 5
	if c.counted() != " since retried" {
		t.Errorf("counted%s", c.counted())
	}
}
