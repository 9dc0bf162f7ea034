package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// In an item a list item, or a part of one between "|", that is nothing but a
// dependency label's name, a colon and a value that names items is that label,
// without bold: "- Owner: ana | Depends on: 1.1". A value that names nothing counts
// only beside a part that names something or is bold.

// Named is what a value can name: an item or a group of the plan.
type Named struct {
	ID, Title string
	Names     []string // further ids
	Word      string   // of a group: "Week"
}

// Reading is the reading of a dependency label's value.
type Reading struct {
	Names Value
	Tail  int // offset of the text that says nothing, after all that does or nearly does
}

// Value is what a dependency label's value names.
type Value uint8

// What a value names. Nothing also where it is prose.
const (
	NamesNothing Value = iota
	NamesItems         // items or groups, and no part of it is anything else
	NamesUnknown       // what looks like one and does not exist
)

// plainPart is a part of a list item.
type plainPart struct {
	at, stop int
	bold     bool      // it is a bold label, known or not
	name     LabelName // "": it is not a plain label
	written  span
	value    int
	items    []block // of a list below an empty value
	is       bool    // it is a label
}

// plainItem parses a list item whose parts are labels, some of them without bold. One
// that has no bold part and holds other text, too, stays where it is.
func (r *reader) plainItem(b *block) bool {
	parts, below := r.plainParts(b)
	whole, bold := r.p.judge(parts)
	if !whole && !bold {
		r.plainLabels(parts)
		return false
	}
	p := r.p
	for i, part := range lists.Each(parts) {
		l, ok := r.labelLine(part.at, part.stop)
		switch {
		case part.is:
			r.plainLabel(part)
		case ok && l.known:
			p.innerControls(l.value, part.stop)
			r.label(l, part.at, part.stop)
		default:
			if ok {
				p.unknown(l)
			}
			r.cur = -1
			r.proseLine(part.at, part.stop, i == 0)
		}
	}
	r.cur = -1
	for i := range below {
		r.block(&below[i], nil)
	}
	return true
}

// plainBelow parses a list item below a label, which stays open, if it is nothing but
// dependency labels without bold, or one in bold.
func (r *reader) plainBelow(b *block) bool {
	parts, below := r.plainParts(b)
	if parts == nil {
		parts = r.boldPart(b)
	}
	whole, _ := r.p.judge(parts)
	r.plainLabels(parts)
	return whole && len(below) == 0
}

// plainInner parses the dependency labels of the lists in a list item, in bold and
// without, that name items. Their text stays where it is.
func (r *reader) plainInner(b *block) {
	for i := range b.kids {
		for k := range b.kids[i].kids {
			if inner := &b.kids[i].kids[k]; b.kids[i].kind == listBlock {
				parts, _ := r.plainParts(inner)
				if parts == nil {
					parts = r.boldPart(inner)
				}
				r.p.judge(parts)
				r.plainLabels(parts)
				r.plainInner(inner)
			}
		}
	}
}

// boldPart returns a list item that is one dependency label in bold as the part that it
// would be without; else nil.
func (r *reader) boldPart(b *block) []plainPart {
	p := r.p
	at, stop, ok := b.first()
	if r.kind != itemSection || len(b.kids) != 1 || !ok {
		return nil
	}
	l, ok := p.labelLine(at, min(lineEnd(p.src, at), stop))
	if !ok || !l.known || l.meant != "" || !l.name.IsDependency() {
		return nil
	}
	return []plainPart{{at: at, stop: stop, name: l.name, written: l.at, value: l.value}}
}

// plainLabels adds the labels among some parts and leaves the open label open.
func (r *reader) plainLabels(parts []plainPart) {
	defer r.keepOpen()()
	for i := range parts {
		if parts[i].is {
			r.plainLabel(&parts[i])
		}
	}
}

// plainParts cuts the first paragraph of a list item of an item's section; nil if
// no part reads like a dependency label without bold. below is what else the list
// item holds, but for the list that is the value of its last part.
func (r *reader) plainParts(b *block) (parts []plainPart, below []block) {
	at, end, ok := b.first()
	if r.kind != itemSection || !ok {
		return nil, nil
	}
	p := r.p
	if parts = p.plainParts(p.behindBox(at, end), end); parts == nil {
		return nil, nil
	}
	below = b.kids[1:]
	if last := &parts[len(parts)-1]; last.name != "" && last.value >= last.stop && len(below) > 0 && below[0].kind == listBlock {
		last.items, below = below[0].kids, below[1:]
	}
	return parts, below
}

func (r *reader) plainLabel(part *plainPart) {
	p := r.p
	l := Label{Name: part.name, Written: p.src[part.written.start:part.written.end], NameRange: p.rng(part.written), Value: p.plain(part.value, part.stop).Text, From: FromPlain}
	l.Lines = p.appendLines(nil, part.at, part.stop)
	for i := range part.items {
		l.Items = append(l.Items, p.listItemOf(&part.items[i]))
	}
	r.add(l)
}

// plainParts cuts src[at:end] at its bars; nil if no part reads like a dependency
// label without bold.
func (p *parser) plainParts(at, end int) (parts []plainPart) {
	if strings.IndexByte(p.src[at:end], ':') < 0 && !strings.Contains(p.src[at:end], "：") {
		return nil
	}
	found, code := false, false
	for i := at; i <= end; i++ {
		switch {
		case i < end && p.src[i] == '`':
			code = !code
		case i+1 < end && p.src[i] == '\\':
			i++
		case i == end || p.src[i] == '|' && !code:
			part := p.plainPart(at, min(i, end))
			found = found || part.name != ""
			if parts = append(parts, part); len(parts) > maxCells {
				return nil
			}
			at = i + 1
		}
	}
	if !found {
		return nil
	}
	return parts
}

// longestPlain bounds the name of a label without bold.
const longestPlain = 40

func (p *parser) plainPart(at, stop int) plainPart {
	text := trimmed(p.src, at, stop)
	at, stop = text.start, text.end
	part := plainPart{at: at, stop: stop}
	if at == stop {
		return part
	}
	if strings.IndexByte("dDpPaAbBuUrR", p.src[at]) < 0 { // no dependency label begins otherwise
		_, part.bold = p.labelLine(at, stop)
		return part
	}
	s := p.src[at:min(stop, at+longestPlain)]
	k, width := strings.IndexByte(s, ':'), 1
	if k < 0 {
		k, width = strings.Index(s, "："), len("：")
	}
	if k < 0 || strings.ContainsAny(s[:k], "`*()[]\n") {
		return part
	}
	if n, ok := LookupLabel(s[:k]); ok && n.IsDependency() {
		part.name, part.written, part.value = n, span{at, at + len(strings.TrimRight(s[:k], " \t"))}, at+k+width
	}
	return part
}

// judge decides which parts are labels. whole: all of them are, none is bold; bold: one is
// bold.
func (p *parser) judge(parts []plainPart) (whole, bold bool) {
	named := false
	for _, part := range lists.Each(parts) {
		bold = bold || part.bold
		if part.name != "" {
			part.is = p.namesItems(part)
			named = named || part.is
		}
	}
	whole = len(parts) > 0
	for _, part := range lists.Each(parts) {
		part.is = part.name != "" && (part.is || named || bold)
		whole = whole && part.is
	}
	return whole, bold
}

// namesItems reports whether the value of a part names items.
func (p *parser) namesItems(part *plainPart) bool {
	value := strings.TrimSpace(p.src[part.value:part.stop])
	at := p.file.Range(part.written.start, part.stop)
	for i := range part.items {
		from, to, ok := part.items[i].first()
		if !ok || len(part.items[i].kids) != 1 {
			return false
		}
		value += "\n" + p.src[from:to]
	}
	if value == "" || p.names == nil || len(value) > maxPlainValue {
		return false
	}
	what := p.readValue(value).Names
	if what == NamesUnknown && len(part.items) == 0 {
		p.report(diag.Newf("dependency-near-miss", at, "%s is read as prose", quoted(clip(p.src[at.Start:at.End], 40))).WithDetail(
			"The line reads like a dependency, but it names something that is not an item of the plan, so it makes none. To make one, write the id. Ignore this if the line is text."))
	}
	return what == NamesItems
}

// readValue reads the value of a dependency label; p.names is there.
func (p *parser) readValue(value string) Reading {
	if p.reads == nil {
		p.reads = p.names(p.named())
	}
	return p.reads(value)
}

// maxPlainValue bounds the values of labels without bold.
const maxPlainValue = 4096

// named lists what values can name.
func (p *parser) named() (items, groups []Named) {
	list := func(phase bool) (out []Named) {
		for _, c := range p.live(phase) {
			out = append(out, Named{c.key.id, c.text.Value, p.allNames(c)[1:], c.keyword})
		}
		return out
	}
	return list(false), list(true)
}

// lineLabels takes the labels without bold out of the line of a list item that is an
// item: "- **Task 2: Lexer** | Depends on: 1". What they leave is the title, if nothing
// else follows a bar.
func (p *parser) lineLabels(it *Item, c *cand) {
	title := c.text.Range
	if c.level != 7 || c.row != nil || title.Start < c.line.start || title.End > c.line.end || strings.IndexByte(c.text.Value, '|') < 0 {
		return
	}
	parts := p.plainParts(title.Start, title.End)
	if len(parts) < 2 {
		return
	}
	parts[0].name = ""
	parts[0].bold = strings.Contains(p.src[c.line.start:title.Start], "**")
	p.judge(parts)
	r := &reader{p: p, s: &it.Body, kind: itemSection, cur: -1, head: -1}
	whole := strings.Count(c.text.Value, "|") == len(parts)-1
	for i := range parts[1:] {
		if parts[1+i].is {
			r.plainLabel(&parts[1+i])
		} else {
			whole = false
		}
	}
	if whole {
		in := inline{Text: c.text}
		t := in.text(0, strings.IndexByte(c.text.Value, '|'))
		it.Title, it.TitleRange = t.Value, t.Range
	}
}
