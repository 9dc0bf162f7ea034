package compiler

import (
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

func annotation(name, id string) string { return "<!-- " + name + ": " + id + " -->" }

// annotate returns the plan with the ids that it does not carry yet, and how
// many were added, the epic's own not counted. All other bytes stay.
func (u *unit) annotate(ids identities) ([]byte, int) {
	if u.tree == nil {
		return u.file.Bytes, 0
	}
	var edits []text.Edit
	add := func(s syntax.Slot, name, id string) {
		if s.Form != 0 && s.Offset >= 0 && s.Offset <= len(u.file.Bytes) {
			edits = append(edits, text.Edit{From: s.Offset, To: s.Offset, With: s.Prefix + annotation(name, id) + s.Suffix})
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
	return text.Edited(u.file.Bytes, edits), len(edits) - before
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
	var edits []text.Edit
	add := func(a syntax.Annotation, name string) {
		if want := annotation(name, a.ID); a.Set() && file.Text(a.Range) != want {
			edits = append(edits, text.Edit{From: a.Range.Start, To: a.Range.End, With: want})
		}
	}
	add(tree.Epic, "beads-ralph-epic")
	for i := range tree.Items {
		add(tree.Items[i].Annotation, "beads-ralph")
	}
	return text.Edited(file.Bytes, edits), diags
}
