package compiler

import (
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

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
