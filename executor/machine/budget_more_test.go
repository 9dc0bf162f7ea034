package machine

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// What is proposed names the limits that are used up, and suffices.
func TestMoreOfABudget(t *testing.T) {
	for name, c := range map[string]struct {
		policy, all ir.Budget
		m           meter
		wall        time.Duration
		want        string
	}{
		"dollars, and what is beyond them":     {ir.Budget{USDMicro: 1e6}, ir.Budget{USDMicro: 1e6}, meter{usd: 1_200_000, tokens: 5e6}, time.Hour, "usd=+1.20"},
		"whole dollars":                        {ir.Budget{USDMicro: 20e6}, ir.Budget{USDMicro: 25e6}, meter{usd: 25e6}, 0, "usd=+20"},
		"tokens alone, though dollars are not": {ir.Budget{USDMicro: 9e6, Tokens: 1e6}, ir.Budget{USDMicro: 9e6, Tokens: 1e6}, meter{usd: 1, tokens: 1_000_001}, 0, "tokens=+1001k"},
		"millions":                             {ir.Budget{Tokens: 2e6}, ir.Budget{Tokens: 2e6}, meter{tokens: 2e6}, 0, "tokens=+2M"},
		"time":                                 {ir.Budget{WallMS: 3.6e6}, ir.Budget{WallMS: 3.6e6}, meter{}, time.Hour, "wall=+1h"},
		"two of them":                          {ir.Budget{USDMicro: 1e6, WallMS: 6e4}, ir.Budget{USDMicro: 1e6, WallMS: 6e4}, meter{usd: 1e6}, time.Minute + time.Millisecond, "usd=+1,wall=+1m1s"},
		"nothing is used up":                   {ir.Budget{USDMicro: 2e6}, ir.Budget{USDMicro: 2e6}, meter{usd: 1e6}, 0, ""},
	} {
		if got := more(c.policy, c.all, c.m, c.wall); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
