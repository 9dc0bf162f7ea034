package syntax

import (
	"slices"
	"strings"
)

// What stands below a label is the label's up to the next label or heading. Text that the
// label does not take is the section's; commands below it are still those of Verify, and
// lists those of Tasks and Acceptance Criteria, if they read like more of them.

// end ends the bold label that is open, and all that it takes.
func (r *reader) end() { r.cur, r.tests, r.more, r.bold = -1, 0, 0, false }

// closeLabel ends the bold label that is open at text that it does not take.
func (r *reader) closeLabel() {
	if r.cur >= 0 {
		switch r.s.Labels[r.cur].Name {
		case Verify:
			r.tests = r.cur + 1
		case Tasks, Acceptance:
			r.more = r.cur + 1
		}
	}
	r.cur, r.bold = -1, false
}

// unknownLabel ends the bold label that is open at a bold name that means nothing, which
// may be a heading above more tasks.
func (r *reader) unknownLabel() {
	r.closeLabel()
	r.tests = 0
	if r.more > 0 && r.s.Labels[r.more-1].Name != Tasks {
		r.more = 0
	}
}

// keepOpen returns what opens the labels again that are open now.
func (r *reader) keepOpen() func() {
	cur, head, level, tests, more, bold := r.cur, r.head, r.level, r.tests, r.more, r.bold
	return func() { r.cur, r.head, r.level, r.tests, r.more, r.bold = cur, head, level, tests, more, bold }
}

// boldLine reports whether src[at:end] is one line in bold that is nearly no label.
func (p *parser) boldLine(at, end int) bool {
	end = at + len(strings.TrimRight(p.src[at:end], " \t\r\n"))
	name, rest, colon, ok := p.boldStart(at, end)
	if !ok || colon || strings.TrimSpace(p.src[rest:end]) != "" {
		return false
	}
	_, _, known := lookupNear(p.src[name.start:name.end])
	return !known
}

// resume opens the label again that takes a list below text of the section.
func (r *reader) resume(items []block) {
	if r.cur >= 0 || r.more == 0 || len(items) == 0 {
		return
	}
	l := &r.s.Labels[r.more-1]
	empty, boxed := len(l.Items) == 0 && l.Value.Value == "", r.p.boxed(&items[0])
	switch {
	case l.Name == Tasks && (empty || boxed || r.bold):
	case l.Name == Acceptance && (empty && (!boxed || r.hasTasks()) || r.bold && len(l.Text) > 0):
	default:
		return
	}
	r.cur, r.bold = r.more-1, false
}

func (r *reader) hasTasks() bool {
	return slices.ContainsFunc(r.s.Labels, func(l Label) bool { return l.Name == Tasks })
}

// takesList reports whether a list below the open label belongs to it. Boxes below a
// sentence are tasks where nothing else is.
func (r *reader) takesList(l *Label, items []block) bool {
	n := len(l.Text)
	switch {
	case n == 0, l.From == FromHeading:
		return takesLists(l)
	case strings.HasSuffix(l.Text[n-1], ":"), l.Name == Tasks:
		return true
	case l.Name == Acceptance:
		return r.bold || len(l.Items) > 0 || r.hasTasks() || len(items) == 0 || !r.p.boxed(&items[0])
	}
	return false
}

// takesLists reports whether a list directly below the label belongs to it.
func takesLists(l *Label) bool {
	switch {
	case l.From == FromHeading:
		return true
	case l.Name == Tasks || l.Name == Acceptance || l.Name == Verify:
		return true
	}
	return l.Value.Value == "" || strings.HasSuffix(l.Value.Value, ":")
}
