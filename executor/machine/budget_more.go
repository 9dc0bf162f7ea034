package machine

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// more is what to write after --budget so that work goes on: of each limit that is
// used up as much again as the policy gives, and what was spent beyond it. "" if none
// is. all is the limit with what was added.
func more(policy, all ir.Budget, m meter, wall time.Duration) string {
	var parts []string
	if all.USDMicro > 0 && m.usd >= all.USDMicro {
		const cent = 10_000
		usd := (sumCap(policy.USDMicro, m.usd-all.USDMicro) + cent - 1) / cent * cent
		parts = append(parts, "usd=+"+strings.TrimSuffix(strings.TrimPrefix(dollars(usd), "$"), ".00"))
	}
	if all.Tokens > 0 && m.tokens >= all.Tokens {
		k := (sumCap(policy.Tokens, m.tokens-all.Tokens) + 999) / 1000
		if k%1000 == 0 {
			parts = append(parts, fmt.Sprintf("tokens=+%dM", k/1000))
		} else {
			parts = append(parts, fmt.Sprintf("tokens=+%dk", k))
		}
	}
	if limit := time.Duration(all.WallMS) * time.Millisecond; limit > 0 && wall >= limit {
		d := time.Duration(policy.WallMS)*time.Millisecond + wall - limit
		parts = append(parts, "wall=+"+shortTime((d+time.Second-1).Truncate(time.Second)))
	}
	return strings.Join(parts, ",")
}

// shortTime writes whole seconds as "1h" or "1h30m", not as "1h0m0s".
func shortTime(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (bg *budget) more(now time.Time) string {
	return more(bg.epic.Run.Budget, bg.limits(), bg.cost.now, bg.cost.wall(now))
}

func (n *node) nodeMore(now time.Time) string {
	return more(n.ir.Limits.Budget, n.nodeBudget(), n.cost.now, n.cost.wall(now))
}
