package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// commentHides reports a comment, or other markup that people do not see, that is never
// closed, and one that ends only where another does that begins inside of it.
func (p *parser) commentHides(b *block) {
	for at := int(b.start); at < int(b.end); {
		open := strings.Index(p.src[at:b.end], "<!--")
		if open < 0 {
			break
		}
		open += at
		end := strings.Index(p.src[open+4:b.end], "-->")
		if end < 0 {
			p.openComment(open, int(b.end), "<!--", "-->")
			return
		}
		at = open + 4 + end + 3
		if inner := strings.Index(p.src[open+4:at], "<!--"); inner >= 0 {
			p.openComment(open, at, "<!--", "-->")
		}
	}
	text := strings.ToLower(p.src[b.start:min(int(b.end), int(b.start)+10)])
	for _, m := range [][2]string{{"<script", "</script>"}, {"<style", "</style>"}, {"<pre", "</pre>"}, {"<textarea", "</textarea>"}, {"<?", "?>"}, {"<![cdata[", "]]>"}} {
		if strings.HasPrefix(text, m[0]) && !strings.Contains(strings.ToLower(p.src[b.start:b.end]), m[1]) {
			p.openComment(int(b.start), int(b.end), m[0], m[1])
		}
	}
}

// openComment reports what an open comment hides, if that would count.
func (p *parser) openComment(at, end int, open, mark string) {
	hidden := p.hiddenLines(nextLine(p.src[:end], at), end, true)
	if len(hidden) == 0 {
		return
	}
	d := diag.Newf("unclosed-comment", p.file.Range(at, min(at+len(open), end)), "this is never closed and hides %s", text.Counted(len(hidden), "item or label", "items and labels")).WithDetail(
		"Everything below it is left out, up to the next %s or the end of the file. Write %[1]s where it should end. To comment out what is below, remove the comments in it.", mark)
	p.reportHidden(d, hidden)
}

// hiddenLines returns the lines of a text that would be items or groups, with controls also
// those that would be such labels.
func (p *parser) hiddenLines(from, to int, controls bool) (hidden []span) {
	for at, stop := range p.lines(from, to) {
		if p.looksLikeItem(at, stop) || controls && p.looksLikeControl(at, stop) {
			hidden = append(hidden, span{at, stop})
		}
	}
	return hidden
}

func (p *parser) reportHidden(d diag.Diagnostic, hidden []span) {
	p.hid += len(hidden)
	for _, h := range hidden[:min(len(hidden), 3)] {
		d = d.WithRelated(p.rng(h), "hidden")
	}
	p.report(d)
}

// looksLikeControl reports whether a line would be a label that sets who judges, what runs
// or in which order.
func (p *parser) looksLikeControl(at, end int) bool {
	l, ok := p.labelLine(at, end)
	return ok && l.known && l.name.isControl()
}
