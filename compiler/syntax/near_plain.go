package syntax

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// plainLabel is a line that would be a label with more or other marks: "Approval:
// value", "*Approval*: value", "**`Approval`**: value", "###Approval: value".
var plainLabel = regexp.MustCompile("^[ \\t]*(?:\\[[ xX]\\][ \\t]*)?(?:#+[ \\t]*)?([*_`]{0,4})(\\pL[\\pL -]{3,31})([:：]?)([*_`]{0,4})[ \\t]*([:：]?)(.*)$")

// asksApproval is the form of an approval's value.
var asksApproval = regexp.MustCompile(`(?i)^(?:required\b|requested from @|(?:from|by|of) @|@\w)`)

// controlForms are the values that tell a control from a remark in plain text.
var controlForms = map[LabelName]*regexp.Regexp{
	Approval:    asksApproval,
	Manual:      regexp.MustCompile(`(?i)^(?:yes|true)$`),
	Complexity:  regexp.MustCompile(`(?i)^(?:trivial|simple|standard|critical)$`),
	Access:      regexp.MustCompile(`(?i)^(?:read|write)$`),
	Verify:      regexp.MustCompile("^`(?:[^`]*[^` ] [^`]*|[^`./]+)`$"), // a command; no file
	DevAgents:   regexp.MustCompile("^`[^`]+`"),
	QAAgents:    regexp.MustCompile("^`[^`]+`"),
	Owns:        regexp.MustCompile("^(?:`[^`]+`|[^\\s`,]*[/*][^\\s`,]*)(?:,[ \\t]*(?:`[^`]+`|[^\\s`,]*[/*][^\\s`,]*))*$"),
	Policy:      regexp.MustCompile(`^[a-z][a-z0-9_-]*$`),
	Capability:  regexp.MustCompile(`^[a-z][a-z0-9_-]*$`),
	LabelsLabel: regexp.MustCompile(`\bashep:`),
}

// plainControl warns of a line that would set a control and is no label. item: it is of
// a list item, where nothing else tells of bold text without a colon.
func (p *parser) plainControl(at, end int, item bool) {
	line := strings.TrimRight(p.src[at:end], " \t\r\n")
	m := plainLabel.FindStringSubmatchIndex(line)
	if m == nil {
		return
	}
	open, closed := line[m[2]:m[3]], line[m[8]:m[9]]
	bold, colon := open == closed && len(open) > 1 && !strings.Contains(open, "`"), m[6] != m[7] || m[10] != m[11]
	if bold && (colon || !item) || !bold && !colon || open != closed && strings.Contains(line[m[12]:], open) {
		return
	}
	name, value := strings.TrimRight(line[m[4]:m[5]], " "), strings.Trim(line[m[12]:m[13]], " \t*_")
	n, meant, ok := lookupNear(name)
	if form := controlForms[n]; !ok || form == nil || !form.MatchString(strings.TrimSuffix(value, ".")) {
		return
	}
	at += m[4]
	if meant != "" && colon && strings.HasPrefix(open, "**`") && len(open) == len(closed) {
		p.misspelt(name, meant, p.file.Range(at, at+len(name)), "**"+meant+"**:")
		return
	}
	lost := "the field " + labelWord(n) + " is not set"
	if n == Approval {
		lost = "nobody is asked"
	}
	p.report(diag.Newf("label-form", p.file.Range(at, at+len(name)), "%s is no label: it is not in bold and with a colon", quoted(name)).WithDetail(
		"The line is read as prose, and %s. Write **%s**: %s on a line of its own.", lost, labelTitle(n), clip(value, 60)))
}

// labelTitle is how a label is written.
func labelTitle(n LabelName) string {
	i := slices.IndexFunc(labelSpecs, func(s labelSpec) bool { return s.name == n })
	return labelSpecs[i].written[0]
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
			p.plainControl(at, stop, true)
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
