package compiler

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/glob"
)

// maxPatterns bounds how many different globs are compared with each other;
// beyond it only equal ones overlap.
const maxPatterns = 500

// overlap is a set of items that claim the same files.
type overlap struct {
	path  string
	items []int32
}

// overlaps finds the items that claim the same files: by equal patterns, or one
// pattern that matches or contains another.
func overlaps(claims [][]string) []overlap {
	byPath := map[string][]int32{}
	for i, ps := range claims {
		for _, p := range ps {
			if l := byPath[p]; len(l) == 0 || l[len(l)-1] != int32(i) {
				byPath[p] = append(l, int32(i))
			}
		}
	}
	patterns := slices.Sorted(maps.Keys(byPath))
	var out []overlap
	for _, p := range patterns {
		items := byPath[p]
		if len(patterns) <= maxPatterns {
			for _, q := range patterns {
				if p != q && contains(p, q) {
					items = append(slices.Clone(items), byPath[q]...)
				}
			}
		}
		slices.Sort(items)
		if items = slices.Compact(items); len(items) > 1 {
			out = append(out, overlap{p, items})
		}
	}
	return out
}

// contains reports whether every file of q may be a file of p.
func contains(p, q string) bool {
	if strings.ContainsAny(p, "*?[{") {
		return glob.Match(p, q)
	}
	return strings.HasSuffix(p, "/") && strings.HasPrefix(q, p)
}

// scopeEdges gives items that own the same files an order: that in which they
// would run, smallest number first.
func (d *depender) scopeEdges() {
	claims := make([][]string, len(d.items))
	for i := range d.items {
		claims[i] = d.items[i].owns
	}
	place := make([]int32, len(d.items))
	for at, i := range d.topo {
		place[i] = int32(at)
	}
	var pairs []pair
	for _, o := range overlaps(claims) {
		slices.SortFunc(o.items, func(a, b int32) int { return int(place[a] - place[b]) })
		for k := 1; k < len(o.items); k++ {
			pairs = append(pairs, pair{o.items[k-1], o.items[k], o.path})
		}
	}
	made, said := false, false
	d.out.unordered(pairs, func(p pair) {
		made = true
		d.addEdge(p.a, p.b, byScope, d.items[p.b].at)
		if !said {
			said = true
			d.diags.Add(diag.Newf("scope-edge", d.items[p.b].at, "%s waits for %s because of files", clip(string(d.items[p.b].key)), clip(string(d.items[p.a].key))).
				WithDetail("Both own %q, and the policy sets serialize_overlaps. Other pairs are treated alike.", clip(p.path)).
				WithRelated(d.items[p.a].at, "%s is here", d.items[p.a].key))
		}
	})
	if made {
		d.finish()
		d.followers()
	}
}

// pair is two items that claim a path.
type pair struct {
	a, b int32
	path string
}

// unordered calls visit for the pairs without a path from a to b, in order. In each
// pair a stands before b in the order of the graph.
func (o *depOutput) unordered(pairs []pair, visit func(pair)) {
	by := map[int32][]int{}
	var sources []int32
	for k, p := range pairs {
		if by[p.a] == nil {
			sources = append(sources, p.a)
		}
		by[p.a] = append(by[p.a], k)
	}
	open := make([]bool, len(pairs))
	o.d.spread(sources, func(round []int32, reached []uint64) {
		for bit, s := range round {
			for _, k := range by[s] {
				open[k] = reached[pairs[k].b]&(1<<bit) == 0
			}
		}
	})
	for k, p := range pairs {
		if open[k] {
			visit(p)
		}
	}
}
