package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// maxStamp bounds a date in parentheses, in bytes.
const maxStamp = 48

// stamp returns how long a date in parentheses is that s begins with, with the spaces
// after it: "(2026-10-01 15:20Z) ". ExecPlans say so when a box was ticked.
func stamp(s string) int {
	if !strings.HasPrefix(s, "(") {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), maxStamp)], ')')
	if end < 0 {
		return 0
	}
	day, clock, _ := strings.Cut(strings.ReplaceAll(s[1:end], "T", " "), " ")
	if len(day) != len("2026-10-01") || !beginsWithDate(day) || strings.Trim(clock, "0123456789:.+-/ UTCGMZ") != "" {
		return 0
	}
	return trimmed(s, end+1, len(s)).start
}

// onlyComments reports whether text says nothing: a date before it is a title itself,
// with and without the comment that ralph writes after it.
func onlyComments(s string) bool {
	for {
		if s = strings.TrimSpace(s); s == "" {
			return true
		}
		comment, ok := strings.CutPrefix(s, "<!--")
		if !ok {
			return false
		}
		_, s, _ = strings.Cut(comment, "-->")
	}
}

// lostTick is a ticked box of an overview that nearly names an item.
type lostTick struct {
	it   *Item
	at   diag.Range
	id   string
	said string
}

// reportTicks warns of those whose items run.
func (p *parser) reportTicks() {
	for _, l := range p.ticks {
		if l.it.Done {
			continue
		}
		p.report(diag.Newf("label-form", l.at, "this ticked box does not finish %s", clip(l.id, 24)).WithDetail(
			"It names the item, but with the title %s instead of %s, so the item runs. If its work is done, write the title as the heading does, or nothing after the id.", quoted(l.said), quoted(l.it.Title)).
			WithRelated(l.it.Range, "the item"))
	}
}
