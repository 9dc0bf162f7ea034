package syntax

import (
	"strings"
	"unicode/utf8"
)

// People put several labels on one line: "**Priority**: P1 | **Depends on**: 1.1".

// piece returns the end of the label that begins at at, and where the next
// thing begins: a known label after a separator on the same line, or the next
// line. A line that begins with no label is one piece.
func (p *parser) piece(at, end int) (stop, next int) {
	next = nextLine(p.src[:end], at)
	stop = min(lineEnd(p.src, at), end)
	first, ok := p.labelLine(at, stop)
	if !ok {
		return stop, next
	}
	for k := first.value; ; {
		i := strings.Index(p.src[k:stop], "**")
		if i < 0 {
			return stop, next
		}
		k += i
		if cut, ok := p.separated(first.value, k); ok {
			if l, label := p.labelLine(k, stop); label && l.known && strings.Count(p.src[first.value:k], "`")%2 == 0 {
				return cut, k
			}
		}
		k = stop - len(strings.TrimLeft(p.src[k:stop], "*"))
	}
}

// separated reports whether a separator is before src[k], and where it
// begins.
func (p *parser) separated(from, k int) (int, bool) {
	before := strings.TrimRightFunc(p.src[from:k], func(r rune) bool { return r == ' ' || r == '\t' || isEmoji(r) })
	if r, n := utf8.DecodeLastRuneInString(before); n > 0 && strings.ContainsRune("|·•∙;,/—–", r) {
		return from + len(strings.TrimRight(before[:len(before)-n], " \t")), true
	}
	gap := p.src[from+len(before) : k]
	return from + len(before), strings.Contains(gap, "  ") || strings.Contains(gap, "\t")
}

// pieces reports whether a known label begins anywhere in the line at at.
func (p *parser) pieces(at, end int) bool {
	stop, next := p.piece(at, end)
	return next < end && next > stop && next < lineEnd(p.src, at)
}

// edgeItem parses an item such as "- **Blocks**: 1.4" below a label that is
// about dependencies, too: it is a label of its own.
func (r *reader) edgeItem(below *Label, b *block) bool {
	at, end, ok := b.first()
	if !ok || !below.Name.IsDependency() {
		return false
	}
	l, ok := r.p.labelLine(at, min(lineEnd(r.p.src, at), end))
	if !ok || !l.known || !l.name.IsDependency() {
		return false
	}
	defer r.keepOpen()()
	r.labelItem(b)
	return true
}

// outsideLabels keeps the dependency labels of a block that is in no section: below a
// heading that is neither an item nor a group of the dialect.
func (p *parser) outsideLabels(b *block) {
	switch b.kind {
	case listBlock, itemBlock:
		for i := range b.kids {
			p.outsideLabels(&b.kids[i])
		}
	case paraBlock:
		for at, end := int(b.start), int(b.end); at < end; {
			stop, next := p.piece(at, end)
			if l, ok := p.labelLine(at, stop); ok && l.known && l.meant == "" && l.name.IsDependency() {
				p.plan.Outside = append(p.plan.Outside, Label{Name: l.name, Written: l.written, NameRange: p.rng(l.at), Value: p.plain(l.value, stop).Text, From: FromBold})
			}
			at = next
		}
	}
}
