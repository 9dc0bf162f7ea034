package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// Controls that are where no label is read: below a line of a list, within a line, in
// brackets, in a table, in indented code, in a heading beside the item.

// lostControl returns the control that a name is, if its value is one that it could have.
// What dependencies lose is said by checkNear.
func lostControl(written, value string) (LabelName, bool) {
	n, _, ok := lookupNear(strings.TrimSpace(written))
	return n, ok && n.isControl() && !n.IsDependency() && hasForm(n, value)
}

// trimValue takes the marks from around a value.
func trimValue(s string) string { return strings.Trim(s, " \t*_|") }

// lose reports a control in src[at:end] that is read as prose.
func (p *parser) lose(n LabelName, at, end int, why, write string) {
	lost := "the field " + labelWord(n) + " is not set"
	switch n {
	case Approval:
		lost = "nobody is asked"
	case Verify:
		lost = "no command is run"
	}
	p.report(diag.Newf("label-form", p.file.Range(at, end), "%s is not a label: %s", quoted(p.src[at:end]), why).WithDetail(
		"The line is read as prose, and %s. %s", lost, write))
}

func ownLine(n LabelName, value string) string {
	return "Write **" + labelTitle(n) + "**: " + clip(value, 60) + " on a line of its own."
}

// listedControl reports a label in the lines of a list item, where none is read. What
// asks for a person, in the very form of a label, is an error.
func (p *parser) listedControl(at, end int, below *block) {
	l, ok := p.labelLine(p.behindBox(at, end), end)
	if !ok || !l.known || l.meant != "" {
		return
	}
	value, fence := p.valueOr(trimValue(p.src[l.value:end]), l.name, below)
	n, ok := lostControl(l.written, value)
	if !ok && !fence {
		return
	}
	if n == Manual || n == Approval && (strings.Contains(value, "@") || strings.EqualFold(strings.TrimSuffix(value, "."), "required")) {
		p.report(diag.Newf("control-place", p.rng(l.at), "%s is inside a list", quoted(l.written)).WithDetail(
			"The line belongs to that list item, so nobody is asked. Write **%s**: %s on a line of its own below the heading of the item, not indented and above the list. If it is only text, write it without bold and colon.",
			labelTitle(n), clip(value, 60)))
		return
	}
	p.lose(n, l.at.start, l.at.end, "it is inside a list", aboveList(n, value))
}

func aboveList(n LabelName, value string) string {
	return strings.TrimRight("Write **"+labelTitle(n)+"**: "+clip(value, 60), " ") + " on a line of its own below the heading of the item, not indented and above the list."
}

// listedLabel reports a list item below Tasks or Acceptance Criteria that is another label,
// with a value that fits: it becomes a task. listedControl reports those that are controls.
func (r *reader) listedLabel(below *Label, b *block) {
	at, end, ok := b.first()
	if r.kind != itemSection || !ok || below.Name != Tasks && below.Name != Acceptance {
		return
	}
	p := r.p
	end = min(lineEnd(p.src, at), end)
	l, ok := p.labelLine(p.behindBox(at, end), end)
	if !ok || !l.known || l.meant != "" || l.name.isControl() && !l.name.IsDependency() {
		return
	}
	value, _ := p.valueOr(trimValue(p.src[l.value:end]), l.name, after(b.kids, 0))
	names := l.name.IsDependency() && len(b.kids) > 1 && p.names != nil && p.readValue(value).Names != NamesNothing
	if names || hasForm(l.name, value) {
		p.lose(l.name, l.at.start, l.at.end, "it is inside a list", aboveList(l.name, value))
	}
}

// innerControls warns of labels within a line: "do it. **Manual**: yes".
func (p *parser) innerControls(at, end int) {
	start := p.behindBox(at, end)
	for k := start; ; {
		i := strings.Index(p.src[k:end], "**")
		if i < 0 {
			return
		}
		k += i
		if strings.TrimSpace(p.src[start:k]) != "" && strings.Count(p.src[at:k], "`")%2 == 0 {
			if p.loseLabel(k, end, "it is in the middle of a line") {
				return
			}
		}
		k = end - len(strings.TrimLeft(p.src[k:end], "*"))
	}
}

var (
	// bracketed is a label with its name in brackets: "**[Approval]**: value".
	bracketed = lazyregexp.New(`^[ \t]*(?:\[[ xX]\][ \t]*)?\*\*\[(\pL[\pL -]{3,31})\](?:\*\*[ \t]*[:：]|[:：]\*\*)(.*)$`)
	// inRow is a row of two cells.
	inRow = lazyregexp.New(`^[ \t]*\|[ \t]*(\*\*)?(\pL[\pL -]{3,31}?)[:：]?(?:\*\*)?[:：]?[ \t]*\|([^|]+)\|?[ \t]*$`)
)

// oddControl warns of a control in brackets, or in a row of a table.
func (p *parser) oddControl(at, end int) {
	line := strings.TrimRight(p.src[at:end], " \t\r\n")
	if strings.Contains(line, "**[") {
		if m := bracketed.FindStringSubmatchIndex(line); m != nil {
			p.loseValue(span{at + m[2], at + m[3]}, trimValue(line[m[4]:]), "its name is in brackets")
			return
		}
	}
	if strings.IndexByte(line, '|') < 0 {
		return
	}
	if m := inRow.FindStringSubmatchIndex(line); m != nil {
		value := trimValue(line[m[6]:m[7]])
		n, ok := lostControl(line[m[4]:m[5]], value)
		if ok && (m[2] >= 0 || n == Approval && strings.Contains(value, "@")) {
			p.lose(n, at+m[4], at+m[5], "it is in a table", ownLine(n, value))
		}
	}
}

// indented warns of what is code to markdown because four spaces are before it: a
// label, and a command below Verify.
func (p *parser) indented(b *block, l *Label) {
	if l != nil && l.Name == Verify {
		p.report(diag.New("verify-fence", p.file.Range(int(b.start), lineEnd(p.src, int(b.start))), "only sh and bash fences are checks").WithDetail(
			"This code is below %s but is indented, so it is read as prose: no command is run from it. Write it in a fence that begins with ```sh.", l.Written))
		return
	}
	for at, stop := range p.lines(int(b.start), int(b.end)) {
		p.loseLabel(at, stop, "it is indented by four spaces, which is code")
	}
}

// loseLabel reports the control that a line states as a label, where none is read.
func (p *parser) loseLabel(at, end int, why string) bool {
	l, ok := p.labelLine(at, end)
	return ok && p.loseValue(l.at, trimValue(p.src[l.value:end]), why)
}

// loseValue reports a control with this name and a plausible value that is read as prose; false if there is no such control.
func (p *parser) loseValue(name span, value, why string) bool {
	n, ok := lostControl(p.src[name.start:name.end], value)
	if ok {
		p.lose(n, name.start, name.end, why, ownLine(n, value))
	}
	return ok
}

// valueOr returns the value of a control or, where its own line has none, what would be
// it: the line that follows, or the fence of a command.
func (p *parser) valueOr(value string, n LabelName, below *block) (_ string, fence bool) {
	if value != "" {
		return value, false
	}
	for below != nil && (below.kind == listBlock || below.kind == itemBlock) && len(below.kids) > 0 {
		below = &below.kids[0]
	}
	switch {
	case below == nil:
	case below.kind == paraBlock:
		value = trimValue(p.src[below.start:min(lineEnd(p.src, int(below.start)), int(below.end))])
	case below.kind == fenceBlock && n == Verify:
		f := p.fenceOf(below)
		return "", f.Lang == "sh" || f.Lang == "bash"
	}
	return value, false
}

// headingBeside warns of a heading that is a label and is beside the item instead of
// below it: it ends the item. ends: nothing was between. Labels that are no controls head
// sections of other documents, too.
func (p *parser) headingBeside(b, below *block, ends bool) {
	l, ok := p.headingLabel(b)
	if !ok {
		return
	}
	value, fence := p.valueOr(l.Value.Value, l.Name, below)
	switch {
	case l.Name.isControl() && !l.Name.IsDependency():
		ok = fence || hasForm(l.Name, value)
	default:
		ok = ends && l.Meant == "" && p.fitsBeside(&l, value, below)
	}
	if !ok {
		return
	}
	p.lose(l.Name, l.NameRange.Start, l.NameRange.End, "its heading ends the item",
		"A heading inside an item is deeper than the item's own. Write "+strings.Repeat("#", min(6, int(b.level)+1))+" "+labelTitle(l.Name)+", or **"+labelTitle(l.Name)+"**: as a line of the item.")
}

// fitsBeside reports whether a heading that is a label, or what is below it, has what the
// label takes.
func (p *parser) fitsBeside(l *Label, value string, below *block) bool {
	switch {
	case hasForm(l.Name, value):
		return true
	case l.Name.IsDependency():
		return p.names != nil && value != "" && len(value) <= maxPlainValue && p.readValue(value).Names != NamesNothing
	case l.Name == Tasks, l.Name == Acceptance:
		return l.Value.Value != "" || below != nil && (below.kind == listBlock || below.kind == itemBlock)
	}
	return shapeOf(l.Name) == prose && l.Value.Value != ""
}
