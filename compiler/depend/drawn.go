package depend

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
)

// What lists, waves and drawings state holds where no label speaks of the item or
// the group. Where one does, the label wins and both are compared.

// readDrawn adds what is stated outside the items, and reports whether that names
// anything about an item.
func (d *depender) readDrawn() (naming bool) {
	keep := func(s *drawn) []reading {
		for _, t := range s.targets {
			d.drawnAt[int32(t.at.Start)] = true
		}
		return []reading{{targets: s.targets, none: len(s.targets) == 0}}
	}
	d.drawnAt = map[int32]bool{}
	for i := range d.Items {
		s := d.Items[i].drawn
		if s == nil {
			continue
		}
		if s.lost = d.stated[i]; s.lost {
			continue
		}
		d.after[i] = keep(s)
		d.stated[i] = true
		d.replaced[i] = !d.Rules.add
		naming = naming || len(s.targets) > 0
	}
	for g := range d.Groups {
		s := d.Groups[g].drawn
		if s == nil {
			continue
		}
		if s.lost = d.groupSay[g].says; !s.lost {
			d.groupSay[g].says, d.anySays = true, true
			d.groupSay[g].readings = keep(s)
		}
	}
	return naming
}

// drawnPair is an arrow to what a label speaks of.
type drawnPair struct {
	from, to int32 // items
	at       diag.Range
	label    diag.Range
}

// checkDrawn compares drawings with labels that won over them: what an arrow
// points to must come after what it comes from, and what a label names must come
// before in the drawings.
func (d *depender) checkDrawn() {
	if d.full || len(d.topo) < len(d.Items) { // too many edges, or a cycle
		return
	}
	ends, members := d.endings(), d.members()
	var pairs []drawnPair
	pair := func(from, to []int32, at, label diag.Range) bool {
		if len(pairs)+len(from)*len(to) > d.Rules.MaxEdges {
			d.diags.Add(diag.New("graph-not-read", at, "this order is not checked against the labels").
				WithDetail("The lists and drawings name too much to check all of it against the labels, which win. Name groups by the groups before them."))
			return false
		}
		for _, f := range from {
			for _, t := range to {
				if f != t {
					pairs = append(pairs, drawnPair{f, t, at, label})
				}
			}
		}
		return true
	}
	fits := true
	for i := range d.Items {
		for _, t := range lostTargets(d.Items[i].drawn) {
			fits = fits && pair(ends.named(int32(i), t), []int32{int32(i)}, t.at, whereSaid(d.after[i]))
		}
	}
	for g := range d.Groups {
		for _, t := range lostTargets(d.Groups[g].drawn) {
			own := func(i int32) bool { return d.Items[i].Group == int32(g) }
			fits = fits && pair(slices.DeleteFunc(slices.Clone(ends.target(int32(g), t, false)), own), d.filter(members[g], inGroup), t.at, whereSaid(d.groupSay[g].readings))
		}
	}
	if fits {
		d.compareDrawn(pairs)
	}
	d.checkUndrawn(ends)
}

// lostTargets are what a list or drawing names where a label won over it.
func lostTargets(s *drawn) []target {
	if s == nil || !s.lost {
		return nil
	}
	return s.targets
}

// compareDrawn asks for each pair whether a path leads along the arrow, or
// against it.
func (d *depender) compareDrawn(pairs []drawnPair) {
	n := len(pairs)
	along := d.graph.Leads(d.topo, 2*n, func(k int) (from, to int32) {
		if k < n {
			return pairs[k].from, pairs[k].to
		}
		return pairs[k-n].to, pairs[k-n].from
	})
	along, against := along[:n], along[n:]
	said := map[diag.Range]bool{}
	for k, p := range pairs {
		if along[k] || said[p.at] && !against[k] {
			continue
		}
		said[p.at] = true
		d.disagrees(p, against[k])
	}
}

func (d *depender) disagrees(p drawnPair, against bool) {
	from, to := &d.Items[p.from], &d.Items[p.to]
	if against {
		d.diags.Add(diag.Newf("drawing-contradicts", p.at, "%s comes before %s, by the labels", clip(string(to.Key)), clip(string(from.Key))).
			WithDetail("The drawing says that %s comes after %s, but the labels say the opposite. Labels win over drawings: reverse the arrow, or fix the label.", to.Key, from.Key).
			WithRelated(p.label, "the label of %s", to.Key).
			WithRelated(d.labelOf(p.from), "the label of %s", from.Key))
		return
	}
	d.diags.Add(diag.Newf("drawing-disagrees", p.at, "%s does not come after %s", clip(string(to.Key)), clip(string(from.Key))).
		WithDetail("The drawing says that %s comes after %s, but %s. Labels win over drawings: name %s in the label, or remove the arrow.", to.Key, from.Key, d.whatElse(p.to), from.Key).
		WithRelated(p.label, "the label"))
}

// labelOf returns what makes an item wait, else its key.
func (d *depender) labelOf(i int32) diag.Range {
	es := d.out.of(int(i))
	if k := slices.IndexFunc(es, func(e edge) bool { return e.soft == 0 && e.rule == byExplicit }); k >= 0 {
		return d.place(es[k])
	}
	return d.Items[i].At
}
