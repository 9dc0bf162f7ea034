package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Where items are check boxes with ids, a box without one is a task of the item that it
// is in. One in the place of an item was probably meant as an item: it is not, and
// named.

// boxScope is an item or a group of a list that is open.
type boxScope struct {
	id    string
	end   int
	parts bool // items are in it: boxes beside them are where items are
}

// bareBoxes is a run of such boxes.
type bareBoxes struct {
	n      int
	at     diag.Range
	id     string // that the first could have
	item   string // the item whose tasks they became; "": none
	elem   int    // the last one
	column int
}

type boxFinder struct {
	p       *parser
	open    []boxScope
	sibling string // the item before, in the same list
	heading string
	level   int // of that heading
	groups  int // level of the last heading with a number; 0: none
	ids     map[string]bool
	misses  map[int]bool // lines that were named already
	runs    []bareBoxes
	total   int
}

// boxesWithoutID warns of them.
func (p *parser) boxesWithoutID() {
	if p.dialect.In != InCheckbox {
		return
	}
	f := boxFinder{p: p, ids: p.candIDs(), misses: lists.SetOf(p.misses, func(m *nearMiss) int { return lineStart(p.src, m.at.Start) })}
	labelled := false // the element above is a label that takes a list
	for i, e := range lists.Each(p.stream) {
		f.close(int(e.b.start))
		switch {
		case e.b.kind == headingBlock:
			f.sibling, f.heading, f.level = "", p.src[e.b.a:e.b.b], int(e.b.level)
			if leadNumber.MatchString(f.heading) {
				f.groups = f.level
			}
		case e.cand >= 0:
			f.candidate(e)
		case e.b.kind == paraBlock:
			f.paragraph(i, e)
		case !labelled:
			f.boxes(i, e.b, e.own)
		}
		labelled = e.b.kind == paraBlock && p.opensList(e.b) || labelled && e.b.kind == itemBlock && e.cand < 0
	}
	for i := range f.runs {
		f.report(&f.runs[i])
	}
	if f.total > len(f.runs) && len(f.runs) == maxMisses {
		last := f.runs[maxMisses-1]
		p.report(diag.New("box-without-id", last.at, "more check boxes have no id").WithDetail(
			"There are %d of these; the first %d are reported. Write ids in front of them, or indent them below the item whose tasks they are.", f.total, maxMisses))
	}
}

// close removes what ends above an offset.
func (f *boxFinder) close(at int) {
	for n := len(f.open); n > 0 && f.open[n-1].end <= at; n-- {
		f.sibling = f.open[n-1].id
		f.open = f.open[:n-1]
	}
}

func (f *boxFinder) candidate(e *elem) {
	c := f.p.candAt(e)
	if c == nil || c.struck {
		return
	}
	if n := len(f.open); n > 0 {
		f.open[n-1].parts = true
	}
	f.open, f.sibling = append(f.open, boxScope{c.key.id, int(e.b.end), false}), ""
}

// within reports whether a box at an offset is a task of the item that it stands in.
func (f *boxFinder) within(at int) bool {
	f.close(at)
	n := len(f.open)
	return n > 0 && !f.open[n-1].parts
}

// boxes looks at a list, or at an item of one.
func (f *boxFinder) boxes(i int, b *block, own bool) {
	if b.kind == itemBlock {
		if f.within(int(b.start)) {
			return
		}
		if at, end, ok := b.first(); ok && f.lines(i, at, end) {
			return // those below it are its own
		}
	}
	for k := range b.kids {
		if !own && (b.kind == listBlock || b.kind == itemBlock) {
			f.boxes(i, &b.kids[k], false)
		}
	}
}

// paragraph looks for lines that are boxes without a bullet.
func (f *boxFinder) paragraph(i int, e *elem) {
	at, end := int(e.b.start), int(e.b.end)
	if e.to > 0 {
		at, end = int(e.from), int(e.to)
	}
	if !f.within(at) {
		f.lines(i, at, end)
	}
}

// lines looks at the lines of a paragraph; it reports whether the first one is a box.
func (f *boxFinder) lines(i, at, end int) bool {
	first := f.box(i, at, end)
	for at := range f.p.lines(nextLine(f.p.src[:end], at), end) {
		f.box(i, at, end)
	}
	return first
}

// box parses a line that begins with a check box, or with what nearly is one.
func (f *boxFinder) box(i, at, end int) bool {
	p := f.p
	end = min(lineEnd(p.src, at), end)
	line := strings.TrimSpace(p.src[at:end])
	m := nearBox.FindStringSubmatch(line)
	if m == nil || f.misses[lineStart(p.src, at)] || strings.HasPrefix(strings.TrimSpace(m[1]), "~~") {
		return false
	}
	in := p.plain(end-len(strings.TrimLeft(p.src[at:end], " \t"))+len(line)-len(m[1]), end)
	if _, ok := p.readTitle(in, &p.phase); ok && !p.phase.none {
		return true // an overview of the groups
	}
	f.total++
	run := bareBoxes{n: 1, at: p.file.Range(at, at+len(strings.TrimRight(p.src[at:end], " \t\r\n"))), elem: i, column: columns(p.src[lineStart(p.src, at):at])}
	above := p.itemAbove(at)
	if above != nil && at < above.Body.Range.End {
		run.item = above.ID
	}
	if n := len(f.runs); n > 0 && f.runs[n-1].elem >= i-1 && f.runs[n-1].item == run.item && f.runs[n-1].column == run.column {
		last := &f.runs[n-1]
		last.n, last.elem, last.at.End = last.n+1, i, run.at.End
		f.total--
		return true
	}
	if len(f.runs) < maxMisses {
		run.id = f.idFor(m[1], above)
		f.runs = append(f.runs, run)
	}
	return true
}

var (
	nearBox    = lazyregexp.New(`^[-*+]?[ \t]*\[[ \t]*(?:[-xXvV✓✔☑✗~/>!])?[ \t]*\]\*?([^(\[:].*|)$`)
	leadNumber = lazyregexp.New(`^\W*(\d+)\b`)
)

// idFor returns an id for a box: the number that it begins with, the one after the item
// before it, the first one of the heading's number, or of the next one.
func (f *boxFinder) idFor(text string, above *Item) string {
	p := f.p
	id := f.sibling
	if m := leadNumber.FindStringSubmatch(text); m != nil && p.item.whole(m[1]) && !f.ids[m[1]] {
		f.ids[m[1]] = true
		return m[1] + "."
	}
	if m := leadNumber.FindStringSubmatch(f.heading); id == "" && m != nil && p.item.whole(m[1]+".0") {
		id = m[1] + ".0"
	}
	if id == "" && above != nil {
		id = above.ID
		if group, _, parts := strings.Cut(id, "."); parts && f.groups > 0 && f.level <= f.groups { // a group without a number
			id = following(group) + ".0"
		}
	}
	id = p.freeID(id, f.ids)
	f.ids[id] = true // another box gets another one
	return p.withStop(id)
}

// following returns an id with the last number one higher: "T010" after "T009".
func following(id string) string {
	end := strings.LastIndexAny(id, "0123456789") + 1
	b := []byte(id[:end])
	i := end - 1
	for ; i >= 0 && b[i] == '9'; i-- {
		b[i] = '0'
	}
	switch {
	case end == 0:
		return ""
	case i < 0 || b[i] < '0' || b[i] > '9':
		return string(b[:i+1]) + "1" + string(b[i+1:])
	}
	b[i]++
	return string(b)
}

func (f *boxFinder) report(run *bareBoxes) {
	what := "It is at the level of items without being one, and belongs to no item: no agent does it."
	if run.item != "" {
		what = "It is at the level of items without being one: it is read as a task of " + clip(run.item, 20) + "."
	}
	if run.n > 1 {
		what = strings.NewReplacer("It is at", "They are at", "being one", "being items", "belongs", "belong", "it is read as a task", "they are read as tasks", "does it", "does them").Replace(what)
	}
	write := "an id of the dialect"
	if run.id != "" {
		write = "an id, such as " + run.id
	}
	f.p.report(diag.Newf("box-without-id", run.at, "%s no id", text.Counted(run.n, "check box has", "check boxes have")).WithDetail(
		"%s Write %s, in front of the text, or indent the line below the item whose task it is.", what, write))
}

// opensList reports whether a list below a paragraph belongs to its last line, a label.
func (p *parser) opensList(b *block) bool {
	at := lineStart(p.src, int(b.end)-1)
	l, ok := p.labelLine(max(at, int(b.start)), int(b.end))
	return ok && l.known && takesLists(&Label{Name: l.name, Value: p.plain(l.value, int(b.end)).Text})
}
