package compiler

import (
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// checkMovingKeys warns of items whose key is their place and whose id is written
// nowhere: when an item is inserted above them, they become another one.
func (u *unit) checkMovingKeys(diags *diag.List) {
	if !u.c.in.Options.NoAnnotate || u.dialect.In != syntax.InTodo {
		return
	}
	n, first := 0, diag.Range{}
	for _, it := range lists.Each(u.tree.Items) {
		if it.Annotation.Set() || !it.Placed {
			continue
		}
		if n++; n == 1 {
			first = it.Range
		}
	}
	if n == 0 {
		return
	}
	diags.Add(diag.Newf("moving-key", first, "%s identified by position only", countAre(n, "item")).
		WithDetail("The key of an item without an id is its position, which moves when an item is inserted above it; --no-annotate leaves out the lasting id. Compile without it, or begin the items with ids such as #12."))
}
