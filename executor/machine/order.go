package machine

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/ir"
)

// graph is the nodes of an epic, and those that are on record beside it.
type graph struct {
	*rules
	nodes  []*node // in the epic's order, the sum last
	byID   map[ir.NodeID]*node
	former []*node // on record, and not in the epic any more, by id
}

// inOrder goes through a map in the order of its keys. Nothing in this package goes
// through one as it is, so that two processes with the same events say the same.
func inOrder[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] { return inOrderOf(m, cmp.Compare) }

// inOrderOf is inOrder for keys that are compared in their own way.
func inOrderOf[K comparable, V any](m map[K]V, compare func(a, b K) int) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		keys := slices.AppendSeq(make([]K, 0, 8), maps.Keys(m)) // of a few, on the stack
		slices.SortFunc(keys, compare)
		for _, k := range keys {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// newest is the last element of a list that is as it should be, nil if none is.
func newest[T any](list []T, is func(*T) bool) *T {
	for i := len(list) - 1; i >= 0; i-- {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// all goes through all nodes on record: those of the epic in its order, the sum, and
// those that are gone by their ids.
func (gr *graph) all() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for _, list := range [2][]*node{gr.nodes, gr.former} {
			for _, n := range list {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// addGone puts a node on record that is not in the epic any more.
func (gr *graph) addGone(id ir.NodeID) *node {
	n := &node{id: id, index: -1, numbers: map[string]int{}}
	gr.byID[id] = n
	at, _ := slices.BinarySearchFunc(gr.former, id, func(n *node, id ir.NodeID) int { return cmp.Compare(n.id, id) })
	gr.former = slices.Insert(gr.former, at, n)
	return n
}
