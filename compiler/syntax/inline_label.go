package syntax

import (
	"strings"
	"unicode/utf8"
)

// People put several labels on one line: "**Priority**: P1 | **Depends on**: 1.1".

// piece returns the end of the label that begins at at, and where the next
// thing begins: a known label behind a separator on the same line, or the next
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
		for k < stop && p.src[k] == '*' {
			k++
		}
	}
}

// separated reports whether a separator stands before src[k], and where it
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

// edgeItem takes in an item such as "- **Blocks**: 1.4" below a label that is
// about dependencies, too: it is a label of its own.
func (r *reader) edgeItem(below *Label, b *block) bool {
	if !edgeLabel(below.Name) || len(b.kids) == 0 || b.kids[0].kind != paraBlock {
		return false
	}
	at, end := int(b.kids[0].start), int(b.kids[0].end)
	l, ok := r.p.labelLine(at, min(lineEnd(r.p.src, at), end))
	if !ok || !l.known || !edgeLabel(l.name) {
		return false
	}
	cur, head, level := r.cur, r.head, r.level
	r.labelItem(b)
	r.cur, r.head, r.level = cur, head, level
	return true
}

func edgeLabel(n LabelName) bool {
	switch n {
	case DependsOn, Blocks, Related, DiscoveredFrom, Parent:
		return true
	}
	return false
}
