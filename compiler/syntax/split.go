package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// A heading of a plain number with lettered headings of this number below it
// ("### Task 4.1", "#### Task 4.1a") is the group of these: they are the work, and
// what it says holds for each of them.

// splits finds these headings.
func (p *parser) splits() {
	if p.dialect.In != InHeading {
		return
	}
	var open [7]int // index in cands + 1 of plain items, by level
	for _, e := range lists.Each(p.stream) {
		if e.b.kind != headingBlock {
			continue
		}
		clear(open[e.b.level:])
		if e.cand < 0 || !p.cands[e.cand].live(false) {
			continue
		}
		c := &p.cands[e.cand]
		_, _, letters := lastNumber(c.key.id)
		if letters == "" {
			open[c.level] = int(e.cand) + 1
			continue
		}
		base := strings.TrimSuffix(c.key.id, letters)
		for _, g := range open[:c.level] {
			if g > 0 && p.cands[g-1].key.id == base {
				p.cands[g-1].split, c.within = true, g
				break
			}
		}
	}
	for _, c := range p.live(false) {
		c.prose = c.split
	}
}

func (b *builder) addSplit(c *cand) {
	c.index = len(b.p.plan.Splits)
	b.p.plan.Splits = append(b.p.plan.Splits, b.group(c))
}

// closeSplit reads the section of such a heading.
func (b *builder) closeSplit(i int) {
	p := b.p
	sp := &p.plan.Splits[len(p.plan.Splits)-1]
	p.section(&sp.Section, phaseSection, nil, b.begin, i)
	sp.Section.Range = p.extent(b.begin, i, sp.Range.End)
	if boxes := sp.Section.Boxes; boxes.Open+boxes.Ticked > 0 {
		p.report(diag.Newf("split-tasks", sp.IDRange, "the tasks of %s belong to no item", clip(sp.ID, 20)).WithDetail(
			"%s is the group of the lettered headings below it, which are the items: no agent gets %s directly below it. Move it below one of the letters, or below a new one.",
			sp.ID, text.Count(boxes.Open+boxes.Ticked, "check box")).WithRelated(boxes.Last, "the last one"))
	}
}

// splitOf returns the group of its number that an item stands in, or nil.
func (p *parser) splitOf(it *Item) *Phase {
	if it.Split == 0 {
		return nil
	}
	return &p.plan.Splits[it.Split-1]
}

// splitTitle returns the heading at an element if it is such a one, or nil.
func (p *parser) splitTitle(e *elem) *cand {
	if e.cand >= 0 && p.cands[e.cand].split {
		return &p.cands[e.cand]
	}
	return nil
}
