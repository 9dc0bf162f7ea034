package syntax

import (
	"math"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// In markdown a line directly below a list item or a quote belongs to it, however
// little it is indented. People who write a label there mean a label, so the
// list ends above it and what follows is in the section.

// cutLists splits a list, an item of one, or a quote, above every label that
// is left of the content of the outermost item. nil: there is none.
func (p *parser) cutLists(b *block) (out []block) {
	at := p.labelBelow(b)
	if at < 0 {
		return nil
	}
	head, rest := p.cutAt(b, at)
	out = append(out, head)
	slices.Reverse(rest) // what is still to be looked at, last one first
	for len(rest) > 0 {
		b := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if at = p.labelBelow(&b); at < 0 {
			out = append(out, b)
			continue
		}
		head, tail := p.cutAt(&b, at)
		out = append(out, head)
		slices.Reverse(tail)
		rest = append(rest, tail...)
	}
	return out
}

// labelBelow returns the offset of the first line in a list, an item or a quote
// that is a label of the section; -1 if there is none.
func (p *parser) labelBelow(b *block) int {
	items := b.kids
	switch b.kind {
	case itemBlock, quoteBlock:
		items = []block{*b}
	case listBlock:
	default:
		return -1
	}
	for i := range items {
		found := p.lazyLine(&items[i], func(at, stop int) bool {
			l, ok := p.labelLine(at, stop)
			return ok && l.known
		})
		if found < 0 {
			continue
		}
		if b.kind == quoteBlock && strings.Contains(p.src[found:b.end], "\n>") {
			return -1 // the quote continues
		}
		return found
	}
	return -1
}

// nearLabels reports names in bold that are not labels, or not in their form,
// directly below the lines of a list item.
func (r *reader) nearLabels(b *block, more bool) {
	if r.kind != itemSection {
		return
	}
	r.p.plainControls(b.kids, inList)
	r.p.lazyLines(b, func(at, stop int, last bool) bool {
		if l, ok := r.p.labelLine(at, stop); ok && !l.known {
			r.p.unknown(l)
		} else if !ok {
			r.p.nearLabel(at, stop, more || !last)
		}
		return true
	})
}

// lazyLine returns the offset of the first of the lines of an item's paragraphs that are
// left of its content and are looked for; -1 if there is none.
func (p *parser) lazyLine(item *block, is func(at, stop int) bool) int {
	found := -1
	p.lazyLines(item, func(at, stop int, _ bool) bool {
		if is(at, stop) {
			found = at
		}
		return found < 0
	})
	return found
}

// lazyLines visits the lines of an item's paragraphs that are left of its
// content, until visit returns false. last: nothing follows in the item.
func (p *parser) lazyLines(item *block, visit func(at, stop int, last bool) bool) {
	if strings.IndexByte(p.src[item.start:item.end], '\n') < 0 {
		return
	}
	col := p.contentColumn(item)
	var walk func(blocks []block) bool
	walk = func(blocks []block) bool {
		for _, b := range lists.Each(blocks) {
			if b.kind != paraBlock {
				if !walk(b.kids) {
					return false
				}
				continue
			}
			for at, stop := range p.lines(nextLine(p.src[:b.end], int(b.start)), int(b.end)) {
				text := strings.TrimLeft(p.src[at:stop], " \t")
				if columns(p.src[at:stop-len(text)]) < col && !visit(at, stop, stop == int(item.end)) {
					return false
				}
			}
		}
		return true
	}
	walk(item.kids)
}

// contentColumn returns the column where the content of a list item begins. The
// lines of a quote are marked instead.
func (p *parser) contentColumn(b *block) int {
	if b.kind == quoteBlock {
		return math.MaxInt
	}
	start, end := int(b.start), lineEnd(p.src, int(b.start))
	mark := min(end-len(strings.TrimLeft(p.src[start:end], decimals))+1, end) // behind - + * . )
	text := min(skipBlanks(p.src, mark), end)
	line := lineStart(p.src, start)
	after, content := columns(p.src[line:mark]), columns(p.src[line:text])
	if text == end || content-after > 4 { // nothing, or indented code
		return after + 1
	}
	return content
}

// cutAt divides a block above an offset, which begins a line of a paragraph in
// it: what is above, and what follows, taken out of its containers.
func (p *parser) cutAt(b *block, at int) (head block, tail []block) {
	head = *b
	head.end = int32(len(strings.TrimRight(p.src[:at], " \t\r\n")))
	if b.kind == paraBlock {
		tail = []block{{kind: paraBlock, info: -1, start: int32(at), end: b.end}}
		return head, tail
	}
	for i := range b.kids {
		if int(b.kids[i].end) <= at {
			continue
		}
		kid, below := p.cutAt(&b.kids[i], at)
		head.kids = append(slices.Clip(b.kids[:i]), kid)
		if head.kind == itemBlock {
			head.b = head.end
		}
		switch more := b.kids[i+1:]; {
		case len(more) == 0:
		case b.kind == listBlock:
			list := *b
			list.start, list.kids = more[0].start, more
			below = append(below, list)
		default:
			below = append(below, more...)
		}
		return head, below
	}
	return head, nil
}
