package syntax

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// finished decides which items the plan says are finished.
func (p *parser) finished() {
	plan := p.plan
	for i := range plan.Phases {
		l, done := p.groupStatus(&plan.Phases[i])
		plan.Phases[i].finish(l, done)
	}
	p.overview()
	for i := range plan.Splits {
		l, done := status(&plan.Splits[i].Section)
		plan.Splits[i].finish(l, done)
	}
	var first *Item
	n := 0
	for _, it := range lists.Each(plan.Items) {
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
			"apply assumes that the work is in the base and runs nothing. If something is left to do, remove its check mark, status or tick, or add an item; --rerun KEY runs an item anyway."))
	}
	p.report(diag.Newf("finished", first.DoneRange, "the plan says that %s finished", text.Counted(n, "item is", "items are")).WithDetail(
		"%s: apply assumes that the work is in the base and does not run it. Use --rerun KEY to run an item anyway.", p.finishedKeys()))
}

// finish applies the Status of a group.
func (ph *Phase) finish(l *Label, done bool) {
	if done && !ph.Done {
		ph.Done, ph.DoneBy, ph.doneAt = true, "status", l.Range()
	}
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
	for _, it := range lists.Each(p.plan.Items) {
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
	for _, l := range lists.Each(s.Labels) {
		if l.Name != Status {
			continue
		}
		if !saysDone(statusText(l)) {
			return l, false
		}
		found = cmp.Or(found, l)
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

// saysDone reads a status: its first word after pictures and markup, and then
// nothing, a date or a parenthesis.
func saysDone(s string) bool {
	marked := strings.ContainsAny(s, checkMarks)
	if s = unmarked(s); s == "" {
		return marked
	}
	word := firstWord(s)
	return doneWords[strings.ToLower(word)] && isTail(s[len(word):])
}

// boxesDiffer warns where the boxes of an item say something else than what decides
// whether it is finished: a ticked item runs because of an open box in it, or one that
// a status or a mark makes finished has open boxes.
func (p *parser) boxesDiffer() {
	var runs, left []*Item
	for i := range p.plan.Items {
		switch it := &p.plan.Items[i]; {
		case it.Body.Boxes.Open == 0:
		case it.Done && it.DoneBy != "boxes":
			left = append(left, it)
		case !it.Done && it.Box == Ticked && it.Body.Label(Status) == nil:
			runs = append(runs, it)
		}
	}
	p.differing("open-below-tick", runs, "ticked and not finished",
		"%s is ticked, but %s: an item is finished when all of its boxes are ticked, so apply runs it. Tick the boxes inside if they are done, or clear the item's own.")
	p.differing("open-in-finished", left, "finished with open boxes",
		"The plan says that %s is finished, but %s: apply does not run it. Tick what is done, or remove what marks the item as finished.")
}

func (p *parser) differing(code diag.Code, items []*Item, what, detail string) {
	if len(items) == 0 {
		return
	}
	first := items[0].Body.Boxes
	which := text.Counted(first.Open, "box is open", "boxes are open") + " in it"
	if first.Open == 1 && items[0].Box == Open {
		which = "its own box is open"
	}
	d := diag.Newf(code, first.FirstOpen, "%s %s", text.Counted(len(items), "item is", "items are"), what).WithDetail(
		detail, clip(items[0].ID, 20), which)
	if items[0].Done {
		d = d.WithRelated(items[0].DoneRange, "this says that it is finished")
	}
	for _, it := range items[1:min(len(items), maxRelated)] {
		d = d.WithRelated(it.Body.Boxes.FirstOpen, "%s: open here", clip(it.ID, 20))
	}
	p.report(d)
}
