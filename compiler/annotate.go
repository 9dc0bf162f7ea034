package compiler

import (
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
)

func annotation(name, id string) string { return "<!-- " + name + ": " + id + " -->" }

// annotate returns the plan with the ids that it does not carry yet, and how
// many were added, the epic's own not counted. All other bytes stay.
func (u *unit) annotate(ids identities) ([]byte, int) {
	if u.tree == nil {
		return u.file.Bytes, 0
	}
	var edits []diag.Fix
	add := func(s syntax.Slot, name, id string) {
		if s.Form != 0 && s.Offset >= 0 && s.Offset <= len(u.file.Bytes) {
			edits = append(edits, diag.Fix{Range: diag.Range{Start: s.Offset, End: s.Offset}, Text: s.Prefix + annotation(name, id) + s.Suffix})
		}
	}
	if !u.tree.Epic.Set() {
		add(u.tree.EpicSlot, "beads-ralph-epic", string(ids.epic))
	}
	before := len(edits)
	for i := range u.tree.Items {
		if !u.tree.Items[i].Annotation.Set() {
			add(u.tree.Items[i].Slot, "beads-ralph", string(ids.nodes[i]))
		}
	}
	return diag.Fixed(u.file.Bytes, edits), len(edits) - before
}

// FormatAnnotations writes the annotations of a plan in their one form,
// `<!-- beads-ralph: bd-a1b2c3 -->`, and leaves all other bytes alone. The list
// holds the syntax mistakes of the plan; with an error the bytes are returned
// unchanged.
func FormatAnnotations(file *diag.File) ([]byte, diag.List) {
	tree, diags := located(file)
	if diags.HasErrors() {
		return file.Bytes, diags
	}
	var edits []diag.Fix
	add := func(a syntax.Annotation, name string) {
		if want := annotation(name, a.ID); a.Set() && file.Text(a.Range) != want {
			edits = append(edits, diag.Fix{Range: a.Range, Text: want})
		}
	}
	add(tree.Epic, "beads-ralph-epic")
	for i := range tree.Items {
		add(tree.Items[i].Annotation, "beads-ralph")
	}
	return diag.Fixed(file.Bytes, edits), diags
}
