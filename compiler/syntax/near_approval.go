package syntax

import (
	"regexp"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// plainLabel is a line that would be a label with more or other marks: "Approval:
// value", "*Approval*: value".
var plainLabel = regexp.MustCompile(`^[ \t]*(?:\[[ xX]\][ \t]*)?([*_]{0,3})(\pL[\pL -]{3,31})([:：]?)([*_]{0,3})[ \t]*([:：]?)(.*)$`)

// asksApproval is the form of an approval's value.
var asksApproval = regexp.MustCompile(`(?i)^(?:required\b|requested from @|(?:from|by|of) @|@\w)`)

// plainApproval warns of a line that asks for an approval and is no label. item: it
// is of a list item, where nothing else tells of bold text without a colon.
func (p *parser) plainApproval(at, end int, item bool) {
	line := p.src[at:end]
	if strings.IndexByte(line, '@') < 0 && !strings.Contains(strings.ToLower(line), "required") {
		return
	}
	m := plainLabel.FindStringSubmatchIndex(line)
	if m == nil || m[3]-m[2] != m[9]-m[8] {
		return
	}
	bold, colon := m[3]-m[2] > 1, m[6] != m[7] || m[10] != m[11]
	if bold && (colon || !item) || !bold && !colon {
		return
	}
	name, value := strings.TrimRight(line[m[4]:m[5]], " "), strings.TrimSpace(line[m[12]:m[13]])
	if n, _, ok := lookupNear(name); !ok || n != Approval || !asksApproval.MatchString(value) {
		return
	}
	p.report(diag.Newf("label-form", p.file.Range(at+m[4], at+m[4]+len(name)), "%s is no label: it is not in bold and with a colon", quoted(name)).WithDetail(
		"The line is read as prose, and nobody is asked. Write **Approval**: %s on a line of its own.", clip(value, 60)))
}

// plainControls looks at the lines of a list item that no label is read in.
func (p *parser) plainControls(blocks []block) {
	for i := range blocks {
		b := &blocks[i]
		if b.kind == listBlock || b.kind == itemBlock {
			p.plainControls(b.kids)
		}
		if b.kind != paraBlock {
			continue
		}
		for at, end := int(b.start), int(b.end); at < end; at = nextLine(p.src[:end], at) {
			stop := min(lineEnd(p.src, at), end)
			p.plainApproval(at, stop, true)
			if below := after(blocks, i); at == int(b.start) && nextLine(p.src[:end], at) >= end && below != nil && below.kind == fenceBlock && p.src[at] == '*' {
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
