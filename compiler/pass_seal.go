package compiler

import (
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// passSeal gives ids, puts the nodes in their order and digests them. It runs
// only when there is no error, so the graph has no cycle.
func (b *build) passSeal(diags *diag.List) *ir.Epic {
	e := b.own()
	b.ids = b.deriveIDs(e.Epic, diags)
	e.Epic.ID = b.ids.epic
	for i := range e.Nodes {
		e.Nodes[i].ID = b.ids.nodes[i]
	}
	order, ok := ir.Order(e.Nodes)
	if !ok {
		panic("compiler: a cycle reached the seal")
	}
	e.Nodes = lists.Map(order, func(from int) ir.Node { return e.Nodes[from] })
	ir.Seal(e)
	b.checkTaken(e, b.ids, diags)
	return e
}
