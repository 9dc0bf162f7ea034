package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// outside decides what becomes of items that are in no group although there are
// groups: one whose id is in a group too is a log entry or a summary, and so is
// what is beside such a heading. Any other is an item.
func (p *parser) outside() {
	inside := map[string]*cand{}
	some := false
	for _, c := range p.live(false) {
		some = some || c.group < 0
		if twin := inside[c.key.id]; c.group >= 0 && (twin == nil || c.level < twin.level) {
			inside[c.key.id] = c
		}
	}
	if !some {
		return
	}
	logs := map[int]*cand{} // the heading that they are under → an entry
	for i := range p.cands {
		if c := &p.cands[i]; !c.phase && !c.struck && c.group < 0 && inside[c.key.id] != nil && logs[c.parent] == nil {
			logs[c.parent] = c
		}
	}
	groups := map[string]int{}
	for i, c := range p.live(true) {
		for _, id := range p.allNames(c) {
			if _, twice := groups[id]; !twice {
				groups[id] = i
			}
		}
	}
	for _, c := range p.live(false) {
		if c.group >= 0 {
			continue
		}
		if twin := inside[c.key.id]; twin != nil {
			c.prose = true
			p.ignored("item-outside-groups", c, "it is outside the groups of the plan, and the item of this id is inside one",
				related{p.keyRange(twin), "the item is here"})
			continue
		}
		entry := logs[c.parent]
		if entry != nil || c.cancelled >= 0 {
			c.prose = true
			p.lost(c, entry)
			continue
		}
		p.adopt(c, groups)
	}
}

// lost reports an item that makes no node: it is in a log or in a group that
// is struck through.
func (p *parser) lost(c, entry *cand) {
	d := diag.Newf("lost-item", p.keyRange(c), "%s is outside every group", p.called(c)).WithDetail(
		"This plan has groups (%s), and this one is an entry of a log: a heading beside it repeats an item. So it makes no node. If it is an item, move it below its group.",
		p.groupExample())
	if entry != nil {
		p.report(d.WithRelated(p.keyRange(entry), "the log repeats an item here"))
		return
	}
	p.report(d.WithDetail("The group above it is struck through, so it makes no node. Move it below a group that is not, or strike it through too.").
		WithRelated(p.keyRange(&p.cands[c.cancelled]), "the group above it is struck through"))
}

// adopt makes an item that is outside the groups one of the group that its id
// names, else of none.
func (p *parser) adopt(c *cand, groups map[string]int) {
	d := diag.Newf("item-without-group", p.keyRange(c), "%s is outside every group", p.called(c)).WithDetail(
		"Its id names no group of this plan, so it belongs to no group and follows the groups above it. Move it below its group, or add the group's heading above it (%s).",
		p.groupExample())
	for id := p.plainID(c.key.id); ; {
		cut := strings.LastIndexAny(id, ".-")
		if cut < 0 {
			break
		}
		id = id[:cut]
		if g, known := groups[id]; known {
			c.group = g
			d = d.WithDetail("Its id says that it is an item of %s, and it is read as one. Move it below that heading.", p.called(&p.cands[g])).
				WithRelated(p.keyRange(&p.cands[g]), "the group")
			break
		}
	}
	p.report(d)
}

// plainID writes an id as those of sprints are compared: without zeros in front.
func (p *parser) plainID(id string) string {
	if !p.item.sprintLike {
		return id
	}
	return simplify(id)
}

func (p *parser) groupExample() string {
	for _, c := range p.live(true) {
		return strings.Repeat("#", c.level) + " " + p.called(c)
	}
	return "phases"
}
