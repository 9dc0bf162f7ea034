package ir

import (
	"slices"

	"github.com/dominikbraun/graph"
)

// Cycles returns the dependency cycles: for each set of nodes that all wait for
// each other, one shortest cycle through its smallest key, starting at that key:
// each key waits for the next one, the last for the first. A node that waits for itself is a cycle of one. Sorted by first key;
// nil if there is no cycle. Takes time linear in the graph.
func Cycles(nodes []Node) [][]Key {
	l := newLinks(nodes)
	order := l.Order()
	if len(order) == len(nodes) {
		return nil
	}
	left := l.Left(order) // only that can hold a cycle
	g := l.graph(func(i int) bool { return left[i] })
	knots, err := graph.StronglyConnectedComponents(g)
	if err != nil {
		panic("ir: components of a directed graph: " + err.Error())
	}
	knot := make([]int, len(nodes))
	for k, members := range knots {
		for _, v := range members {
			knot[v-1] = k + 1
		}
	}
	var cycles [][]Key
	for k, members := range knots {
		first := slices.MinFunc(members, func(a, b int) int { return CompareKeys(nodes[a-1].Key, nodes[b-1].Key) })
		if path := l.shortestCycle(first-1, func(i int) bool { return knot[i] == k+1 }); path != nil {
			cycles = append(cycles, path)
		}
	}
	slices.SortFunc(cycles, func(a, b []Key) int { return CompareKeys(a[0], b[0]) })
	return cycles
}

// graph builds the library's graph of the nodes that keep names: plainly, since
// its own cycle prevention is quadratic. Edges run from what is waited for.
// Vertices are 1 + the index of a node, since the library's search for
// components takes the zero value of a vertex for none.
func (l *links) graph(keep func(i int) bool) graph.Graph[int, int] {
	g := graph.New(graph.IntHash, graph.Directed())
	for i := range l.nodes {
		if keep(i) {
			must(g.AddVertex(i + 1))
		}
	}
	for i := range l.nodes {
		for _, s := range l.Next(int32(i)) {
			if keep(i) && keep(int(s)) {
				must(g.AddEdge(i+1, int(s)+1))
			}
		}
	}
	return g
}

func must(err error) {
	if err != nil {
		panic("ir: build graph: " + err.Error())
	}
}

// shortestCycle searches breadth first along what nodes wait for, smallest key
// first, from start back to start; nil if start is on no cycle.
func (l *links) shortestCycle(start int, within func(int) bool) []Key {
	via := map[int]int{}
	queue := []int{start}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		preds := slices.Clone(l.preds[i])
		slices.SortFunc(preds, func(a, b int) int { return CompareKeys(l.nodes[a].Key, l.nodes[b].Key) })
		for _, p := range preds {
			if p == start {
				path := []Key{l.nodes[i].Key}
				for i != start {
					i = via[i]
					path = append(path, l.nodes[i].Key)
				}
				slices.Reverse(path)
				return path
			}
			if _, seen := via[p]; !seen && within(p) {
				via[p] = i
				queue = append(queue, p)
			}
		}
	}
	return nil
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

// redundantWork bounds what RedundantEdges does: words of 64 bits touched.
const (
	redundantWork = 1 << 29
	maxRedundant  = 1000
)

// RedundantEdges returns the blocks edges that can be left out without changing
// what waits for what, in the order of nodes, at most 1000 of them. It returns nil for a graph with a
// cycle, and for one so large that the search would take more than about a second
// (nodes × edges above 34 billion).
func RedundantEdges(nodes []Node) []Redundant {
	l := newLinks(nodes)
	order, ok := l.order()
	if !ok {
		return nil
	}
	edges := 0
	var columns []int // the nodes that one of several edges leads to
	column := make([]int, len(nodes))
	for i := range nodes {
		edges += len(l.preds[i])
		if len(l.preds[i]) < 2 {
			continue
		}
		for _, p := range l.preds[i] {
			if column[p] == 0 {
				columns = append(columns, p)
				column[p] = len(columns)
			}
		}
	}
	if edges*(len(columns)/64+1) > redundantWork {
		return nil
	}
	found := map[[2]int]int{} // (node, pred) → via
	// Sets of ancestors, a slice of columns at a time to bound the memory.
	const words = 32
	above := make([][words]uint64, len(nodes))
	for from := 1; from <= len(columns); from += 64 * words {
		clear(above)
		for _, i := range order {
			for _, p := range l.preds[i] {
				for w, bits := range above[p] {
					above[i][w] |= bits
				}
			}
			// What stands above i without its own edges is above another pred.
			for _, p := range l.preds[i] {
				c := column[p] - from
				if c < 0 || c >= 64*words || above[i][c/64]&(1<<(c%64)) == 0 || len(found) == maxRedundant {
					continue
				}
				via := slices.IndexFunc(l.preds[i], func(q int) bool { return above[q][c/64]&(1<<(c%64)) != 0 })
				found[[2]int{i, p}] = l.preds[i][via]
			}
			for _, p := range l.preds[i] {
				if c := column[p] - from; c >= 0 && c < 64*words {
					above[i][c/64] |= 1 << (c % 64)
				}
			}
		}
	}
	var out []Redundant
	for i := range nodes {
		for j, e := range nodes[i].After {
			p, exists := l.index[e.Key]
			if via, redundant := found[[2]int{i, p}]; exists && redundant && e.Type == Blocks {
				out = append(out, Redundant{Node: nodes[i].Key, Key: e.Key, Via: nodes[via].Key, Index: j})
			}
		}
	}
	return out
}
