package compiler

import (
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// passSeal gives ids, puts the nodes in their order and digests them. It runs
// only when there is no error, so the graph has no cycle.
func passSeal(u *unit, e *ir.Epic, diags *diag.List) (*ir.Epic, identities) {
	e = with(e)
	ids := u.deriveIDs(e.Epic, diags)
	e.Epic.ID = ids.epic
	for i := range e.Nodes {
		e.Nodes[i].ID = ids.nodes[i]
	}
	order, ok := ir.Order(e.Nodes)
	if !ok {
		panic("compiler: a cycle reached the seal")
	}
	nodes := lists.Map(order, func(from int) ir.Node { return e.Nodes[from] })
	e.Nodes = nodes
	ir.Seal(e)
	u.checkTaken(e, ids, diags)
	return e, ids
}
