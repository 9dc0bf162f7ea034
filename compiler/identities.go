package compiler

import (
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// Named is an item of a plan with its id in the plan.
type Named struct {
	ID    ir.NodeID
	Key   ir.Key
	Title string
	Range diag.Range // of its heading
}

// Identities reads the ids in a plan: the epic's, "" if it has none, and those of its
// items, in order; items without one are left out. A plan with errors is read as far as
// possible.
func Identities(file *diag.File) (epic ir.NodeID, items []Named) {
	tree, _ := located(file)
	for i := range tree.Items {
		if it := &tree.Items[i]; it.Annotation.Set() {
			items = append(items, Named{ir.NodeID(it.Annotation.ID), ir.Key(it.ID), it.Title, it.Range})
		}
	}
	return ir.NodeID(tree.Epic.ID), items
}

// located reads a plan for its places: policy and options do not count.
func located(file *diag.File) (*syntax.Plan, diag.List) {
	fm, _ := syntax.Peek(file)
	opts := syntax.Options{}
	if d, known := builtinDialect(fm.Dialect.Value); known {
		opts.Dialect = d
	}
	return syntax.Parse(file, opts)
}
