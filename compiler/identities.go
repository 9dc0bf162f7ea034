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

// Locate finds an item in the plan's current text: by its annotation, which survives
// renumbering and moving; else by its section, a path of headings; else by its key. It
// returns the line of its heading from 1, 0 if it is missing. A plan with errors is
// searched as far as it can be read.
func Locate(file *diag.File, id ir.NodeID, section string, key ir.Key) int {
	tree, _ := located(file)
	find := func(is func(*syntax.Item) bool) int {
		for i := range tree.Items {
			if is(&tree.Items[i]) {
				return file.Position(tree.Items[i].Range.Start).Line
			}
		}
		return 0
	}
	if line := find(func(it *syntax.Item) bool { return id != "" && it.Annotation.ID == string(id) }); line > 0 {
		return line
	}
	// One that has another's annotation is another.
	own := func(it *syntax.Item) bool { return id == "" || !it.Annotation.Set() }
	if line := find(func(it *syntax.Item) bool { return own(it) && section != "" && it.Section == section }); line > 0 {
		return line
	}
	return find(func(it *syntax.Item) bool { return own(it) && key != "" && it.ID == string(key) })
}
