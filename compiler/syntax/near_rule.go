package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// A line of dashes or equals signs directly below text is not a rule: markdown makes the
// text a heading, of the first or second level, which ends the item that it stands in.

// underlined reports headings that were to be labels, or text with a rule below it.
func (p *parser) underlined() {
	item := 0 // level of the item that is read; 0: none
	for i, e := range lists.Each(p.stream) {
		heading := e.b.kind == headingBlock
		if heading && e.b.setext && p.labelsAbove(e.b, item > 0) {
			item = 0
			continue
		}
		if e.cand >= 0 {
			if item = 0; p.cands[e.cand].live(false) {
				item = p.cands[e.cand].level
			}
			continue
		}
		if !heading || item == 0 || int(e.b.level) > item && item < 7 {
			continue
		}
		item = 0
		if l, ok := p.labelLine(int(e.b.a), int(e.b.b)); ok && l.known && l.name.isControl() && !e.b.setext {
			p.report(diag.Newf("label-heading", p.rng(l.at), "%s is a heading", quoted(l.written)).WithDetail(
				"The heading ends its item, so no field is set and the text below it is left out. Write **%s**: as a line of text, without %s.", labelTitle(l.name), p.src[e.b.start:int(e.b.start)+int(e.b.level)]))
			continue
		}
		under := p.underline(e.b)
		if e.b.setext && p.src[under.Start:under.End] == "---" && int(e.b.b-e.b.a) > 3 && p.losesLabels(i+1) {
			p.report(diag.New("label-heading", under, "this line makes a heading of the text above it").WithDetail(
				"Dashes directly below text are not a rule: they make the text a heading, which ends the item, and the labels and tasks below it are left out. Put an empty line above the dashes.").
				WithFix(p.file.Range(under.Start, under.Start), eolAt(p.src, under.Start)))
		}
	}
}

// labelsAbove reports the first label in the text of an underlined heading. Outside of
// items, where a page has fields of its own, only controls are looked for.
func (p *parser) labelsAbove(b *block, inItem bool) bool {
	for at, stop := range p.lines(int(b.a), int(b.b)) {
		l, ok := p.labelLine(at, stop)
		if !ok || !l.known || !inItem && !l.name.isControl() {
			continue
		}
		under := p.underline(b)
		p.report(diag.Newf("label-heading", p.rng(l.at), "the line below makes %s a heading", quoted(l.written)).WithDetail(
			"Dashes or equals signs directly below text make it a heading: the field %s is not set, and its item ends here. Put an empty line in between.", labelWord(l.name)).
			WithRelated(under, "this line").WithFix(p.file.Range(under.Start, under.Start), eolAt(p.src, under.Start)))
		return true
	}
	return false
}

// underline returns the range of the line that makes text a heading.
func (p *parser) underline(b *block) diag.Range {
	line := p.src[lineStart(p.src, int(b.end)):b.end]
	at := int(b.end) - len(strings.TrimLeft(line, " "))
	return p.file.Range(at, at+len(strings.TrimSpace(line)))
}

// losesLabels reports whether labels, check boxes or directives are between an element and the next
// heading or item.
func (p *parser) losesLabels(from int) bool {
	for i := from; i < len(p.stream); i++ {
		e := &p.stream[i]
		if e.cand >= 0 || e.b.kind == headingBlock {
			return false
		}
		if e.b.kind == listBlock && strings.Contains(p.src[e.b.start:e.b.end], "[ ]") || p.labelled(e.b) {
			return true
		}
	}
	return false
}
