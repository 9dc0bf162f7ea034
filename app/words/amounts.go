package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// Ago says how long ago something was, in one short word.
func Ago(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	return Brief(now.Sub(then)) + " ago"
}

// Brief is a duration with at most two units: 0.2s, 12s, 3m05s, 2h10m, 3d4h.
// The page writes durations in the same way (lasted, in web/src/words.ts).
func Brief(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < 950*time.Millisecond: // rounded, as on the page
		return fmt.Sprintf("0.%ds", max((d+50*time.Millisecond)/(100*time.Millisecond), 1))
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(int(d.Seconds()), 1))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// Took says how long an attempt worked and, if it also waited, its total duration.
func Took(a machine.AttemptLog) string {
	whole := a.Ended.Sub(a.Started)
	if whole-a.Work < time.Second {
		return Brief(whole)
	}
	return fmt.Sprintf("%s of work within %s", Brief(a.Work), Brief(whole))
}

// Millis is Brief of a number of milliseconds.
func Millis(ms int64) string { return Brief(time.Duration(ms) * time.Millisecond) }

// Tokens formats a number of tokens. An unknown number is never printed as 0.
func Tokens(n int64, known bool) string {
	return Figure(n, known, Counted(n)+" tokens", "tokens unknown")
}

// Counted shortens a large number: 999, 1.5k, 12k, 1.5M, 12M.
func Counted(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return strconv.FormatInt(n, 10)
}

// Money formats millionths of a US dollar. An unknown amount is never printed as 0.
func Money(micro int64, known bool) string {
	return Figure(micro, known, Dollars(micro), "cost unknown")
}

// Dollars formats millionths of a US dollar with two decimals, or four below one cent.
func Dollars(micro int64) string {
	if micro > 0 && micro < 10_000 {
		return fmt.Sprintf("$%.4f", float64(micro)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(micro)/1e6)
}

// Figure marks a sum with an unknown part as a lower bound.
func Figure(n int64, known bool, text, unknown string) string {
	switch {
	case known:
		return text
	case n == 0:
		return unknown
	}
	return "≥ " + text
}

// Spent formats a cost; "" if nothing was run.
func Spent(s machine.Spent) string {
	switch {
	case s.Millis == 0 && s.Tokens == 0 && s.USDMicro == 0 && s.TokensKnown && s.USDKnown:
		return ""
	case s.Tokens == 0 && s.USDMicro == 0 && s.TokensKnown && s.USDKnown: // no agent was asked
		return Millis(s.Millis)
	}
	parts := []string{Tokens(s.Tokens, s.TokensKnown), Money(s.USDMicro, s.USDKnown)}
	if s.Millis > 0 { // unknown for a turn that was cut off
		parts = append(parts, Millis(s.Millis))
	}
	return strings.Join(parts, ", ")
}

// SpentOfRun formats the cost of a run: counted against its budget if it has one, else the
// total of the epic's nodes.
func SpentOfRun(o machine.RunView) string {
	if o.Budget == (ir.Budget{}) {
		return Spent(o.All)
	}
	s := Spent(o.Spent)
	if s != "" {
		s += ofBudget(o)
	}
	if all := Spent(o.All); o.All != o.Spent && all != "" {
		s = strings.TrimPrefix(s+"; in all "+all, "; ")
	}
	return s
}

// SpentShort is Spent for a table column.
func SpentShort(s machine.Spent) string {
	switch {
	case s.Tokens == 0 && s.USDMicro == 0 && s.TokensKnown && s.USDKnown:
		return "" // no agent was asked
	case s.USDMicro > 0:
		return Money(s.USDMicro, s.USDKnown)
	case s.Tokens > 0:
		return Figure(s.Tokens, s.TokensKnown, Counted(s.Tokens)+" tok", "")
	case s.USDKnown: // stated by the policy
		return Money(s.USDMicro, true)
	}
	return "unknown"
}

// Proposal is work that an agent found, and where, in one line.
func Proposal(p machine.Proposed) string {
	return fmt.Sprintf("%s (%s)", reveal.Words(First(p.Title)), reveal.Words(string(p.Node)+With(", ", p.Agent, "")))
}
