package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
)

// sectionKind says whose section is read.
type sectionKind uint8

const (
	planSection sectionKind = iota
	phaseSection
	itemSection
)

// reader builds a Section out of the elements below a heading.
type reader struct {
	p     *parser
	s     *Section
	kind  sectionKind
	cur   int  // index in s.Labels of the bold label that is open; -1
	tests int  // index + 1 of the Verify label that takes the commands below text of the section; 0: none
	more  int  // the same of a label that takes lists below such text
	bold  bool // that text is a line in bold, a heading to the reader
	head  int  // of the heading label that is open; -1
	level int  // of that heading

	annotation *Annotation
	lines      int // non-blank lines so far, to judge where an annotation is
	loose      []looseList
	listEnd    int // lines of prose when the last loose list ended
}

// looseList is a list that belongs to no label: items may be tasks.
type looseList struct {
	items    []ListItem
	from, to int // its lines in s.Prose
}

// boxed reports whether a list has check boxes.
func (l *looseList) boxed() bool {
	return slices.ContainsFunc(l.items, func(it ListItem) bool { return it.Box != NoBox })
}

// section reads the elements [from, to) of the stream.
func (p *parser) section(s *Section, kind sectionKind, a *Annotation, from, to int) {
	r := &reader{p: p, s: s, kind: kind, cur: -1, head: -1, annotation: a}
	s.Labels = append(p.labels[:0], s.Labels...)
	for i := from; i < to; i++ {
		r.elem(&p.stream[i], p.below(i, to))
	}
	r.finish()
	s.statuses, p.statuses = p.statuses, nil
	p.labels, s.Labels = s.Labels, slices.Clone(s.Labels) // grown once for all sections
	if len(s.Labels) == 0 {
		s.Labels = nil
	}
}

// below returns the block of the element that follows, before to; nil if there is none.
func (p *parser) below(i, to int) *block {
	if i+1 < to {
		return p.stream[i+1].b
	}
	return nil
}

// elem parses an element; below is the block that follows, or nil.
func (r *reader) elem(e *elem, below *block) {
	b := e.b
	r.boxes(b, e.own)
	switch {
	case b.kind == paraBlock && e.to > 0:
		r.paragraph(int(e.from), int(e.to), below)
	case b.kind == itemBlock && e.own:
		one := *b
		one.kids = one.kids[:min(1, len(one.kids))]
		if len(one.kids) > 0 {
			if one.kids[0].kind == listBlock {
				return // "- - 1.1": the inner list follows by itself
			}
			one.end = one.kids[0].end
		}
		r.block(&one, nil)
	default:
		r.block(b, below)
	}
	if b.kind != htmlBlock {
		r.lines += 1 + strings.Count(r.p.src[b.start:b.end], "\n")
	}
}

// block parses a block, and the labels directly below the lines of a list.
func (r *reader) block(b, below *block) {
	parts := r.p.cutLists(b)
	if parts == nil {
		r.part(b, below)
		return
	}
	for i := range parts {
		r.part(&parts[i], after(parts, i))
	}
}

// after returns the block that follows one of its siblings, or nil.
func after(blocks []block, i int) *block {
	if i+1 < len(blocks) {
		return &blocks[i+1]
	}
	return nil
}

func (r *reader) part(b, below *block) {
	switch b.kind {
	case headingBlock:
		r.heading(b)
	case paraBlock:
		r.paragraph(int(b.start), int(b.end), below)
	case listBlock:
		r.list(b.kids)
	case itemBlock:
		r.list([]block{*b})
	case fenceBlock:
		r.fence(b)
	case htmlBlock:
		r.html(b)
	case ruleBlock:
		r.end()
	default:
		r.verbatim(b)
	}
}

// labelLine reads a label as the section does: a misspelt one that would set
// nothing there if it were spelt right is prose.
func (r *reader) labelLine(at, end int) (lineLabel, bool) {
	l, ok := r.p.labelLine(at, end)
	if l.meant != "" {
		switch r.kind {
		case planSection:
			l.known = l.name == Policy
		case phaseSection:
			l.known = l.name == DependsOn || l.name == Blocks
		}
	}
	return l, ok
}

// active returns the label that takes what follows, or nil.
func (r *reader) active() *Label {
	if r.cur >= 0 {
		return &r.s.Labels[r.cur]
	}
	if r.head >= 0 {
		return &r.s.Labels[r.head]
	}
	return nil
}

func (r *reader) heading(b *block) {
	r.end()
	if r.head >= 0 && int(b.level) <= r.level {
		r.head = -1
	}
	if r.kind == itemSection {
		if l, ok := r.p.headingLabel(b); ok {
			r.add(l)
			r.head, r.level, r.cur = r.cur, int(b.level), -1
			if l.Name.IsScalar() && l.Value.Value != "" { // what stands below it is the item's
				r.head = -1
			}
			return
		}
	}
	line := strings.TrimSpace(r.p.shown(int(b.start), lineEnd(r.p.src, int(b.b))))
	if b.setext {
		line = strings.Repeat("#", int(b.level)) + " " + text.OneLine(r.p.src[b.a:b.b])
	}
	if l := r.active(); l != nil {
		l.Text = append(l.Text, line)
		return
	}
	r.gap()
	r.s.Prose = append(r.s.Prose, line)
}

// add opens a label.
func (r *reader) add(l Label) {
	if l.Meant != "" {
		instead := "**" + l.Meant + "**:"
		if l.From != FromBold {
			instead = l.Meant
		}
		r.p.misspelt(l.Written, l.Meant, l.NameRange, instead)
	}
	l.At = len(r.s.Prose)
	r.s.Labels = append(r.s.Labels, l)
	r.end()
	r.cur = len(r.s.Labels) - 1
}

// paragraph splits src[at:end] at its line breaks into labels and prose.
func (r *reader) paragraph(at, end int, below *block) {
	p := r.p
	if r.kind == itemSection {
		if rows, ok := p.dependencyRows(at, end); ok {
			for _, l := range rows {
				r.add(l)
			}
			r.cur = -1
		}
	}
	first := true
	for at < end {
		stop, next := p.piece(at, end)
		l, ok := r.labelLine(at, stop)
		switch {
		case ok && l.known:
			next = r.labelLines(l, at, stop, next, end, below)
		case ok:
			if r.kind == itemSection {
				p.unknown(l)
				p.innerControls(at, stop)
			}
			r.unknownLabel()
			r.proseLine(at, stop, first)
		default:
			r.nearLine(at, stop, next, end, below)
			for next < end { // up to the next label line
				stop, behind := min(lineEnd(p.src, next), end), nextLine(p.src[:end], next)
				if _, label := p.labelLine(next, stop); label {
					break
				}
				r.nearLine(next, stop, behind, end, below)
				next = behind
			}
			if first {
				r.prose(at, next)
				r.bold = next >= end && p.boldLine(at, next)
			} else {
				r.closeLabel()
				r.s.Prose = p.appendLines(r.s.Prose, at, next)
			}
		}
		at, first = next, false
	}
}

// labelLines parses a known label and the lines of its value; it returns what follows.
func (r *reader) labelLines(l lineLabel, at, stop, next, end int, below *block) int {
	p := r.p
	to := next
	if next < lineEnd(p.src, at) { // another label on the same line
		to = stop
	} else if continues(l.name) {
		to = p.valueEnd(&l, next, end)
	}
	if r.kind == itemSection {
		for line, stop := range p.lines(next, to) {
			r.nearLine(line, stop, nextLine(p.src[:end], line), end, below)
		}
		p.innerControls(l.value, stop)
	}
	r.label(l, at, to)
	return max(next, to)
}

// nearLine looks at a line of a paragraph that is not a label.
func (r *reader) nearLine(at, stop, next, end int, below *block) {
	if r.kind == itemSection {
		r.p.nearLabel(at, stop, next < end || r.p.filled(at, stop, below))
		r.p.plainControl(at, stop, inLine, lastLine(next, end, below))
	}
}

// lastLine returns what follows a paragraph for its last line, else nil.
func lastLine(next, end int, below *block) *block {
	if next < end {
		return nil
	}
	return below
}

// prose takes the lines of a paragraph for the open label or for the section.
func (r *reader) prose(at, end int) {
	p := r.p
	l := r.active()
	if l != nil && (l.From == FromHeading || takesText(l) || goesOn(l, p.src[at:end])) {
		if len(l.Text) > 0 {
			l.Text = append(l.Text, "")
		}
		if l.TextRange.IsZero() {
			l.TextRange = p.file.Range(at, end)
		}
		l.TextRange.End = at + len(strings.TrimRight(p.src[at:end], " \t\r\n"))
		l.Text = p.appendLines(l.Text, at, end)
		return
	}
	r.closeLabel()
	r.gap()
	r.s.Prose = p.appendLines(r.s.Prose, at, end)
}

func takesText(l *Label) bool {
	return l.Value.Value == "" && len(l.Items) == 0 && len(l.Fences) == 0 && len(l.Text) == 0
}

func (r *reader) proseLine(at, stop int, first bool) {
	if first {
		r.gap()
	}
	r.s.Prose = r.p.appendLines(r.s.Prose, at, stop)
}

// gap separates blocks of prose by a blank line.
func (r *reader) gap() {
	if n := len(r.s.Prose); n > 0 && r.s.Prose[n-1] != "" {
		r.s.Prose = append(r.s.Prose, "")
	}
}

// label parses a known label whose lines are src[at:to].
func (r *reader) label(l lineLabel, at, to int) {
	p := r.p
	in := p.plain(l.value, to)
	p.comments(r, in.comments)
	label := Label{Name: l.name, Written: l.written, Meant: l.meant, NameRange: p.rng(l.at), Value: in.Text, From: FromBold}
	label.Lines = p.appendLines(nil, at, to)
	if l.name == Verify {
		label.Value, label.Items = p.commandLines(in.Text)
	}
	r.add(label)
}

// ScenarioWord reports whether a text begins as a scenario does: "**Given** a user, …".
func ScenarioWord(text string) bool {
	w, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, "*_ ")), " ")
	switch strings.TrimRight(w, "*_:,") {
	case "given", "when", "then", "and", "but":
		return true
	}
	return false
}

// goesOn reports whether a paragraph is one more scenario of the acceptance criteria
// above it; the word that it begins with is bold.
func goesOn(l *Label, paragraph string) bool {
	paragraph = strings.TrimLeft(paragraph, " ")
	bold := strings.HasPrefix(paragraph, "**") || strings.HasPrefix(paragraph, "__")
	return l.Name == Acceptance && bold && ScenarioWord(paragraph)
}
