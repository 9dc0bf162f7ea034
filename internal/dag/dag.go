// Package dag is what ordering work needs of directed graphs: an order in which nothing
// comes before what it waits for, cycles, what leads to what, and which edges say nothing new.
//
// Nodes are indices from 0. It imports the standard library alone.
package dag

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"
	"sort"
)

// Graph holds what follows each node. It is not changed once it is made.
type Graph struct {
	first []int // next[first[i]:first[i+1]] follow node i
	next  []int32
}

// New returns the graph of n nodes; edges yields each edge as what is waited for and what
// waits, and is gone through twice. What follows a node is in the order of edges.
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
// next always the one that is first in preferred, which holds each node once. Nodes
// on cycles, and those that wait for them, are left out.
func (g *Graph) OrderBy(preferred []int32) []int32 {
	rank := make([]int, len(preferred))
	for r, i := range preferred {
		rank[i] = r
	}
	waits := g.waits()
	var ready ranks
	for i, n := range waits {
		if n == 0 {
			ready.Push(rank[i])
		}
	}
	heap.Init(&ready)
	order := make([]int32, 0, g.Len())
	for ready.Len() > 0 {
		i := preferred[heap.Pop(&ready).(int)]
		order = append(order, i)
		for _, s := range g.Next(i) {
			if waits[s]--; waits[s] == 0 {
				heap.Push(&ready, rank[s])
			}
		}
	}
	return order
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

// Leads says of each of n pairs whether a path of at least one edge leads from its first
// node to its second. order is the order of the graph, which has no cycle.
func (g *Graph) Leads(order []int32, n int, pair func(k int) (from, to int32)) []bool {
	out := make([]bool, n)
	g.ask(order, n, pair, func(k int, to int32, bit uint64, reached, _ []uint64) { out[k] = reached[to]&bit != 0 })
	return out
}

// mostRedundant bounds the search for redundant edges, which gives only hints: about a
// second.
const mostRedundant = 1 << 29

// Redundant calls visit for each of n edges that a path of two or more edges implies. leads
// says whether a path leads from the edge's first node to another one. A graph for which
// the search would take too long has none.
func (g *Graph) Redundant(order []int32, n int, edge func(k int) (from, to int32), visit func(k int, leads func(to int32) bool)) {
	first, sources := make([]bool, g.Len()), 0
	for k := range n {
		if from, _ := edge(k); !first[from] {
			first[from] = true
			sources++
		}
	}
	if (sources/64+1)*(g.Len()+len(g.next)) > mostRedundant {
		return
	}
	g.ask(order, n, edge, func(k int, to int32, bit uint64, reached, far []uint64) {
		if far[to]&bit != 0 {
			visit(k, func(other int32) bool { return reached[other]&bit != 0 })
		}
	})
}

// ask follows the graph from the first nodes of many pairs at once: one bit each, 64 in a
// round, carried along an order. answer gets the bits of the nodes from which a path of at
// least one edge (reached) and of at least two (far) leads to each node.
func (g *Graph) ask(order []int32, n int, pair func(k int) (from, to int32), answer func(k int, to int32, bit uint64, reached, far []uint64)) {
	if n == 0 {
		return
	}
	type question struct {
		k        int
		from, to int32
	}
	asked := make([]question, n)
	for k := range asked {
		from, to := pair(k)
		asked[k] = question{k, from, to}
	}
	slices.SortStableFunc(asked, func(a, b question) int { return cmp.Compare(a.from, b.from) })
	own, reached, far := make([]uint64, g.Len()), make([]uint64, g.Len()), make([]uint64, g.Len())
	for len(asked) > 0 {
		sources, end := 0, 0
		for ; end < len(asked); end++ {
			if from := asked[end].from; own[from] == 0 {
				if sources == 64 {
					break
				}
				own[from] = 1 << sources
				sources++
			}
		}
		for _, i := range order {
			if reached[i]|own[i] == 0 {
				continue
			}
			for _, to := range g.Next(i) {
				far[to] |= reached[i]
				reached[to] |= reached[i] | own[i]
			}
		}
		for _, q := range asked[:end] {
			answer(q.k, q.to, own[q.from], reached, far)
		}
		asked = asked[end:]
		clear(own)
		clear(reached)
		clear(far)
	}
}

// Cycles returns one shortest cycle for each set of nodes that all lead to each other: that
// through the smallest of them, which comes first, and by it. Each node waits for the next
// one, the last for the first. It takes time linear in the graph.
func (g *Graph) Cycles() (cycles [][]int32) {
	back := New(g.Len(), func(yield func(from, to int32) bool) {
		for i := range int32(g.Len()) {
			for _, to := range g.Next(i) {
				if !yield(to, i) {
					return
				}
			}
		}
	})
	knot := make([]int32, g.Len()) // by node: 1 + the smallest node of its set
	for _, root := range slices.Backward(g.finished()) {
		if knot[root] > 0 {
			continue
		}
		knot[root] = root + 1
		members := []int32{root}
		for k := 0; k < len(members); k++ {
			for _, i := range back.Next(members[k]) {
				if knot[i] == 0 {
					knot[i] = root + 1
					members = append(members, i)
				}
			}
		}
		first := slices.Min(members)
		for _, i := range members {
			knot[i] = first + 1
		}
	}
	via := make([]int32, g.Len())
	for i, k := range knot {
		if int(k) == i+1 {
			if c := back.shortest(int32(i), knot, via); c != nil {
				cycles = append(cycles, c)
			}
		}
	}
	return cycles
}

// finished returns the nodes, each after all that can be reached from it and was not
// reached before.
func (g *Graph) finished() []int32 {
	out, seen, next := make([]int32, 0, g.Len()), make([]bool, g.Len()), slices.Clone(g.first)
	var stack []int32
	for root := range int32(g.Len()) {
		if !seen[root] {
			stack = append(stack, root)
		}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			seen[at] = true
			if next[at] == g.first[at+1] {
				out, stack = append(out, at), stack[:len(stack)-1]
			} else if next[at]++; !seen[g.next[next[at]-1]] {
				stack = append(stack, g.next[next[at]-1])
			}
		}
	}
	return out
}

// shortest searches, breadth first, a way from start back to it in its set; nil if there is none.
func (g *Graph) shortest(start int32, knot, via []int32) []int32 {
	seen := map[int32]bool{}
	for queue := []int32{start}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, i := range g.Next(at) {
			if i == start {
				path := []int32{at}
				for ; at != start; path = append(path, at) {
					at = via[at]
				}
				slices.Reverse(path)
				return path
			}
			if knot[i] == knot[start] && !seen[i] {
				seen[i], via[i] = true, at
				queue = append(queue, i)
			}
		}
	}
	return nil
}

// ranks is a heap of places in an order of preference.
type ranks struct{ sort.IntSlice }

func (r *ranks) Push(x any) { r.IntSlice = append(r.IntSlice, x.(int)) }
func (r *ranks) Pop() any {
	last := r.Len() - 1
	x := r.IntSlice[last]
	r.IntSlice = r.IntSlice[:last]
	return x
}
