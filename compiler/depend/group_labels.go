package depend

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
)

// groupLabels applies the labels below phase headings. "Depends on" goes to
// those of the beginnings that have no statement of their own; a reverse label
// goes from the ends.
func (d *depender) groupLabels(members [][]int32) {
	var made []edge
	ends := d.endings()
	for g := range d.Groups {
		s := &d.groupSay[g]
		if s.says {
			to := d.sources(members[g], inGroup)
			for t := range targets(s.readings) {
				d.checkOwnGroup(int32(g), t)
				if len(to) > 0 {
					made = d.pairs(made, ends.target(int32(g), t, false), to, t.at)
				}
			}
		}
		for t := range targets(s.blocks) {
			d.checkOwnGroup(int32(g), t)
			made = d.pairs(made, ends.of(int32(g)), ends.target(int32(g), t, true), t.at)
		}
	}
	d.addMade(made)
}

// pairs appends an edge from each to each, if they fit.
func (d *depender) pairs(made []edge, from, to []int32, at diag.Range) []edge {
	if !d.room(len(made) + len(from)*len(to)) {
		return made
	}
	for _, t := range to {
		for _, f := range from {
			made = append(made, newEdge(f, t, byExplicit, at))
		}
	}
	return made
}

// checkOwnGroup reports a label of a group that names the group.
func (d *depender) checkOwnGroup(g int32, t target) {
	if slices.Contains(t.groups, g) {
		d.diags.Add(diag.Newf("self-dependency", t.at, "phase %s waits for itself", clip(d.Groups[g].ID)).
			WithDetail("A phase that depends on itself can never start. Remove it from the list.").
			WithRelated(d.Groups[g].At, "the phase"))
	}
}

// checkOwnGroupAlone warns of a label of an item that names the item's group, where the
// item is all of it.
func (d *depender) checkOwnGroupAlone(i int32, t target) {
	g := d.Items[i].Group
	if len(t.groups) != 1 || t.groups[0] != g || len(d.members()[g]) > 1 {
		return
	}
	dg := diag.Newf("self-dependency", t.at, "%s is the only item of the group that its label names", clip(string(d.Items[i].Key))).
		WithDetail("The label names the group of %s, which has no other items, so it makes no dependency. Name what must come first, or write \"none\".", d.Items[i].Key).
		WithRelated(d.Groups[g].At, "the group")
	dg.Severity = diag.Warning
	d.diags.Add(dg)
}
