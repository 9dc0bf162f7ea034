package compiler

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
)

// What lists, waves and drawings state holds where no label speaks of the item or
// the group. Where one does, the label wins and both are compared.

// readDrawn adds what is stated outside the items, and reports whether that names
// anything about an item.
func (d *depender) readDrawn() (naming bool) {
	keep := func(s *depDrawn) []reading {
		for _, t := range s.targets {
			d.drawnAt[int32(t.at.Start)] = true
		}
		return []reading{{targets: s.targets, none: len(s.targets) == 0}}
	}
	d.drawnAt = map[int32]bool{}
	for i := range d.items {
		s := d.items[i].drawn
		if s == nil {
			continue
		}
		if s.lost = d.stated[i]; s.lost {
			continue
		}
		d.after[i] = keep(s)
		d.stated[i] = true
		d.replaced[i] = !d.rules.add
		naming = naming || len(s.targets) > 0
	}
	for g := range d.groups {
		s := d.groups[g].drawn
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
// points to must come after what it comes from.
func (d *depender) checkDrawn() {
	if len(d.topo) < len(d.items) { // a cycle
		return
	}
	var pairs []drawnPair
	members := d.members()
	pair := func(from, to []int32, at, label diag.Range) {
		if len(pairs)+len(from)*len(to) > d.rules.maxEdges {
			return
		}
		for _, f := range from {
			for _, t := range to {
				pairs = append(pairs, drawnPair{f, t, at, label})
			}
		}
	}
	endings := d.endings()
	ends := func(t target) []int32 {
		if t.kind == toItem {
			return []int32{t.item}
		}
		var out []int32
		if t.kind == toGroupEnds {
			for _, g := range t.groups {
				out = append(out, endings.of(g)...)
			}
		}
		return out
	}
	for i := range d.items {
		it := &d.items[i]
		if it.drawn == nil || !it.drawn.lost {
			continue
		}
		for _, t := range it.drawn.targets {
			pair(ends(t), []int32{int32(i)}, t.at, it.after[0].at)
		}
	}
	for g := range d.groups {
		s := &d.groups[g]
		if s.drawn == nil || !s.drawn.lost {
			continue
		}
		for _, t := range s.drawn.targets {
			pair(ends(t), d.filter(members[g], inGroup), t.at, s.after[0].at)
		}
	}
	d.compareDrawn(pairs)
	d.checkUndrawn()
}

// compareDrawn asks for each pair whether a path leads along the arrow, or
// against it.
func (d *depender) compareDrawn(pairs []drawnPair) {
	by := map[int32][]int{}
	var sources []int32
	ask := func(i int32, k int) {
		if by[i] == nil {
			sources = append(sources, i)
		}
		by[i] = append(by[i], k)
	}
	for k, p := range pairs {
		ask(p.from, k)
		ask(p.to, k)
	}
	along, against := make([]bool, len(pairs)), make([]bool, len(pairs))
	d.spread(sources, func(round []int32, reached []uint64) {
		for k, s := range round {
			for _, at := range by[s] {
				p := pairs[at]
				along[at] = along[at] || s == p.from && reached[p.to]&(1<<k) != 0
				against[at] = against[at] || s == p.to && reached[p.from]&(1<<k) != 0
			}
		}
	})
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
	from, to := &d.items[p.from], &d.items[p.to]
	if against {
		d.diags.Add(diag.Newf("drawing-contradicts", p.at, "%s comes before %s, by the labels", clip(string(to.key)), clip(string(from.key))).
			WithDetail("The drawing says that %s comes after %s, but the labels say the opposite. Labels win over drawings: turn the arrow around, or mend the label.", to.key, from.key).
			WithRelated(p.label, "the label of %s", to.key).
			WithRelated(d.labelOf(p.from), "what is said of %s", from.key))
		return
	}
	d.diags.Add(diag.Newf("drawing-disagrees", p.at, "%s does not come after %s", clip(string(to.key)), clip(string(from.key))).
		WithDetail("The drawing says that %s comes after %s, but %s. Labels win over drawings: name %s in the label, or remove the arrow.", to.key, from.key, d.whatElse(p.to), from.key).
		WithRelated(p.label, "the label"))
}

// labelOf returns what makes an item wait, else its key.
func (d *depender) labelOf(i int32) diag.Range {
	es := d.out.of(int(i))
	if k := slices.IndexFunc(es, func(e edge) bool { return e.soft == 0 && e.rule == byExplicit }); k >= 0 {
		return d.place(es[k])
	}
	return d.items[i].at
}

// checkUndrawn looks the other way: what a label names, and the drawings show too,
// must come before in the drawings.
func (d *depender) checkUndrawn() {
	type question struct {
		from, to  int32 // in the drawings' graph
		name, key string
		at, place diag.Range
	}
	var asked []question
	g := drawnGraph{d: d}
	for i := range d.items {
		if s := d.items[i].drawn; s != nil && s.lost {
			for _, r := range d.after[i] {
				for _, t := range r.targets {
					if from, name, ok := g.source(t); ok {
						asked = append(asked, question{from, int32(i), name, string(d.items[i].key), t.at, s.at})
					}
				}
			}
		}
	}
	for k := range d.groups {
		if s := d.groups[k].drawn; s != nil && s.lost {
			for _, r := range d.groupSay[k].readings {
				for _, t := range r.targets {
					if from, name, ok := g.source(t); ok {
						asked = append(asked, question{from, g.begin(int32(k)), name, d.groups[k].id, t.at, s.at})
					}
				}
			}
		}
	}
	if len(asked) == 0 {
		return
	}
	graph := g.make()
	if graph == nil {
		return
	}
	by := map[int32][]int{}
	var sources []int32
	for k, q := range asked {
		if by[q.from] == nil {
			sources = append(sources, q.from)
		}
		by[q.from] = append(by[q.from], k)
	}
	missing := make([]bool, len(asked))
	graph.spread(sources, func(round []int32, reached []uint64) {
		for k, s := range round {
			for _, at := range by[s] {
				missing[at] = reached[asked[at].to]&(1<<k) == 0
			}
		}
	})
	said := map[string]bool{}
	for k, q := range asked {
		if !missing[k] || said[q.key] {
			continue
		}
		said[q.key] = true
		d.diags.Add(diag.Newf("drawing-disagrees", q.at, "the drawing does not show %s before %s", clip(q.name), clip(q.key)).
			WithDetail("The label says that %s waits for %s; the drawing shows both, and no way from one to the other. Labels win over drawings: draw the arrow, or mend the label.", q.key, q.name).
			WithRelated(q.place, "%s in the drawing", q.key))
	}
}

// drawnGraph is what the drawings alone say: items, and behind them the
// beginning and the end of each group.
type drawnGraph struct{ d *depender }

func (g drawnGraph) begin(k int32) int32 { return int32(len(g.d.items)) + 2*k }

// source returns what a label names, if the drawings speak of it.
func (g drawnGraph) source(t target) (from int32, name string, ok bool) {
	d := g.d
	switch {
	case t.kind == toItem && d.items[t.item].drawn != nil:
		return t.item, string(d.items[t.item].key), true
	case (t.kind == toGroup || t.kind == toGroupEnds) && len(t.groups) == 1 && d.groups[t.groups[0]].drawn != nil:
		return g.begin(t.groups[0]) + 1, d.groups[t.groups[0]].id, true
	}
	return 0, "", false
}

// make returns the graph, sorted; nil if the drawings make a cycle.
func (g drawnGraph) make() *depender {
	d := g.d
	n := len(d.items) + 2*len(d.groups)
	out := &depender{depInput: &depInput{items: make([]depItem, n)}, out: &depOutput{}}
	link := func(from, to int32) { out.edges = append(out.edges, edge{from: from, to: to}) }
	state := func(s *depDrawn, to int32) {
		if s == nil {
			return
		}
		for _, t := range s.targets {
			if t.kind == toItem {
				link(t.item, to)
			}
			for _, k := range t.groups {
				link(g.begin(k)+1, to)
			}
		}
	}
	for i := range d.items {
		state(d.items[i].drawn, int32(i))
		if k := d.items[i].group; k >= 0 {
			link(g.begin(k), int32(i))
			link(int32(i), g.begin(k)+1)
		}
	}
	for k := range d.groups {
		state(d.groups[k].drawn, g.begin(int32(k)))
		link(g.begin(int32(k)), g.begin(int32(k))+1)
	}
	if len(out.edges) > d.rules.maxEdges {
		return nil
	}
	if out.sortTopo(); len(out.topo) < n {
		return nil
	}
	return out
}
