package syntax

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// members puts the items into the groups that their headings make.
func (p *parser) members() {
	for _, c := range p.live(false) {
		if p.groupLevel > 0 && c.group >= 0 {
			p.join(c, p.cands[c.group].index)
		}
	}
}

// join puts an item into a group.
func (p *parser) join(c *cand, group int) {
	p.plan.Items[c.index].Phase = group
	p.plan.Phases[group].Items = append(p.plan.Phases[group].Items, c.index)
}

// implicitPhases groups items by the beginning of their ids where the plan has no
// group headings: with the list item of that id, else with a group of its own.
func (p *parser) implicitPhases() {
	if p.groupLevel > 0 {
		return
	}
	index := lists.Index(p.plan.Phases, func(x *Phase) string { return x.ID })
	for _, c := range p.live(false) {
		it := &p.plan.Items[c.index]
		g := -1
		if c.leads {
			g = index[it.ID]
		}
		for id := it.ID; g < 0; {
			dot := strings.LastIndexByte(id, '.')
			if dot < 0 && hyphened(id) && p.dialect.In == InHeading {
				dot = strings.LastIndexByte(id, '-')
			}
			if dot < 0 || p.item.decimal != nil {
				break
			}
			if id = id[:dot]; strings.IndexByte(id, '.') < 0 || p.grouped {
				if at, known := index[id]; known {
					g = at
				} else if strings.IndexByte(id, '.') < 0 {
					g = len(p.plan.Phases)
					index[id] = g
					p.plan.Phases = append(p.plan.Phases, p.implicitPhase(id, c, it))
				}
			}
		}
		if g >= 0 {
			p.join(c, g)
		}
	}
	if p.grouped || len(p.wordHeads) > 0 {
		p.sortPhases()
	}
}

// sortPhases puts groups that were made later where they begin in the document.
func (p *parser) sortPhases() {
	phases := p.plan.Phases
	order := make([]int, len(phases))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return phases[a].Range.Start - phases[b].Range.Start })
	sorted := make([]Phase, len(phases))
	for to, from := range order {
		sorted[to] = phases[from]
		for _, k := range phases[from].Items {
			p.plan.Items[k].Phase = to
		}
	}
	p.plan.Phases = sorted
}

// implicitPhase makes a group out of the id of its first item. Its name is that
// of the heading above, if that one begins with the same number.
func (p *parser) implicitPhase(id string, c *cand, it *Item) Phase {
	at := p.file.Range(it.KeyRange.Start, it.KeyRange.Start)
	ph := Phase{ID: id, IDRange: at, Range: it.Range, Implicit: true, NameRange: at}
	if c.parent < 0 {
		return ph
	}
	h := p.stream[c.parent].b
	in := p.plain(int(h.a), int(h.b))
	name, ok := strings.CutPrefix(in.Value, id)
	if !ok {
		return ph
	}
	if cut := strings.TrimLeft(name, ".:-–—) "); cut != name && cut != "" {
		ph.Name, ph.NameRange, ph.Range = cut, in.Sub(len(in.Value)-len(cut), len(in.Value)), in.Range
	}
	return ph
}

// checkLevels reports headings of items that have another level than the first.
func (p *parser) checkLevels() {
	var first, other *Item
	var at []diag.Range
	for _, it := range lists.Each(p.plan.Items) {
		if it.Split > 0 {
			continue
		}
		if first = cmp.Or(first, it); it.Level != first.Level {
			other, at = cmp.Or(other, it), append(at, it.KeyRange)
		}
	}
	if other != nil {
		p.report(diag.New("item-level", at[0], "an item's heading has another level").WithDetail(
			"The first item has a heading of level %d, this one of level %d. It is still an item, and ends the one before it. Give all items the same level, or rename the heading.",
			first.Level, other.Level).WithRelated(first.KeyRange, "the first item").WithAll(at[1:], maxRelated-2, "another level too"))
	}
}

// checkPhases reports sprints that are in a phase of another number and levels
// that differ. Groups without an id get one.
func (p *parser) checkPhases() {
	plan := p.plan
	if p.item.sprintLike && p.phase.sprintLike {
		for _, it := range lists.Each(plan.Items) {
			phase, _, _ := strings.Cut(it.ID, ".")
			if it.Phase < 0 || plan.Phases[it.Phase].Implicit || plan.Phases[it.Phase].named(phase) {
				continue
			}
			ph := &plan.Phases[it.Phase]
			p.report(diag.Newf("phase-mismatch", it.KeyRange, "%s is in phase %s", clip(it.ID, 20), clip(ph.ID, 20)).WithDetail(
				"Its id says phase %s. Write the id as a sprint of phase %s, or move the sprint.", phase, ph.ID).
				WithRelated(ph.IDRange, "the phase begins here"))
		}
	}
	p.checkLevels()
	taken := lists.SetOf(plan.Phases, func(ph *Phase) string { return ph.ID })
	for i, ph := range lists.Each(plan.Phases) {
		if ph.ID == "" {
			id := phaseWord(ph, i)
			for n := 2; taken[id]; n++ {
				id = phaseWord(ph, i) + "-" + strconv.Itoa(n)
			}
			ph.ID, taken[id] = id, true
		}
	}
}
