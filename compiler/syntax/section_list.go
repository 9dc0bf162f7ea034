package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// list parses list items: for the open label, as labels, or as prose.
func (r *reader) list(items []block) {
	r.resume(items)
	if l := r.active(); l != nil && (r.takesList(l, items) || r.p.goesOn(l, items)) {
		r.bold = false
		l.Items = slices.Grow(l.Items, len(items))
		for i := range items {
			if r.p.stepsBehindPaths(l, items, i) {
				r.cur = -1
				r.list(items[i:])
				return
			}
			if r.edgeItem(l, &items[i]) || r.plainBelow(&items[i]) {
				l = r.active()
				continue
			}
			r.nearLabels(&items[i], i+1 < len(items))
			r.listedLabel(l, &items[i])
			r.plainInner(&items[i])
			l = r.active() // labels may have moved
			if it := r.p.listItemOf(&items[i]); it.Text.Value != "" || len(it.Detail) > 0 {
				var rest []ListItem
				if l.Name == Verify {
					it.Text, rest = r.p.commandLines(it.Text)
				}
				l.Items = append(append(l.Items, it), rest...)
			}
			r.itemFences(&items[i], l)
		}
		return
	}
	open := -1 // loose list that continues
	for i, b := range lists.Each(items) {
		if r.labelItem(b) {
			open = -1
			continue
		}
		r.plainInner(b)
		r.nearLabels(b, i+1 < len(items))
		if open >= 0 && r.p.boxed(b) && !r.loose[open].boxed() {
			open = -1 // the tasks begin, although markdown has one list of both
		}
		if open < 0 {
			r.closeLabel()
			if r.listEnd == 0 || len(r.s.Prose) != r.listEnd {
				r.gap()
			}
			r.loose = append(r.loose, looseList{from: len(r.s.Prose)})
			open = len(r.loose) - 1
		}
		list := &r.loose[open]
		list.items = append(list.items, r.p.listItemOf(b))
		r.itemFences(b, nil)
		r.s.Prose = r.p.blockLines(r.s.Prose, b)
		list.to = len(r.s.Prose)
		r.listEnd = list.to
	}
}

// stepsBehindPaths reports whether the first checkbox of a list that began without
// one is at items[i], below a label of paths: a blank line alone does not end a list
// of markdown, and what follows are the steps of the work.
func (p *parser) stepsBehindPaths(l *Label, items []block, i int) bool {
	return i > 0 && (l.Name == Files || l.Name == Reads || l.Name == Owns) && p.boxed(&items[i]) && !p.boxed(&items[0])
}

// boxed reports whether a list item begins with a check box.
func (p *parser) boxed(b *block) bool {
	at, end, ok := b.first()
	return ok && p.behindBox(at, end) > at
}

// goesOn reports whether a list below the value of a list label is more of it: each item
// is one code span, or one path. Names of items are not: what waits for what is said in a
// value, or below an empty one.
func (p *parser) goesOn(l *Label, items []block) bool {
	if shapeOf(l.Name) != list || l.Name.IsDependency() {
		return false
	}
	for i := range items {
		it := p.listItemOf(&items[i])
		path := pathFirst.MatchString(it.Text.Value) && !strings.ContainsAny(it.Text.Value, " \t\n")
		if it.Box != NoBox || len(it.Detail) > 0 || !it.Text.Code && !path {
			return false
		}
	}
	return true
}

// labelItem parses a list item that is a label.
func (r *reader) labelItem(b *block) bool {
	at, end, ok := b.first()
	if !ok {
		return false
	}
	if r.plainItem(b) {
		return true
	}
	p := r.p
	at = p.behindBox(at, end)
	l, ok := r.labelLine(at, min(lineEnd(p.src, at), end))
	if !ok {
		return false
	}
	if !l.known && !p.pieces(at, end) {
		if r.kind == itemSection {
			p.unknown(l)
		}
		return false
	}
	r.paragraph(at, end, after(b.kids, 0))
	for i := range b.kids[1:] {
		r.block(&b.kids[1+i], nil)
	}
	if r.cur >= 0 && shapeOf(r.s.Labels[r.cur].Name) != checks {
		r.cur = -1
	}
	return true
}

// fence parses a fenced code block.
func (r *reader) fence(b *block) {
	p := r.p
	f := p.fenceOf(b)
	out, typed := f.Attr("output")
	l := r.active()
	if r.tests > 0 && shellLike(f.Lang) {
		l = &r.s.Labels[r.tests-1]
	}
	switch {
	case p.isPolicy(b):
		r.s.Fragments = append(r.s.Fragments, p.fragment(b))
		return
	case f.Lang == "json" && typed && r.kind == itemSection:
		if out.Value == "" {
			p.report(diag.New("near-miss-fence", out.Range, "output= names no gate").WithDetail(
				"A json fence with output= is the output schema of a QA agent. Write output=<gate>, with the name of the agent."))
			return
		}
		r.s.Outputs = append(r.s.Outputs, f)
		return
	case f.Lang == "json" && out.Value != "":
		p.report(diag.New("fence-attribute", out.Range, "output= has no effect here").WithDetail(
			"A json fence with output= is the output schema of a QA agent of one item. Move it below that item."))
	case p.nearControl(b) != "":
	case l != nil && l.Name == Verify:
		if p.shell(&f, l.Written) {
			l.Fences = append(l.Fences, f)
			return
		}
	case l != nil && (l.From == FromHeading || takesText(l)):
		l.Fences = append(l.Fences, f)
		return
	}
	r.verbatim(b)
}

// verbatim takes a block as prose, line by line.
func (r *reader) verbatim(b *block) {
	if b.kind == quoteBlock && r.kind == itemSection {
		r.p.plainControls(b.kids, inQuote)
	}
	if b.kind == codeBlock && r.kind == itemSection {
		r.p.indented(b, r.active())
	}
	if l := r.active(); l != nil && l.From == FromHeading && r.cur < 0 {
		l.Text = r.p.blockLines(l.Text, b)
		return
	}
	r.gap()
	r.s.Prose = r.p.blockLines(r.s.Prose, b)
}
