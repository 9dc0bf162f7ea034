package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Markdown reads no heading, list or label in the lines directly below a line of HTML:
// what begins with a tag such as <details> or <br> ends at the next empty line.

var (
	// unreadHTML is what a person does not see, or sees as a quotation.
	unreadHTML = lazyregexp.New(`(?is)<!--.*?(?:-->|$)|<(?:pre|script|style|textarea)\b.*?(?:</(?:pre|script|style|textarea)>|$)|<\?.*?(?:\?>|$)|<!.*?(?:>|$)`)
	// htmlTags are what a line may begin with, in front of its text.
	htmlTags = lazyregexp.New(`^(?:[ \t]|</?[A-Za-z][^<>\n]*>)*`)
)

// htmlHides reports the lines of an HTML block that would count if they were markdown.
func (p *parser) htmlHides(b *block) {
	seen := unreadHTML.ReplaceAllStringFunc(p.src[b.start:b.end], blanked)
	var hidden, boxes []span
	for at, stop := range p.lines(int(b.start), int(b.end)) {
		line := strings.TrimRight(seen[at-int(b.start):stop-int(b.start)], " \t\r")
		s := span{at + len(htmlTags.FindString(line)), at + len(line)}
		switch {
		case s.start >= s.end:
		case p.looksLikeItem(s.start, s.end) || p.countsHere(s.start, s.end):
			hidden = append(hidden, s)
		case p.behindBullet(s.start, s.end) > s.start && p.behindBox(p.behindBullet(s.start, s.end), s.end) > p.behindBullet(s.start, s.end):
			boxes = append(boxes, s)
		}
	}
	switch {
	case len(hidden) > 0:
		d := diag.Newf("html-hides-items", p.rng(hidden[0]), "the HTML above takes in %s", text.Counted(len(hidden), "item or label", "items and labels")).WithDetail(
			"Up to the next empty line everything below a tag is HTML, not markdown: this line makes no item and sets nothing. Write an empty line above it.")
		p.reportHidden(d, hidden[1:])
		p.hid++
	case len(boxes) > 0 && p.itemAround(int(b.start)) != nil:
		d := diag.Newf("html-hides-items", p.rng(boxes[0]), "the HTML above takes in %s", text.Counted(len(boxes), "check box", "check boxes")).WithDetail(
			"Up to the next empty line everything below a tag is HTML, not markdown: the boxes are no tasks, and do not count when it is asked whether the item is finished. Write an empty line above them.")
		d.Severity = diag.Warning
		p.report(d)
	}
}

// blanked is a text of the same length without anything in it but line ends.
func blanked(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] != '\n' && b[i] != '\r' {
			b[i] = ' '
		}
	}
	return string(b)
}

// countsHere reports whether a line would be a label that decides who judges, what runs or
// in which order, in the section that it stands in.
func (p *parser) countsHere(at, end int) bool {
	var n LabelName
	if p.src[at] == '#' {
		marks := run(p.src, at, end)
		l, ok := p.headingLabel(&block{kind: headingBlock, start: int32(at), end: int32(end), a: int32(at + marks), b: int32(end)})
		if !ok || marks > 6 || at+marks < end && p.src[at+marks] != ' ' {
			return false
		}
		n = l.Name
	} else if l, ok := p.labelLine(p.behindBox(p.behindBullet(at, end), end), end); ok && l.known {
		n = l.name
	}
	switch {
	case !n.isControl():
		return false
	case p.itemAround(at) != nil:
		return true
	}
	for i := range p.plan.Phases {
		if ph := &p.plan.Phases[i]; ph.Section.Range.Start <= at && at < ph.Section.Range.End {
			return n.IsDependency() || n == Policy
		}
	}
	return n == Policy
}

// behindBullet returns the offset behind the mark of a list item that src[at:end] begins
// with, else at.
func (p *parser) behindBullet(at, end int) int {
	i := at
	if strings.IndexByte("-+*", p.src[at]) >= 0 {
		i++
	} else if n := len(p.src[at:end]) - len(strings.TrimLeft(p.src[at:end], decimals)); n > 0 && at+n < end && strings.IndexByte(".)", p.src[at+n]) >= 0 {
		i += n + 1
	}
	if k := skipBlanks(p.src[:end], i); i > at && k > i {
		return k
	}
	return at
}
