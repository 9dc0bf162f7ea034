package ir

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/dag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// CompareKeys orders keys as people count: runs of digits by their value, runs
// of letters as text, piece by piece, so that 1.9 < 1.10 < 1.10a < 1a.1 < 2.1
// and T9 < T046 < T046B < T47. It is a total order: only equal keys compare as 0.
func CompareKeys(a, b Key) int {
	x, y := string(a), string(b)
	for x != "" && y != "" {
		var p, q string
		var kp, kq int
		p, x, kp = piece(x)
		q, y, kq = piece(y)
		if kp != kq {
			return cmp.Compare(kp, kq)
		}
		c := strings.Compare(p, q)
		if kp == pieceDigits {
			p, q = strings.TrimLeft(p, "0"), strings.TrimLeft(q, "0")
			c = cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q))
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(string(a), string(b)))
}

const (
	pieceOther = iota // separators come before digits: 1.2 < 1a.1, phase before phase
	pieceDigits
	pieceLetters
)

// piece cuts the first run of digits, of letters or of anything else from s.
func piece(s string) (first, rest string, kind int) {
	kind = kindOf(s[0])
	i := 1
	for i < len(s) && kindOf(s[i]) == kind {
		i++
	}
	return s[:i], s[i:], kind
}

func kindOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return pieceDigits
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80:
		return pieceLetters
	}
	return pieceOther
}

// BlockingKeys are the keys of the edges that block, in their order.
func BlockingKeys(edges []Edge) (keys []Key) {
	for _, e := range edges {
		if e.Type == Blocks {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// SortEdges sorts a node's edges in the order of epic.json: by key, then by the
// name of the type.
func SortEdges(edges []Edge) {
	slices.SortStableFunc(edges, compareEdges)
}

func compareEdges(a, b Edge) int {
	return cmp.Or(CompareKeys(a.Key, b.Key), cmp.Compare(a.Type, b.Type), cmp.Compare(a.From, b.From))
}

// Order returns the indices of nodes in the order of epic.json: every node
// after those that it waits for; among the nodes that could come next, the one
// with the smallest key. Only blocks edges count; edges to keys that no
// node has do not. With a cycle, ok is false and the nodes on cycles, and those
// that wait for them, are left out.
func Order(nodes []Node) (order []int, ok bool) { return newLinks(nodes).order() }

// links is a graph over the indices of nodes: only blocks edges, each once.
type links struct {
	nodes []Node
	index map[Key]int
	preds [][]int
	*dag.Graph
}

func newLinks(nodes []Node) *links {
	l := &links{
		nodes: nodes,
		index: make(map[Key]int, len(nodes)),
		preds: make([][]int, len(nodes)),
	}
	for i := range nodes {
		if _, twice := l.index[nodes[i].Key]; !twice {
			l.index[nodes[i].Key] = i
		}
	}
	last := make([]int, len(nodes)) // 1 + the last node that an edge was made to
	for i := range nodes {
		for _, e := range nodes[i].After {
			p, exists := l.index[e.Key]
			if e.Type != Blocks || !exists || last[p] == i+1 {
				continue
			}
			last[p] = i + 1
			l.preds[i] = append(l.preds[i], p)
		}
	}
	l.Graph = dag.New(len(nodes), l.edges)
	return l
}

// edges yields each edge as what is waited for and what waits.
func (l *links) edges(yield func(from, to int32) bool) {
	for i := range l.preds {
		for _, p := range l.preds[i] {
			if !yield(int32(p), int32(i)) {
				return
			}
		}
	}
}

func (l *links) order() ([]int, bool) {
	byKey := make([]int32, len(l.nodes))
	for i := range byKey {
		byKey[i] = int32(i)
	}
	slices.SortStableFunc(byKey, func(a, b int32) int { return CompareKeys(l.nodes[a].Key, l.nodes[b].Key) })
	sorted := l.OrderBy(byKey)
	order := lists.Map(sorted, func(i int32) int { return int(i) })
	return order, len(order) == len(l.nodes)
}
