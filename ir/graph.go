package ir

import (
	"slices"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// Cycles returns the dependency cycles: for each set of nodes that all wait for
// each other, one shortest cycle through its smallest key, starting at that key:
// each key waits for the next one, the last for the first. A node that waits for itself is a cycle of one. Sorted by first key;
// nil if there is no cycle. Takes time linear in the graph, but for the sorting.
func Cycles(nodes []Node) (cycles [][]Key) {
	if _, ok := Order(nodes); ok {
		return nil
	}
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b Node) int { return CompareKeys(a.Key, b.Key) })
	for _, c := range newLinks(nodes).Cycles() {
		keys := lists.Map(c, func(i int32) Key { return nodes[i].Key })
		cycles = append(cycles, keys)
	}
	return cycles
}

// Impact returns the keys of all nodes that wait for key, directly or through
// others, in the order of nodes; nil if there is no such node. Cycles are
// allowed.
func Impact(nodes []Node, key Key) []Key {
	l := newLinks(nodes)
	start, exists := l.index[key]
	if !exists {
		return nil
	}
	var out []Key
	for i, behind := range l.Behind(int32(start)) {
		if behind && i != start {
			out = append(out, nodes[i].Key)
		}
	}
	return out
}

// Redundant is an edge that other edges already imply.
type Redundant struct {
	Node  Key // waits for Key
	Key   Key
	Via   Key // which waits for Key too, and which Node waits for
	Index int // of the edge in the node's After
}

const maxRedundant = 1000

// RedundantEdges returns the blocks edges that can be left out without changing
// what waits for what, in the order of nodes, at most 1000 of them. It returns nil for a graph with a
// cycle, and for one so large that the search would take too long.
func RedundantEdges(nodes []Node) (out []Redundant) {
	l := newLinks(nodes)
	order := l.Order()
	if len(order) < len(nodes) {
		return nil
	}
	type edge struct{ from, to int32 }
	var edges []edge
	for i := range nodes {
		for j, e := range nodes[i].After {
			if p, exists := l.index[e.Key]; exists && e.Type == Blocks && len(l.preds[i]) > 1 {
				edges = append(edges, edge{int32(p), int32(i)})
				out = append(out, Redundant{Node: nodes[i].Key, Key: e.Key, Index: j})
			}
		}
	}
	l.Redundant(order, len(edges), func(k int) (from, to int32) { return edges[k].from, edges[k].to }, func(k int, leads func(int32) bool) {
		preds := l.preds[edges[k].to]
		out[k].Via = nodes[preds[slices.IndexFunc(preds, func(p int) bool { return leads(int32(p)) })]].Key
	})
	out = slices.DeleteFunc(out, func(r Redundant) bool { return r.Via == "" })
	return out[:min(len(out), maxRedundant)]
}
