package syntax

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// titled takes the first heading of level 1 for the plan's title where it reads
// like a group or an item: "# Phase 2: Storage" above the tasks of one phase. A
// heading of the same kind and level shows that it is not the title.
func (p *parser) titled() {
	first := slices.IndexFunc(p.stream, func(e elem) bool { return e.b.kind == headingBlock && e.b.level == 1 })
	if first < 0 || p.stream[first].cand < 0 {
		return
	}
	c := &p.cands[p.stream[first].cand]
	if c.struck || c.prose {
		return
	}
	others := false
	for _, o := range p.live(c.phase) {
		if o == c {
			continue
		}
		if others = true; o.level == 1 {
			return
		}
	}
	if !c.phase && !others {
		return
	}
	c.prose, p.titleElem = true, first+1
	d := diag.Newf("title-like-item", p.keyRange(c), "%s is the title of the plan", p.called(c)).WithDetail(
		"The first heading of level 1 is the title. It is a group only beside another group heading of its level. To make it one, write the title above it.")
	if !c.phase {
		d = d.WithDetail("The first heading of level 1 is the title, and the plan has other items, so it makes no node. To make it one, give it the level of the other items.")
	}
	p.report(d)
}

// findTitle returns the element of the plan's title: the first heading of level
// 1 that is neither an item nor a group, else the first heading if it is above all others.
func (p *parser) findTitle() int {
	if p.titleElem > 0 {
		return p.titleElem - 1
	}
	top := 7 // level of the first item or group
	if k := slices.IndexFunc(p.cands, func(c cand) bool { return !c.prose }); k >= 0 {
		top = p.cands[k].level
	}
	first := true
	for i, e := range lists.Each(p.stream) {
		first = first && p.candAt(e) == nil
		if e.b.kind != headingBlock || e.cand >= 0 {
			continue
		}
		if e.b.level == 1 || first && int(e.b.level) < top && p.highest(i) {
			return i
		}
		first = false
	}
	return -1
}

// highest reports whether no other heading is as high as the one at.
func (p *parser) highest(at int) bool {
	b := p.stream[at].b
	return !slices.ContainsFunc(p.stream, func(e elem) bool { return e.b != b && e.b.kind == headingBlock && e.b.level <= b.level })
}
