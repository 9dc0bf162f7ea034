package compiler

import "github.com/ralph-compiler/ralph/diag"

// groupLabels applies the labels below phase headings. "Depends on" goes to
// those of the beginnings that have no statement of their own; a reverse label
// goes from the ends.
func (d *depender) groupLabels(members [][]int32) {
	var made []edge
	for g := range d.groups {
		s := &d.groupSay[g]
		if s.says {
			to := d.sources(members[g], inGroup)
			for _, r := range s.readings {
				for _, t := range r.targets {
					made = d.pairs(made, d.groupTarget(int32(g), t, members, false), to, t.at)
				}
			}
		}
		for _, r := range s.blocks {
			for _, t := range r.targets {
				made = d.pairs(made, d.filter(members[g], outGroup), d.groupTarget(int32(g), t, members, true), t.at)
			}
		}
	}
	// Ends and beginnings of all groups are taken before any of these edges exists.
	for _, e := range made {
		d.addEdge(e.from, e.to, byExplicit, diag.Range{File: d.file, Start: int(e.start), End: int(e.end)})
	}
}

// pairs appends an edge from each to each, if they fit.
func (d *depender) pairs(made []edge, from, to []int32, at diag.Range) []edge {
	if !d.room(len(made) + len(from)*len(to)) {
		return made
	}
	for _, t := range to {
		for _, f := range from {
			made = append(made, edge{from: f, to: t, start: int32(at.Start), end: int32(at.End)})
		}
	}
	return made
}

// groupTarget returns the items that a label of group g names: what the group
// waits for or, as a reverse label, what waits for the group.
func (d *depender) groupTarget(g int32, t target, members [][]int32, reverse bool) []int32 {
	var out []int32
	switch t.kind {
	case toItem:
		out = []int32{t.item}
	case toRange:
		out = d.names.between(t.lo, t.to)
	case toPrevious, toEarlier:
		if len(members[g]) == 0 {
			return nil
		}
		lo, hi := int32(0), members[g][0]
		if reverse {
			lo, hi = members[g][len(members[g])-1]+1, int32(len(d.items))
		}
		for i := lo; i < hi; i++ {
			out = append(out, i)
		}
	case toGroup, toGroupEnds:
		flag := outGroup
		if reverse {
			flag = inGroup
		}
		for _, k := range t.groups {
			switch {
			case k == g && len(t.groups) == 1:
				d.diags.Add(diag.Newf("self-dependency", t.at, "phase %s waits for itself", clip(d.groups[g].id)).
					WithDetail("A phase that depends on itself can never start. Remove it from the list.").
					WithRelated(d.groups[g].at, "the phase"))
			case k == g:
			case t.kind == toGroup:
				out = append(out, members[k]...)
			default:
				out = append(out, d.filter(members[k], flag)...)
			}
		}
	}
	return out
}
