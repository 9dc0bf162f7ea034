package depend

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// Import gives edges stated by key, those of an imported draft, the place of edges from
// numbers and labels. stated holds what each item waits for.
func Import(in *Input, stated [][]ir.DraftEdge, diags *diag.List) *Graph {
	n := len(in.Items)
	index := make(map[ir.Key]int32, n)
	for i := range in.Items {
		index[in.Items[i].Key] = int32(i)
	}
	d := &depender{
		Input: in, diags: diags, names: NewNames(in), cell: make([]int32, n), bucket: make([]int32, 1),
		has: make([]uint8, n), out: &Graph{},
	}
	d.out.d = d
	for i, es := range stated {
		for _, e := range es {
			from, known := index[e.Key]
			if !known {
				d.unknownClause(int32(i), string(e.Key), e.Range, nil)
				continue
			}
			if from == int32(i) {
				d.diags.Add(diag.Newf("self-dependency", e.Range, "%s waits for itself", clip(string(e.Key))).
					WithDetail("An item that depends on itself can never start. Remove the dependency."))
				continue
			}
			made := newEdge(from, int32(i), byImport, e.Range)
			made.soft = uint8(max(slices.Index(softTypes[:], e.Type), 0))
			d.edges = append(d.edges, made)
		}
	}
	d.finish()
	if cyclic := d.reportCycles(); !cyclic && in.Serialize {
		d.scopeEdges()
	}
	return d.out
}
