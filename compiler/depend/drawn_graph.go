package depend

import (
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/dag"
)

// shownBefore asks whether the drawings show a way to what a label speaks of from
// what it names.
type shownBefore struct {
	from, to  int32 // in the drawings' graph
	name, key string
	at, place diag.Range
}

// checkUndrawn looks the other way: what a label names, and the drawings show too,
// must come before in the drawings.
func (d *depender) checkUndrawn(ends *endings) {
	g := drawnGraph{d: d, ends: ends}
	asked := g.asked()
	if len(asked) == 0 {
		return
	}
	graph, order := g.make()
	if graph == nil {
		return
	}
	leads := graph.Leads(order, len(asked), func(k int) (from, to int32) { return asked[k].from, asked[k].to })
	said := map[string]bool{}
	for k, q := range asked {
		if leads[k] || said[q.key] {
			continue
		}
		said[q.key] = true
		d.diags.Add(diag.Newf("drawing-disagrees", q.at, "the drawing does not show %s before %s", clip(q.name), clip(q.key)).
			WithDetail("The label says that %s waits for %s; the drawing shows both, but no path from one to the other. Labels win over drawings: draw the arrow, or fix the label.", q.key, q.name).
			WithRelated(q.place, "%s in the drawing", q.key))
	}
}

// drawnGraph is what the drawings alone say: items, and after them the
// beginning and the end of each group.
type drawnGraph struct {
	d    *depender
	ends *endings
}

func (g drawnGraph) begin(k int32) int32 { return int32(len(g.d.Items)) + 2*k }

// named returns what a target of an item's or group's statement stands for: items,
// and the ends of groups, also of those of which all items are named.
func (g drawnGraph) named(v int32, t target) (out []int32) {
	for _, k := range t.groups {
		if g.begin(k) != v {
			out = append(out, g.begin(k)+1)
		}
	}
	switch n := int32(len(g.d.Items)); {
	case len(t.groups) > 0 || t.kind == toItem && t.item == v:
		return out
	case v >= n:
		out = slices.Clone(g.ends.target((v-n)/2, t, false))
	default:
		out = slices.DeleteFunc(slices.Collect(g.d.itemsOf(t, v, false)), func(i int32) bool { return i == v })
	}
	of := map[int32]int{}
	for _, i := range out {
		if k := g.d.Items[i].Group; k >= 0 {
			of[k]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(of)) {
		if of[k] == len(g.d.members()[k]) && g.begin(k) != v {
			out = append(out, g.begin(k)+1)
		}
	}
	return out
}

// drawn says what an item, or the end of a group, is called, if the drawings speak of it.
func (g drawnGraph) drawn(v int32) (name string, ok bool) {
	if n := int32(len(g.d.Items)); v >= n {
		k := g.d.Groups[(v-n)/2]
		return k.ID, k.drawn != nil
	}
	return string(g.d.Items[v].Key), g.d.Items[v].drawn != nil
}

// asked lists what labels say of what the drawings show; of too much, the first part.
func (g drawnGraph) asked() (out []shownBefore) {
	d := g.d
	ask := func(q shownBefore, s *drawn, rs []reading) {
		if s == nil || !s.lost {
			return
		}
		for t := range targets(rs) {
			if len(out) > d.Rules.MaxEdges {
				return
			}
			q.at, q.place = t.at, s.at
			for _, q.from = range g.named(q.to, t) {
				var shown bool
				if q.name, shown = g.drawn(q.from); shown {
					out = append(out, q)
				}
			}
		}
	}
	for i := range d.Items {
		ask(shownBefore{to: int32(i), key: string(d.Items[i].Key)}, d.Items[i].drawn, d.after[i])
	}
	for k := range d.Groups {
		ask(shownBefore{to: g.begin(int32(k)), key: d.Groups[k].ID}, d.Groups[k].drawn, d.groupSay[k].readings)
	}
	return out
}

// make returns the graph and its order; nil if the drawings make a cycle or too many edges.
func (g drawnGraph) make() (*dag.Graph, []int32) {
	d := g.d
	n := len(d.Items) + 2*len(d.Groups)
	var edges []edge
	link := func(from, to int32) { edges = append(edges, edge{from: from, to: to}) }
	state := func(s *drawn, to int32) {
		if s == nil {
			return
		}
		for _, t := range s.targets {
			if len(edges) > d.Rules.MaxEdges {
				return
			}
			for _, from := range g.named(to, t) {
				link(from, to)
			}
		}
	}
	for i := range d.Items {
		state(d.Items[i].drawn, int32(i))
		if k := d.Items[i].Group; k >= 0 {
			link(g.begin(k), int32(i))
			link(int32(i), g.begin(k)+1)
		}
	}
	for k := range d.Groups {
		state(d.Groups[k].drawn, g.begin(int32(k)))
		link(g.begin(int32(k)), g.begin(int32(k))+1)
	}
	if len(edges) > d.Rules.MaxEdges {
		return nil, nil
	}
	graph := dag.New(n, blocking(edges))
	order := graph.Order()
	if len(order) < n {
		return nil, nil
	}
	return graph, order
}
