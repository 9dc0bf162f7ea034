package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// elem is a step in the linear reading of a plan: a block, or the part of a
// list, paragraph or table that an item inside it leaves over.
type elem struct {
	b        *block
	from, to int32 // part of a paragraph; 0, 0: all of it
	cand     int32 // index in parser.cands; -1
	own      bool  // of a list item only its first paragraph: its children follow
	apart    bool  // it ends the item before it, and belongs to no section
}

// cand is what looks like an item or a group.
type cand struct {
	title
	elem   int // index in parser.stream
	phase  bool
	level  int // 7: no heading
	row    *tableRow
	line   span // heading's text, first line or row, in the file
	parent int  // element of the heading above it; -1
	group  int  // index in parser.cands of the group it stands in, or that its id names; -1
	prose  bool // turned out to be none
	twice  bool // another one has its id, which is reported
	filled bool // group: contains items
	inItem bool // group: is below the heading of an item
	leads  bool // item: also names the group of the parts that follow it

	split     bool // a plain number: the group of the lettered ones below it
	within    int  // index in parser.cands + 1 of such a one above it
	cancelled int  // index in parser.cands of the struck-through group it stands in; -1
	index     int  // in Plan.Items or Plan.Phases
	slot      Slot
	box       Box // of a checkbox or bold item
	boxAt     diag.Range
}

// read makes the stream out of the blocks.
func (p *parser) read(blocks []block) {
	p.stream = make([]elem, 0, len(blocks))
	if p.dialect.In == InHeading {
		p.cands = make([]cand, 0, lists.Count(blocks, func(b *block) bool { return b.kind == headingBlock }))
	}
	for _, b := range lists.Each(blocks) {
		if b.kind == paraBlock {
			p.unspaced(b)
			p.oddBoxes(int(b.start), int(b.end))
		}
		switch {
		case b.kind == headingBlock:
			p.heading(b)
		case b.kind == listBlock && (p.dialect.In == InCheckbox || p.dialect.In == InBold || p.dialect.In == InTodo):
			p.list(b)
		case b.kind == paraBlock && p.dialect.In == InBold:
			p.boldLines(b, int(b.start))
		case b.kind == paraBlock && p.dialect.In == InTable:
			p.tableItems(b)
		default:
			p.push(elem{b: b, cand: -1})
		}
	}
}

func (p *parser) push(e elem) int {
	p.stream = append(p.stream, e)
	return len(p.stream) - 1
}

func (p *parser) addCand(c cand, e elem) {
	c.elem = len(p.stream)
	c.parent, c.group, c.cancelled = -1, -1, -1
	e.cand = int32(len(p.cands))
	p.push(e)
	p.cands = append(p.cands, c)
}

func (p *parser) heading(b *block) {
	in := p.plain(int(b.a), int(b.b))
	for phase, m := range p.headingMatchers() {
		t, ok := p.titleOf(in, m, true)
		if ok {
			p.controls(in)
			p.addCand(cand{title: t, phase: phase, level: int(b.level), line: span{int(b.a), int(b.b)}, slot: p.ownLine(int(b.end))},
				elem{b: b, cand: -1})
			return
		}
		p.missed(in, m, int(b.level))
	}
	if p.dialect.In == InHeading {
		p.nearTitle(in, false, int(b.level))
		p.look(in)
	}
	p.nearTitle(in, true, int(b.level))
	p.wordTitle(in, int(b.level))
	p.push(elem{b: b, cand: -1})
}

// ownLine is the slot for a line of its own below the line that ends at end.
func (p *parser) ownLine(end int) Slot {
	next := nextLine(p.src, end)
	eol := eolAt(p.src, end)
	if next == len(p.src) && !strings.HasSuffix(p.src, "\n") {
		return Slot{Offset: next, Form: OwnLine, Prefix: eol}
	}
	return Slot{Offset: next, Form: OwnLine, Suffix: eol}
}

// list reads a list that may contain items; it reports whether it does.
func (p *parser) list(b *block) bool {
	at, cands, found := len(p.stream), len(p.cands), false
	for i := range b.kids {
		found = p.listItem(&b.kids[i]) || found
	}
	if !found {
		p.stream, p.cands = p.stream[:at], p.cands[:cands]
		p.push(elem{b: b, cand: -1})
	}
	return found
}

func (p *parser) listItem(b *block) bool {
	if _, _, ok := b.first(); !ok {
		return p.kidsOf(b, b.kids) >= 0
	}
	para := &b.kids[0]
	if p.dialect.In == InTodo && p.emptyBox(para) {
		p.kids(b.kids[1:])
		return true
	}
	if c, ok := p.lineItem(int(para.start), int(para.end)); ok {
		p.addCand(c, elem{b: b, cand: -1})
		p.restOfParagraph(para, int(para.start))
		if p.dialect.In != InTodo {
			p.kids(b.kids[1:])
			return true
		}
		for i := range b.kids[1:] { // boxes inside it are its tasks
			p.push(elem{b: &b.kids[1+i], cand: -1})
		}
		return true
	}
	p.oddBoxes(nextLine(p.src[:para.end], int(para.start)), int(para.end))
	if below := p.boldBelow(b); below >= 0 {
		head, tail := p.cutAt(b, below)
		p.push(elem{b: &head, cand: -1, own: true})
		p.boldLines(&tail[0], below)
		p.kids(b.kids[1:])
		return true
	}
	at := p.kidsOf(b, b.kids[1:])
	if at >= 0 && p.dialect.In == InTodo {
		p.stream[at].apart = true
		p.aboveBoxes = append(p.aboveBoxes, p.plain(int(para.start), int(para.end)).Range)
	}
	return at >= 0
}

// kidsOf reads the children of a list item that is not an item itself, and returns its element; -1 if none of them is an item.
func (p *parser) kidsOf(b *block, kids []block) int {
	at := p.push(elem{b: b, cand: -1, own: true})
	if p.kids(kids) {
		return at
	}
	p.stream = p.stream[:at]
	p.push(elem{b: b, cand: -1})
	return -1
}

// boldBelow returns the offset of the first bold item directly below the lines
// of a list item's first paragraph; -1 if there is none.
func (p *parser) boldBelow(b *block) int {
	if p.dialect.In != InBold {
		return -1
	}
	one := *b
	one.kids = b.kids[:1]
	return p.lazyLine(&one, func(at, stop int) bool {
		_, ok := p.lineItem(at, stop)
		return ok
	})
}

func (p *parser) kids(kids []block) (found bool) {
	for i := range kids {
		if k := &kids[i]; k.kind == listBlock {
			found = p.list(k) || found
		} else {
			p.push(elem{b: k, cand: -1})
		}
	}
	return found
}

func (p *parser) restOfParagraph(para *block, at int) {
	if next := nextLine(p.src[:para.end], at); next < int(para.end) {
		if p.dialect.In == InBold {
			p.boldLines(para, next)
			return
		}
		p.oddBoxes(next, int(para.end))
		p.push(elem{b: para, from: int32(next), to: para.end, cand: -1})
	}
}

// boldLines reads the lines of a paragraph from an offset on.
func (p *parser) boldLines(b *block, at int) {
	start, end := at, int(b.end)
	for at := range p.lines(at, end) {
		if c, ok := p.lineItem(at, end); ok {
			if at > start {
				p.push(elem{b: b, from: int32(start), to: int32(at), cand: -1})
			}
			start = nextLine(p.src[:end], at)
			p.addCand(c, elem{b: b, from: int32(at), to: int32(start), cand: -1})
		}
	}
	if start < end {
		p.push(elem{b: b, from: int32(start), to: int32(end), cand: -1})
	}
}

// lineItem reads the line at as a checkbox or bold item.
func (p *parser) lineItem(at, end int) (cand, bool) {
	end = min(lineEnd(p.src, at), end)
	at = trimmed(p.src, at, end).start
	box, after := boxAt(p.src[at:end])
	c := cand{level: 7, box: box}
	if box != NoBox {
		c.boxAt = p.file.Range(at, at+3)
		c.optional = after == starredBox
		at += after
	} else if p.dialect.In == InCheckbox || p.dialect.In == InTodo {
		p.oddBox(at, end)
		p.withoutBox(at, end)
		return c, false
	}
	rest := strings.TrimLeft(p.src[at:end], "~ ")
	if p.dialect.In == InBold && !strings.HasPrefix(rest, "**") && !strings.HasPrefix(rest, "__") {
		return c, false
	}
	if p.dialect.In == InTodo {
		if n := stamp(p.src[at:end]); !onlyComments(p.src[at+n : end]) {
			at += n
		}
	}
	in := p.plain(at, end)
	if in.unclosed >= 0 { // a comment continues in the next line
		end = in.unclosed
		in = p.plain(at, end)
	}
	t, ok := p.readTitle(in, &p.item)
	if !ok && p.dialect.In == InTodo { // which needs no id
		t, ok = p.freeTitle(in), true
	}
	if !ok || p.dialect.In == InCheckbox && t.wholeNumber() {
		if p.dialect.In == InBold {
			p.nearTitle(in, false, 7)
		}
		p.missed(in, &p.item, 7)
		return c, false
	}
	p.controls(t.in)
	t.optional = t.optional || c.optional
	c.title = t
	c.line = span{t.in.Range.Start, t.in.Range.End}
	c.slot = Slot{Offset: max(at, trimmed(p.src, at, end).end), Form: LineEnd, Prefix: " "}
	return c, true
}

// starredBox is how long a check box with a star is.
const starredBox = len("[ ]* ")

// wholeNumber reports whether the id is a number without keyword, and no full stop
// follows it: "5 verbs work" begins with no id.
func (t *title) wholeNumber() bool {
	v := t.in.Value[t.keyAt.start:]
	return t.keyword == "" && strings.Trim(t.key.id, "0123456789") == "" && !strings.HasPrefix(strings.TrimPrefix(v[t.key.n:], "*"), ".")
}

// boxAt reads a check box at the beginning of s: its state, and where what
// follows it begins. A star after it ("- [ ]* 1.2", Kiro's mark of an optional
// task) is part of it.
func boxAt(s string) (Box, int) {
	if len(s) > 4 && s[3] == '*' && (s[4] == ' ' || s[4] == '\t') {
		box, n := boxAt(s[:3])
		if box != NoBox {
			n = starredBox
		}
		return box, n
	}
	if len(s) < 3 || s[0] != '[' || s[2] != ']' || len(s) > 3 && s[3] != ' ' && s[3] != '\t' && s[3] != '\r' && s[3] != '\n' {
		return NoBox, 0
	}
	n := min(4, len(s))
	switch s[1] {
	case 'x', 'X':
		return Ticked, n
	case ' ', '-', '~', '/', '>', '!', '\t':
		return Open, n
	}
	return NoBox, 0
}

// controls warns of control characters in a title; they are not in its text.
func (p *parser) controls(in inline) {
	if in.control < 0 {
		return
	}
	r := []rune(p.src[in.control:min(len(p.src), in.control+4)])[0]
	p.report(diag.New("control-character", p.file.Range(in.control, in.control+len(string(r))), "a title has a control character").WithDetail(
		"The character U+%04X is invisible, or controls the terminal. It was left out of the title. Delete it.", r))
}

// behindBox returns where the text begins after the check box at, if there is one.
func (p *parser) behindBox(at, end int) int {
	_, n := boxAt(p.src[at:end])
	return at + n
}
