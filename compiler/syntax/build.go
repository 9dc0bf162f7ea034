package syntax

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// owner is the kind of section that an element belongs to.
type owner uint8

const (
	nobody owner = iota
	thePlan
	aPhase
	anItem
	aGroupAgain
	aSplit
)

// builder makes phases, items and sections out of the classified stream.
type builder struct {
	p     *parser
	title int          // element of the plan's title; -1
	top   int          // level of the items: that of the first one
	near  map[int]bool // elements of headings that nearly are items
	said  []said       // below headings that repeat a group's id
	own   owner
	begin int       // first element of the open section
	level int       // of the open item's heading, 7 if it has none
	path  [7]string // headings above, by level
	rest  []int     // elements of no section
	lead  int       // number of items when one was made whose first part is the next; 0: none
}

// build makes the tree. from is the offset of the first markdown. It reports
// whether the plan is within its limits.
func (p *parser) build(from int) bool {
	if p.dialect.In == InFrontMatter {
		return p.buildListed(from)
	}
	b := &builder{p: p, title: p.findTitle(), near: map[int]bool{}}
	items := 0
	for _, c := range p.live(false) {
		if items++; items == 1 {
			b.top = c.level
		}
	}
	for _, m := range p.misses {
		if !m.phase {
			b.near[m.elem] = true
		}
	}
	if items > p.limits.Items {
		p.tooManyItems(items, from)
		return false
	}
	p.plan.Items = make([]Item, 0, items)
	b.setTitle(from)
	if b.title < 0 {
		b.own, b.begin = thePlan, 0
	}
	for i := range p.stream {
		b.step(i)
	}
	b.close(len(p.stream))
	b.leftovers()
	p.members()
	p.implicitPhases()
	p.pathsInLists()
	b.speakFor()
	p.checkPhases()
	return true
}

func (p *parser) tooManyItems(n, from int) {
	p.report(diag.New("too-many-items", p.file.Range(from, from), "the plan has too many items").WithDetail(
		"It has %d; the limit is %d. Split it into several plans.", n, p.limits.Items))
}

func (b *builder) setTitle(from int) {
	p := b.p
	p.plan.TitleRange = p.file.Range(from, from)
	if b.title < 0 {
		eol := eolAt(p.src, 0)
		p.plan.EpicSlot = Slot{Offset: from, Form: OwnLine, Suffix: eol}
		if from > 0 && from == len(p.src) && !strings.HasSuffix(p.src, "\n") && from > afterBOM(p.file.Bytes) {
			p.plan.EpicSlot.Prefix, p.plan.EpicSlot.Suffix = eol, ""
		}
		p.plan.Title = p.plan.FrontMatter.Title.Value
		return
	}
	h := p.stream[b.title].b
	in := p.plain(int(h.a), int(h.b))
	p.controls(in)
	v := in.Value
	if k := strings.LastIndex(v, "{#"); k > 0 && strings.HasSuffix(v, "}") {
		v = strings.TrimRight(v[:k], " ")
	}
	p.plan.Title, p.plan.TitleRange = v, in.Range
	p.plan.EpicSlot = p.ownLine(int(h.end))
	p.comments(&reader{p: p, s: &p.plan.Section, kind: planSection, cur: -1, head: -1}, in.comments)
}

// step takes the next element.
func (b *builder) step(i int) {
	p := b.p
	e := &p.stream[i]
	c := p.candAt(e)
	heading := e.b.kind == headingBlock
	if heading {
		b.heading(i, e, c)
	}
	switch {
	case e.apart && b.own == anItem:
		b.close(i)
	case c == nil && !heading:
		if e.cand >= 0 {
			e.own = e.b.kind == itemBlock // its children follow by themselves
		}
		if b.own == nobody {
			b.rest = append(b.rest, i)
		}
	case c != nil && c.struck:
		b.close(i)
	case c != nil && c.phase:
		b.close(i)
		b.addPhase(c)
		b.own, b.begin = aPhase, i+1
	case c != nil:
		b.close(i)
		b.addLead(c)
		b.addItem(c)
		b.own, b.begin, b.level = anItem, i+1, c.level
	case i == b.title:
		b.close(i)
		b.own, b.begin = thePlan, i+1
	case p.splitTitle(e) != nil:
		b.close(i)
		b.addSplit(p.splitTitle(e))
		b.own, b.begin = aSplit, i+1
	case p.wordGroup(i) != nil:
		b.close(i)
		b.addWordGroup(p.wordGroup(i))
		b.own, b.begin = aPhase, i+1
	case b.own == anItem && int(e.b.level) > b.level && b.level < 7 && !(b.near[i] && int(e.b.level) <= b.top):
		// a heading inside the item
	default:
		if b.own != aPhase && b.own != thePlan && int(e.b.level) == b.level {
			p.headingBeside(e.b, p.below(i, len(p.stream)), b.own == anItem)
		}
		b.close(i)
		if p.repeating[i] != "" {
			b.own, b.begin = aGroupAgain, i+1
		}
	}
}

// heading keeps the path.
func (b *builder) heading(i int, e *elem, c *cand) {
	level := int(e.b.level)
	text := ""
	switch {
	case i == b.title:
	case c != nil:
		text = c.path
	default:
		text = b.p.plain(int(e.b.a), int(e.b.b)).Value
	}
	clear(b.path[level:])
	if text != "" {
		b.path[level] = strings.Repeat("#", level) + " " + text
	}
}

// close ends the open section at element i.
func (b *builder) close(i int) {
	p := b.p
	switch b.own {
	case thePlan:
		p.section(&p.plan.Section, planSection, nil, b.begin, i)
		p.plan.Section.Range = p.extent(b.begin, i, p.plan.TitleRange.End)
	case aPhase:
		ph := &p.plan.Phases[len(p.plan.Phases)-1]
		p.section(&ph.Section, phaseSection, nil, b.begin, i)
		ph.Section.Range = p.extent(b.begin, i, ph.Range.End)
	case anItem:
		it := &p.plan.Items[len(p.plan.Items)-1]
		p.section(&it.Body, itemSection, &it.Annotation, b.begin, i)
		it.Body.Range = p.extent(b.begin, i, it.Range.End)
	case aGroupAgain:
		b.closeAgain(i)
	case aSplit:
		b.closeSplit(i)
	}
	b.own = nobody
}

// extent returns the range of the elements [from, to), which begin after at.
func (p *parser) extent(from, to, at int) diag.Range {
	end := at
	for i := from; i < to; i++ {
		end = max(end, int(p.stream[i].b.end))
	}
	return p.file.Range(at, end)
}

func (b *builder) addPhase(c *cand) {
	ph := b.group(c)
	c.index = len(b.p.plan.Phases)
	b.p.plan.Phases = append(b.p.plan.Phases, ph)
}

// group makes a group of its heading.
func (b *builder) group(c *cand) Phase {
	p := b.p
	ph := Phase{
		ID: c.key.id, IDRange: p.keyRange(c), Names: p.furtherNames(c), Keyword: c.keyword, Name: c.text.Value, NameRange: c.text.Range,
		Range: c.in.Range, Level: c.level, StruckTitle: c.strikeIn,
		Optional: c.optional,
	}
	ph.Path = "- " + c.path
	if c.level < 7 {
		ph.Path = b.path[c.level]
	}
	if c.key.n == 0 {
		ph.IDRange = p.file.Range(c.in.Range.Start, c.in.Range.Start)
	}
	if c.done {
		ph.Done, ph.DoneBy, ph.doneAt = true, "heading", c.doneAt
	}
	return ph
}

// addLead makes the group of an item's parts, and remembers the item until the
// first of them is made.
func (b *builder) addLead(c *cand) {
	p := b.p
	if n := len(p.plan.Items); n > 0 && b.lead == n {
		p.plan.Items[n-1].FirstPart = n
	}
	if !c.leads {
		return
	}
	b.addPhase(c)
	ph := &p.plan.Phases[c.index]
	ph.Led, ph.Section.Range = true, p.file.Range(ph.Range.End, ph.Range.End)
	b.lead = len(p.plan.Items) + 1
}

func (b *builder) addItem(c *cand) {
	p := b.p
	it := Item{
		ID: c.key.id, KeyRange: p.keyRange(c), Names: p.furtherNames(c), Keyword: c.keyword, Title: c.text.Value, TitleRange: c.text.Range,
		Range: c.in.Range, Level: c.level, Kind: c.kind, Parallel: c.parallel, ParallelMark: c.parAt,
		Tags: c.tags, Optional: c.optional, Phase: -1, Slot: c.slot, StruckTitle: c.strikeIn, Box: c.box,
	}
	if c.near.meant != "" {
		d := diag.Newf("near-miss-marker", c.near.at, "%s is almost %s", quoted(c.near.written), clip(c.near.meant, 24)).
			WithDetail("%sAs written it is part of the title, and the item is one of agents like any other. Write %s. If the word is part of the title, write it without parentheses or brackets.",
				oddCharacter(c.near.written), c.near.meant)
		if c.near.doubt {
			d = d.WithDetail("As written it is part of the title and marks nothing: a marker is in parentheses at the very end. To mark the item, write %s.", c.near.meant)
			d.Severity = diag.Warning
		}
		p.report(d.WithFix(c.near.at, c.near.meant))
	}
	if p.dialect.In == InTodo && c.key.n == 0 {
		it.Placed, it.KeyRange = true, it.TitleRange
	}
	if c.within > 0 {
		it.Split = p.cands[c.within-1].index + 1
		sp := p.splitOf(&it)
		sp.Items = append(sp.Items, len(p.plan.Items))
	}
	it.Section = b.sectionPath(c)
	if c.done {
		it.Done, it.DoneBy, it.DoneRange = true, "heading", c.doneAt
	}
	if p.dialect.In == InTodo && c.box == Ticked {
		it.Done, it.DoneBy, it.DoneRange = true, "boxes", c.boxAt
	}
	if c.box != NoBox {
		it.Body.Boxes.add(c.box, c.boxAt)
	}
	p.lineLabels(&it, c)
	if c.depends != nil {
		it.Body.Labels = append(it.Body.Labels, Label{
			Name: DependsOn, Written: strings.TrimRight(p.src[c.dependAt.Start:c.dependAt.End], ": "),
			NameRange: c.dependAt, Value: *c.depends, From: FromTitle,
			Lines: []string{string(p.src[c.dependAt.Start:c.depends.Range.End])},
		})
	}
	c.index = len(p.plan.Items)
	comments := c.in.comments
	if c.row != nil {
		p.rowLabels(&it, c)
		comments = c.row.comments // of all cells, that of the id too
	}
	r := &reader{p: p, s: &it.Body, kind: itemSection, cur: -1, head: -1, annotation: &it.Annotation}
	p.comments(r, comments)
	p.plan.Items = append(p.plan.Items, it)
}

// sectionPath is the path of headings down to an item.
func (b *builder) sectionPath(c *cand) string {
	var parts []string
	for _, heading := range b.path[1:min(c.level, 7)] {
		if heading != "" {
			parts = append(parts, heading)
		}
	}
	if c.level < 7 {
		return strings.Join(append(parts, b.path[c.level]), " > ")
	}
	return strings.Join(append(parts, "- "+c.path), " > ")
}

// leftovers looks at what is in no section: policy fragments of the group or
// the plan around it, annotations and directives that belong nowhere.
func (b *builder) leftovers() {
	p := b.p
	group, next, twice := -1, 0, false
	for _, i := range b.rest {
		for ; next < i; next++ {
			e := &p.stream[next]
			if e.b.kind == headingBlock && p.groupLevel > 0 && int(e.b.level) <= p.groupLevel {
				group = -1
			}
			if e.cand >= 0 && p.cands[e.cand].live(true) {
				group = p.cands[e.cand].index
			}
			if e.cand >= 0 || e.b.kind == headingBlock {
				twice = e.cand >= 0 && p.cands[e.cand].twice
			}
		}
		switch e := &p.stream[i]; e.b.kind {
		case htmlBlock:
			if twice { // it is that item's, which gets an id or a place of its own
				continue
			}
			p.comments(nil, p.plain(int(e.b.start), int(e.b.end)).comments)
		case fenceBlock:
			if !p.isPolicy(e.b) {
				continue
			}
			s := &p.plan.Section
			if group >= 0 {
				s = &p.plan.Phases[group].Section
			}
			s.Fragments = append(s.Fragments, p.fragment(e.b))
		default:
			if e.to == 0 {
				p.outsideLabels(e.b)
			}
		}
	}
}

// named reports whether a group has an id.
func (ph *Phase) named(id string) bool {
	return same(ph.ID, id) || slices.ContainsFunc(ph.Names, func(name string) bool { return same(name, id) })
}

// same reports whether two ids are the same but for zeros in front of numbers.
func same(a, b string) bool { return simplify(a) == simplify(b) }

// phaseWord makes an id for a group heading without one: "final" of "Final
// Phase", else its number in the plan.
func phaseWord(ph *Phase, i int) string {
	if w := strings.Fields(strings.ToLower(ph.Keyword)); len(w) > 1 {
		return w[0]
	}
	return strconv.Itoa(i + 1)
}
