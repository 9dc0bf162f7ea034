package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// ago says how long ago something was, in one short word.
func ago(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	return brief(now.Sub(then)) + " ago"
}

// brief is a duration with at most two units: 12s, 3m05s, 2h10m, 3d4h.
func brief(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// tookWords says how long an attempt was at work, and within what, where it waited.
func tookWords(a executor.AttemptLog) string {
	whole := a.Ended.Sub(a.Started)
	if whole-a.Work < time.Second {
		return brief(whole)
	}
	return fmt.Sprintf("%s of work within %s", brief(a.Work), brief(whole))
}

func millis(ms int64) string { return brief(time.Duration(ms) * time.Millisecond) }

// tokens is a number of tokens for people. Unknown is never 0.
func tokens(n int64, known bool) string {
	return figure(n, known, counted(n)+" tokens", "tokens unknown")
}

func counted(n int64) string {
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

// money is millionths of a US dollar for people. Unknown is never 0.
func money(micro int64, known bool) string {
	return figure(micro, known, dollars(micro), "cost unknown")
}

func dollars(micro int64) string {
	if micro > 0 && micro < 10_000 {
		return fmt.Sprintf("$%.4f", float64(micro)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(micro)/1e6)
}

// figure marks a sum with an unknown part as a lower bound.
func figure(n int64, known bool, text, unknown string) string {
	switch {
	case known:
		return text
	case n == 0:
		return unknown
	}
	return "≥ " + text
}

// spent is what something has cost, in words; "" if nothing was run for it.
func spent(s executor.Spent) string {
	switch {
	case s.Millis == 0 && s.Tokens == 0 && s.USDMicro == 0 && s.TokensKnown && s.USDKnown:
		return ""
	case s.Tokens == 0 && s.USDMicro == 0 && s.TokensKnown && s.USDKnown: // no agent was asked
		return millis(s.Millis)
	}
	parts := []string{tokens(s.Tokens, s.TokensKnown), money(s.USDMicro, s.USDKnown)}
	if s.Millis > 0 { // of a turn that was cut nobody knows it
		parts = append(parts, millis(s.Millis))
	}
	return strings.Join(parts, ", ")
}

// spentOfRun is what a run has cost: of its budget, if it has one, else in all, as the
// nodes of the epic have it.
func spentOfRun(o executor.RunView) string {
	if o.Budget == (ir.Budget{}) {
		return spent(o.All)
	}
	s := spent(o.Spent)
	if s != "" {
		s += ofBudget(o)
	}
	if all := spent(o.All); o.All != o.Spent && all != "" {
		s = strings.TrimPrefix(s+"; in all "+all, "; ")
	}
	return s
}

// spentShort is spent for a column of a table.
func spentShort(s executor.Spent) string {
	switch {
	case s.Tokens == 0 && s.USDMicro == 0 && s.TokensKnown && s.USDKnown:
		return "" // no agent was asked
	case s.USDMicro > 0:
		return money(s.USDMicro, s.USDKnown)
	case s.Tokens > 0:
		return figure(s.Tokens, s.TokensKnown, counted(s.Tokens)+" tok", "")
	case s.USDKnown: // stated by the policy
		return money(s.USDMicro, true)
	}
	return "unknown"
}

// proposal is work that an agent found, and where, in one line.
func proposal(p executor.Proposed) string {
	by := string(p.Node)
	if p.Agent != "" {
		by += ", " + p.Agent
	}
	return fmt.Sprintf("%s (%s)", reveal.Words(first(p.Title)), reveal.Words(by))
}
