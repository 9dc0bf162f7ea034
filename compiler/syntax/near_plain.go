package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// plainLabel is a line that would be a label with more or other marks: "Approval:
// value", "*Approval*: value", "**`Approval`**: value", "###Approval: value",
// "<b>Approval</b>: value", "> Approval: value".
var plainLabel = lazyregexp.New("^[ \\t>]*(?:\\[[ xX]\\][ \\t]*)?(?:#+[ \\t]*)?(<(?i:b|strong)>|[*_`]{0,4})(\\pL[\\pL -]{3,31})([:：]?)(</(?i:b|strong)>|[*_`]{0,4})[ \\t]*([:：]?)(.*)$")

// place is where a line stands that is not a label.
type place uint8

const (
	inLine  place = iota
	inList        // of a list, where nothing else tells of bold text without a colon
	inQuote       // where no label is read
)

// plainControl warns of a line that would set a control and is not a label. below is what
// follows the line, or nil.
func (p *parser) plainControl(at, end int, where place, below *block) {
	p.innerControls(at, end)
	p.oddControl(at, end)
	p.plainStatus(at, end, where)
	if where == inList {
		p.listedControl(at, end, below)
	}
	line := strings.TrimRight(p.src[at:end], " \t\r\n")
	if !strings.ContainsAny(line, ":：*_") {
		return // neither in bold nor with a colon
	}
	m := plainLabel.FindStringSubmatchIndex(line)
	if m == nil {
		return
	}
	open, closed := line[m[2]:m[3]], strings.Replace(line[m[8]:m[9]], "</", "<", 1)
	bold, colon := open == closed && len(open) > 1 && !strings.ContainsAny(open, "`<"), m[6] != m[7] || m[10] != m[11]
	if bold && (where == inLine || where == inList && colon) || !bold && !colon || open != closed && strings.Contains(line[m[12]:], open) {
		return
	}
	name, value := strings.TrimRight(line[m[4]:m[5]], " "), strings.Trim(line[m[12]:m[13]], " \t*_")
	n, meant, ok := lookupNear(name)
	fence := false
	if ok && colon {
		value, fence = p.valueOr(value, n, below)
	}
	if !ok || !bold && (!n.isControl() || n.IsDependency()) || !fence && !hasForm(n, value) {
		return
	}
	at += m[4]
	if meant != "" && colon && strings.HasPrefix(open, "**`") && len(open) == len(closed) {
		p.misspelt(name, meant, p.file.Range(at, at+len(name)), "**"+meant+"**:")
		return
	}
	what := "it is not bold with a colon"
	switch {
	case where == inQuote:
		what = "it is in a quotation"
	case bold:
		what = "it has no colon"
	}
	write := ownLine(n, value)
	if fence {
		write = "Write **" + labelTitle(n) + "**: on a line of its own above the fence."
	}
	p.lose(n, at, at+len(name), what, write)
}

// plainControls looks at the lines of a list item or a quotation that no label is read in.
func (p *parser) plainControls(blocks []block, where place) {
	for i, b := range lists.Each(blocks) {
		switch b.kind {
		case listBlock, itemBlock:
			p.plainControls(b.kids, where)
		case quoteBlock:
			p.plainControls(b.kids, inQuote)
		}
		if b.kind == codeBlock {
			p.indented(b, nil)
		}
		if b.kind != paraBlock {
			continue
		}
		for at, stop := range p.lines(int(b.start), int(b.end)) {
			below := lastLine(nextLine(p.src[:b.end], at), int(b.end), after(blocks, i))
			p.plainControl(at, stop, where, below)
			if at == int(b.start) && below != nil && below.kind == fenceBlock && p.src[at] == '*' {
				p.nearLabel(at, stop, true)
			}
		}
	}
}

// filled reports whether the block below a bold line would be what the label on that
// line takes: a list, a fence, or a paragraph in the form of its value.
func (p *parser) filled(at, end int, below *block) bool {
	switch {
	case below == nil:
		return false
	case below.kind == listBlock, below.kind == fenceBlock:
		return true
	case below.kind != paraBlock:
		return false
	}
	name, _, _, ok := p.boldStart(at, end)
	if !ok {
		return false
	}
	n, _, _ := lookupNear(p.src[name.start:name.end])
	text := strings.TrimSpace(p.src[below.start:min(lineEnd(p.src, int(below.start)), int(below.end))])
	return n == Approval && asksApproval.MatchString(text) || n == Verify && strings.HasPrefix(text, "`") && strings.HasSuffix(text, "`")
}
