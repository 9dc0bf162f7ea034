package syntax

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// finished decides which items the plan says are finished.
func (p *parser) finished() {
	plan := p.plan
	for i := range plan.Phases {
		ph := &plan.Phases[i]
		if l, done := p.groupStatus(ph); done && !ph.Done {
			ph.Done, ph.DoneBy, ph.doneAt = true, "status", l.Range()
		}
	}
	p.overview()
	for i := range plan.Splits {
		sp := &plan.Splits[i]
		if l, done := status(&sp.Section); done && !sp.Done {
			sp.Done, sp.DoneBy, sp.doneAt = true, "status", l.Range()
		}
	}
	var first *Item
	n := 0
	for i := range plan.Items {
		it := &plan.Items[i]
		p.finishedItem(it)
		if it.Done {
			p.openInside(it)
			if n++; n == 1 {
				first = it
			}
		}
	}
	p.boxesDiffer()
	p.reportTicks()
	if n == 0 {
		return
	}
	if n == len(plan.Items) {
		p.report(diag.Newf("all-finished", first.DoneRange, "the plan says that %s finished", all(n)).WithDetail(
			"apply takes the work to be in the base and runs nothing. If something is left to do, take the check mark, the status or the tick away from it, or add an item; --rerun KEY runs an item all the same."))
	}
	d := diag.Newf("finished", first.DoneRange, "the plan says that %s finished", text.Counted(n, "item is", "items are")).WithDetail(
		"%s: apply takes the work to be in the base and does not run it. Use --rerun KEY to run an item all the same.", p.finishedKeys())
	p.report(d)
}

func all(n int) string {
	if n == 1 {
		return "its only item is"
	}
	return fmt.Sprintf("all %d items are", n)
}

// finishedKeys names the finished items, at most a line of them.
func (p *parser) finishedKeys() string {
	var b strings.Builder
	for i := range p.plan.Items {
		it := &p.plan.Items[i]
		if !it.Done {
			continue
		}
		if b.Len() > 200 {
			b.WriteString(", …")
			break
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(clip(it.ID, 40))
	}
	return b.String()
}

func (p *parser) finishedItem(it *Item) {
	if it.Done {
		return
	}
	l, done := status(&it.Body)
	boxes := it.Body.Boxes
	switch {
	case done:
		it.Done, it.DoneBy, it.DoneRange = true, "status", l.Range()
	case boxes.Ticked > 0 && boxes.Open == 0:
		it.Done, it.DoneBy, it.DoneRange = true, "boxes", boxes.Last
	case it.Split > 0 && p.splitOf(it).Done && l == nil && boxes.Open == 0:
		it.Done, it.DoneBy, it.DoneRange = true, "phase", p.splitOf(it).doneAt
	case it.Phase >= 0 && p.plan.Phases[it.Phase].Done && l == nil && boxes.Open == 0:
		it.Done, it.DoneBy, it.DoneRange = true, "phase", p.plan.Phases[it.Phase].doneAt
	default:
		p.nearStatus(it, l)
	}
}

// status returns the Status label of a section, and whether it says that the
// work is finished. If there are several, all have to say so.
func status(s *Section) (*Label, bool) {
	var found *Label
	for i := range s.Labels {
		l := &s.Labels[i]
		if l.Name != Status {
			continue
		}
		if !saysDone(statusText(l)) {
			return l, false
		}
		if found == nil {
			found = l
		}
	}
	return found, found != nil
}

func statusText(l *Label) string {
	switch {
	case l.Value.Value != "":
		return l.Value.Value
	case len(l.Text) > 0:
		return l.Text[0]
	case len(l.Items) > 0:
		return l.Items[0].Text.Value
	}
	return ""
}

// saysDone reads a status: its first word behind pictures and markup, and then
// nothing, a date or a parenthesis.
func saysDone(s string) bool {
	marked := strings.ContainsAny(s, checkMarks)
	s = strings.TrimLeftFunc(s, func(r rune) bool { return isEmoji(r) || strings.ContainsRune(" *_`~[(\u00a0", r) })
	if s == "" {
		return marked
	}
	word := firstWord(s)
	return doneWords[strings.ToLower(word)] && isTail(s[len(word):])
}
