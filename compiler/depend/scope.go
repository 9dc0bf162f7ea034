package depend

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/dag"
	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// maxPatterns bounds how many different globs are compared with each other;
// beyond it only equal ones overlap.
const maxPatterns = 500

// Overlap is a set of items that claim the same files.
type Overlap struct {
	Path  string
	Items []int32
}

// Overlaps finds the items that claim the same files: by equal patterns, or one
// pattern that matches or contains another.
func Overlaps(claims [][]string) []Overlap {
	byPath := map[string][]int32{}
	for i, ps := range claims {
		for _, p := range ps {
			if l := byPath[p]; len(l) == 0 || l[len(l)-1] != int32(i) {
				byPath[p] = append(l, int32(i))
			}
		}
	}
	patterns := slices.Sorted(maps.Keys(byPath))
	var out []Overlap
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
			out = append(out, Overlap{p, items})
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
	claims := lists.Map(d.Items, func(x Item) []string { return x.Owns })
	place := make([]int32, len(d.Items))
	for at, i := range d.topo {
		place[i] = int32(at)
	}
	var pairs []Pair
	for _, o := range Overlaps(claims) {
		slices.SortFunc(o.Items, func(a, b int32) int { return int(place[a] - place[b]) })
		for k := 1; k < len(o.Items); k++ {
			pairs = append(pairs, Pair{o.Items[k-1], o.Items[k], o.Path})
		}
	}
	made, said := false, false
	d.out.Unordered(pairs, func(p Pair) {
		made = true
		d.addEdge(p.A, p.B, byScope, d.Items[p.B].At)
		if !said {
			said = true
			d.diags.Add(diag.Newf("scope-edge", d.Items[p.B].At, "%s waits for %s because of files", clip(string(d.Items[p.B].Key)), clip(string(d.Items[p.A].Key))).
				WithDetail("Both own %q, and the policy sets serialize_overlaps. Other pairs are treated alike.", clip(p.Path)).
				WithRelated(d.Items[p.A].At, "%s is here", d.Items[p.A].Key))
		}
	})
	if made {
		d.finish()
		d.graph = dag.New(len(d.Items), blocking(d.edges)) // its edges follow d.topo
	}
}

// Pair is two items that claim a path.
type Pair struct {
	A, B int32
	Path string
}

// Unordered calls visit for the pairs without a path from a to b, in order. In each
// pair a is before b in the order of the graph.
func (o *Graph) Unordered(pairs []Pair, visit func(Pair)) {
	for k, leads := range o.d.graph.Leads(o.d.topo, len(pairs), func(k int) (from, to int32) { return pairs[k].A, pairs[k].B }) {
		if !leads {
			visit(pairs[k])
		}
	}
}
