package syntax

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// classify decides which candidates are groups and items. The rules, and why
// they are so, are in docs/plan-language.md, "Which headings are items".
func (p *parser) classify() {
	if p.dialect.In == InTodo {
		p.todos()
		return
	}
	p.hyphens()
	p.insertions()
	p.inflected()
	p.titled()
	p.severals()
	p.parents()
	grouped := p.groups()
	if !p.phase.none && !grouped {
		items := slices.ContainsFunc(p.cands, func(c cand) bool { return c.live(false) })
		for _, c := range p.live(true) {
			if c.prose = true; items {
				p.ignored("group-without-items", c, "no group heading of this plan has items below it, so groups are made from the ids of the items")
			}
		}
	}
	p.cancelled()
	if grouped {
		p.membership()
		p.outside()
	}
	p.repeats()
	p.splits()
	p.wordGroups()
	if p.phase.none && p.dialect.In == InCheckbox {
		p.listGroups()
	}
}

// inflected drops "Sprints 1.2" where a heading with the keyword itself has the
// id: it speaks of the item. What was dismissed before stays so.
func (p *parser) inflected() {
	key := func(c *cand) string {
		if c.phase {
			return "group " + c.key.id
		}
		return "item " + c.key.id
	}
	other := func(c *cand) bool { return c.keyword != "" && !p.matcherOf(c.phase).own(c.keyword) }
	if !slices.ContainsFunc(p.cands, func(c cand) bool { return other(&c) }) {
		return
	}
	own := make(map[string]bool, len(p.cands))
	for i := range p.cands {
		if c := &p.cands[i]; !other(c) {
			own[key(c)] = true
		}
	}
	for _, c := range lists.Each(p.cands) {
		c.prose = c.prose || other(c) && own[key(c)]
	}
}

// live reports whether a candidate still counts.
func (c *cand) live(phase bool) bool { return c.phase == phase && !c.prose && !c.struck }

// live yields the candidates of items, or of groups, that still count, with their indices.
func (p *parser) live(phase bool) iter.Seq2[int, *cand] {
	return func(yield func(int, *cand) bool) {
		for i := range p.cands {
			if c := &p.cands[i]; c.live(phase) && !yield(i, c) {
				return
			}
		}
	}
}

// candAt returns the item or group at an element, or nil.
func (p *parser) candAt(e *elem) *cand {
	if e.cand < 0 || p.cands[e.cand].prose {
		return nil
	}
	return &p.cands[e.cand]
}

// parents finds for each candidate the heading that it is under.
func (p *parser) parents() {
	var open [8]int // element + 1 of the last heading of each level
	for i, e := range lists.Each(p.stream) {
		level := 7
		if e.b.kind == headingBlock {
			level = int(e.b.level)
		}
		if e.cand >= 0 {
			c := &p.cands[e.cand]
			for l := level - 1; l > 0 && c.parent < 0; l-- {
				c.parent = open[l] - 1
			}
		}
		if level < 7 {
			open[level] = i + 1
			clear(open[level+1:])
		}
	}
}

// groups finds the level of group headings, that of the first one that contains
// an item, and decides which headings of it are groups. It reports whether there
// are any.
func (p *parser) groups() bool {
	if p.phase.none {
		return false
	}
	p.fillGroups()
	p.groupLevel = 0
	first := slices.IndexFunc(p.cands, func(c cand) bool { return c.phase && c.filled })
	if first < 0 {
		return false
	}
	p.groupLevel = p.cands[first].level
	p.chooseGroups()
	return true
}

// fillGroups finds the group headings that contain items.
func (p *parser) fillGroups() {
	var open [7]int // candidate + 1 of the open group heading of each level
	item := 7       // level of the open item's heading
	for i, e := range lists.Each(p.stream) {
		if e.b.kind == headingBlock {
			clear(open[e.b.level:])
			if int(e.b.level) <= item {
				item = 7
			}
		}
		if e.cand < 0 || i+1 == p.titleElem {
			continue
		}
		c := &p.cands[e.cand]
		switch {
		case c.phase && !c.struck:
			c.inItem = c.level > item
			open[c.level] = int(e.cand) + 1
		case !c.phase:
			item = c.level
			for _, g := range open {
				if g > 0 {
					p.cands[g-1].filled = true
				}
			}
		}
	}
}

// chooseGroups decides which headings are groups, now that their level is known.
func (p *parser) chooseGroups() {
	best := map[string]int{} // id → the heading that counts
	for i, c := range p.live(true) {
		if b, ok := best[c.key.id]; c.level == p.groupLevel && c.key.id != "" && (!ok || c.filled && !p.cands[b].filled) {
			best[c.key.id] = i
		}
	}
	for i, c := range p.live(true) {
		b, known := best[c.key.id]
		switch {
		case c.key.n == 0 && !c.filled: // "Phase Breakdown"
			c.prose = true
		case c.level != p.groupLevel:
			c.prose = true
			why := "the groups of this plan are headings of level " + strconv.Itoa(p.groupLevel)
			if known && !c.inItem {
				p.repeating[c.elem] = c.key.id
				if strings.EqualFold(c.text.Value, p.cands[b].text.Value) { // an overview of the groups
					break
				}
				why += "; dependency labels and Status below it speak for that group"
			}
			p.ignored("group-at-other-level", c, why)
		case known && b != i && !c.filled:
			c.prose = true
			p.ignored("repeated-group", c, "it repeats the id of another group and contains no items", related{p.keyRange(&p.cands[b]), "the group is here"})
		case known && b != i:
			p.report(diag.Newf("duplicate-id", p.keyRange(c), "%s appears twice", p.called(c)).WithDetail(
				"Two groups with items have the id %s. Give one of them another id.", c.key.id).
				WithRelated(p.keyRange(&p.cands[b]), "first declared here"))
		}
	}
}

// membership finds for each item the group that it stands in.
func (p *parser) membership() {
	group, cancelled := -1, -1
	for _, e := range lists.Each(p.stream) {
		if e.b.kind == headingBlock && int(e.b.level) <= p.groupLevel {
			group, cancelled = -1, -1
		}
		if e.cand < 0 {
			continue
		}
		switch c := &p.cands[e.cand]; {
		case c.live(true):
			group = int(e.cand)
		case c.phase && c.struck && c.level <= p.groupLevel:
			cancelled = int(e.cand)
		case !c.phase:
			c.group, c.cancelled = group, cancelled
		}
	}
}

// repeats decides between candidates of the same id.
func (p *parser) repeats() {
	first := make(map[string]*cand, len(p.cands))
	again := map[string][]*cand{}
	var repeated []string
	for _, c := range p.live(false) {
		id := c.key.id
		f, ok := first[id]
		if !ok {
			first[id] = c
			continue
		}
		if len(again[id]) == 0 {
			again[id] = []*cand{f}
			repeated = append(repeated, id)
		}
		again[id] = append(again[id], c)
	}
	for _, id := range repeated {
		p.repeat(again[id])
	}
}

func (p *parser) repeat(same []*cand) {
	top := 8
	for _, c := range same {
		top = min(top, c.level)
	}
	level := slices.DeleteFunc(slices.Clone(same), func(c *cand) bool { return c.level > top })
	for _, c := range same {
		if c.level > top {
			c.prose = true
			p.ignored("deeper-repeat", c, "an item of the same id is above it", related{p.keyRange(level[0]), "the item is here"})
		}
	}
	var full, empty []*cand
	for _, c := range level {
		if p.hasContent(c) {
			full = append(full, c)
		} else {
			empty = append(empty, c)
		}
	}
	if len(full) > 0 {
		level = full
		for _, c := range empty {
			if c.parent == full[0].parent {
				level = append(level, c)
				continue
			}
			c.prose = true
			p.ignored("empty-repeat", c, "another heading of the same id has labels or check boxes, this one has none",
				related{p.keyRange(full[0]), "the item is here"})
		}
	}
	for _, c := range level[1:] {
		p.report(diag.Newf("duplicate-id", p.keyRange(c), "%s appears twice", p.called(c)).WithDetail(
			"Two items have the id %s; an id names one item. Give one of them another id, or strike it through.", c.key.id).
			WithRelated(p.keyRange(level[0]), "first declared here"))
		c.prose, c.twice = true, true
	}
}

type related struct {
	at   diag.Range
	what string
}

// ignored says why a candidate is prose.
func (p *parser) ignored(code diag.Code, c *cand, why string, rel ...related) {
	d := diag.Newf(code, p.keyRange(c), "%s is read as prose here", p.called(c)).WithDetail(
		"This looks like %s, but %s. Ignore this if that is intended; otherwise give it an id of its own and its place in the plan.", [...]string{"an item", "a group"}[kind(c)], why)
	for _, r := range rel {
		d = d.WithRelated(r.at, "%s", r.what)
	}
	p.report(d)
}

// called names a candidate as people do: "Sprint 1.2".
func (p *parser) called(c *cand) string {
	name := cmp.Or(c.key.id, clip(c.text.Value, 30))
	if c.keyword == "" {
		return name
	}
	return clip(c.keyword, 20) + " " + clip(name, 30)
}

func (p *parser) keyRange(c *cand) diag.Range {
	if c.key.n == 0 {
		return p.rng(c.line)
	}
	return c.in.Sub(c.keyAt.start, c.keyAt.end)
}

// hasContent reports whether labels or check boxes are below a candidate.
func (p *parser) hasContent(c *cand) bool {
	if c.box != NoBox || c.row != nil {
		return true
	}
	for i := c.elem + 1; i < len(p.stream); i++ {
		e := &p.stream[i]
		if e.b.kind == headingBlock {
			if int(e.b.level) <= c.level {
				return false
			}
			if _, ok := p.headingLabel(e.b); ok {
				return true
			}
		}
		if p.candAt(e) != nil {
			return false
		}
		if p.labelled(e.b) {
			return true
		}
	}
	return false
}

// labelled reports whether a block has known labels or check boxes.
func (p *parser) labelled(b *block) bool {
	switch b.kind {
	case paraBlock:
		for at, stop := range p.lines(int(b.start), int(b.end)) {
			if l, ok := p.labelLine(at, stop); ok && l.known {
				return true
			}
		}
	case itemBlock:
		if box, _ := boxAt(p.src[b.a:b.end]); box != NoBox {
			return true
		}
	case htmlBlock:
		return strings.HasPrefix(strings.TrimLeft(p.src[b.start+min(4, b.end-b.start):b.end], " \t"), "ralph:")
	}
	for i := range b.kids {
		if b.kind != quoteBlock && p.labelled(&b.kids[i]) {
			return true
		}
	}
	return false
}
