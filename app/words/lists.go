package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// MostNamed is the most sprints for which the account says what to type.
const MostNamed = 8

// First is the first line of s, cut to 200 columns.
func First(s string) string { return columns.Truncate(text.FirstLine(s), 200) }

// ListOf lists at most 8 of the names and counts the others.
func ListOf(names []string) string {
	const most = 8
	return text.Some(names, most)
}

// MendBase says what to do about a red base. The base is pinned, so a new commit alone
// does not change it. applies is Applies of the epic's file.
func MendBase(applies string) string {
	return "fix it, commit, then: ralph apply" + applies + " --rebase (a changed policy: ralph compile before the commit; sprints that the new base does not contain run again)"
}

// Parked says until when a runner is not asked, and why.
func Parked(p executor.RunnerParked, now time.Time) string {
	return fmt.Sprintf("runner %s is on hold until %s: %s", p.Runner, Clock(now, p.Until), First(p.Detail))
}

// Size formats a number of bytes in B, kB or MB (powers of 1024), rounded down.
func Size(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// Gigabytes formats a number of bytes in MB or GB (powers of 1000), at least 0.1 MB.
func Gigabytes(n int64) string {
	if n < 1e5 {
		return "0.1 MB"
	}
	if n < 10e6 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	if n < 1e9 {
		return fmt.Sprintf("%d MB", n/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// Clock formats t in local time; it omits the date if t is on the same day as now.
func Clock(now, t time.Time) string {
	t, now = t.Local(), now.Local()
	if y, m, d := t.Date(); y == now.Year() && m == now.Month() && d == now.Day() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// PadTo appends spaces to s until it is wide columns wide; a longer s is unchanged.
func PadTo(s string, wide int) string { return s + strings.Repeat(" ", max(wide-columns.Of(s), 0)) }

// mostUnsent is the most out-of-date beads that are named.
const mostUnsent = 5

// Listed is a headline followed by the first of the lines.
func Listed(headline string, lines []string) []string {
	out := []string{headline}
	for i, line := range lines {
		if i == mostUnsent && len(lines) > mostUnsent+1 {
			return append(out, fmt.Sprintf("  and %d more", len(lines)-mostUnsent))
		}
		out = append(out, "  "+line)
	}
	return out
}

// UnsentLines list the updates that bd has not received.
func UnsentLines(unsent []bd.Unsent) []string {
	if len(unsent) == 0 {
		return nil
	}
	lines := lists.Map(unsent, func(u bd.Unsent) string { return u.String() })
	return Listed(fmt.Sprintf("bd is missing updates (%s); the next ralph apply sends them:", text.Count(len(unsent), "bead")), lines)
}

// LeftLines list the beads that differ in bd because people changed them.
func LeftLines(left []bd.Left) []string {
	if len(left) == 0 {
		return nil
	}
	lines := lists.Map(left, func(l bd.Left) string { return l.Bead + " " + l.What })
	return Listed("people changed some beads in bd, and ralph leaves them so:", lines)
}
