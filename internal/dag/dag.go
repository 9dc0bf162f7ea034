// Package dag is what ordering work needs of directed graphs: an order in which nothing
// comes before what it waits for, what is left on cycles, and what leads to what.
//
// Nodes are indices from 0. It imports the standard library alone.
package dag

import (
	"container/heap"
	"iter"
	"slices"
)

// Graph holds what follows each node. It is not changed once it is made.
type Graph struct {
	first []int // next[first[i]:first[i+1]] follow node i
	next  []int32
}

// New returns the graph of n nodes; edges yields each edge as what is waited for and what
// waits, and is gone through twice. What follows a node stands in the order of edges.
func New(n int, edges iter.Seq2[int32, int32]) *Graph {
	g := &Graph{first: make([]int, n+1)}
	for from := range edges {
		g.first[from+1]++
	}
	for i := range n {
		g.first[i+1] += g.first[i]
	}
	fill := slices.Clone(g.first)
	g.next = make([]int32, g.first[n])
	for from, to := range edges {
		g.next[fill[from]] = to
		fill[from]++
	}
	return g
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.first) - 1 }

// Next returns what follows node i.
func (g *Graph) Next(i int32) []int32 { return g.next[g.first[i]:g.first[i+1]] }

// Order returns the nodes, none before what it waits for; those that nothing holds back
// come by index. Nodes on cycles, and those that wait for them, are left out.
func (g *Graph) Order() []int32 {
	waits := g.waits()
	order := make([]int32, 0, g.Len())
	for i, n := range waits {
		if n == 0 {
			order = append(order, int32(i))
		}
	}
	for k := 0; k < len(order); k++ {
		for _, i := range g.Next(order[k]) {
			if waits[i]--; waits[i] == 0 {
				order = append(order, i)
			}
		}
	}
	return order
}

// OrderBy returns the nodes, none before what it waits for, and of those that could come
// next always the one that stands first in preferred, which holds each node once. Nodes
// on cycles, and those that wait for them, are left out.
func (g *Graph) OrderBy(preferred []int32) []int32 {
	rank := make([]int32, len(preferred))
	for r, i := range preferred {
		rank[i] = int32(r)
	}
	waits := g.waits()
	var ready ranks
	for i, n := range waits {
		if n == 0 {
			ready = append(ready, rank[i])
		}
	}
	heap.Init(&ready)
	order := make([]int32, 0, g.Len())
	for len(ready) > 0 {
		i := preferred[heap.Pop(&ready).(int32)]
		order = append(order, i)
		for _, s := range g.Next(i) {
			if waits[s]--; waits[s] == 0 {
				heap.Push(&ready, rank[s])
			}
		}
	}
	return order
}

// Left says of each node whether an order leaves it out.
func (g *Graph) Left(order []int32) []bool {
	left := slices.Repeat([]bool{true}, g.Len())
	for _, i := range order {
		left[i] = false
	}
	return left
}

// Behind says of each node whether a path of at least one edge leads to it from node i.
func (g *Graph) Behind(i int32) []bool {
	behind := make([]bool, g.Len())
	for stack := slices.Clone(g.Next(i)); len(stack) > 0; {
		at := stack[len(stack)-1]
		if stack = stack[:len(stack)-1]; !behind[at] {
			behind[at] = true
			stack = append(stack, g.Next(at)...)
		}
	}
	return behind
}

func (g *Graph) waits() []int32 {
	waits := make([]int32, g.Len())
	for _, to := range g.next {
		waits[to]++
	}
	return waits
}

// Reach answers questions of reachability for many sources at once: one bit each, 64 in a
// round, carried along an order of the graph. visit is called after each round with the
// sources of the round and, for each node, the bits of the sources from which a path of
// at least one edge leads to it.
func (g *Graph) Reach(order, sources []int32, visit func(round []int32, reached []uint64)) {
	reached := make([]uint64, g.Len())
	own := make([]uint64, g.Len())
	for len(sources) > 0 {
		round := sources[:min(64, len(sources))]
		sources = sources[len(round):]
		clear(reached)
		for k, s := range round {
			own[s] = 1 << k
		}
		for _, i := range order {
			carry := reached[i] | own[i]
			if carry == 0 {
				continue
			}
			for _, to := range g.Next(i) {
				reached[to] |= carry
			}
		}
		visit(round, reached)
		for _, s := range round {
			own[s] = 0
		}
	}
}

// ranks is a heap of places in an order of preference.
type ranks []int32

func (r ranks) Len() int           { return len(r) }
func (r ranks) Less(i, j int) bool { return r[i] < r[j] }
func (r ranks) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ranks) Push(x any)        { *r = append(*r, x.(int32)) }
func (r *ranks) Pop() any {
	old := *r
	x := old[len(old)-1]
	*r = old[:len(old)-1]
	return x
}
