package compiler

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
)

// annotate returns the plan with the ids that it does not carry yet, and how
// many were added, the epic's own not counted. All other bytes stay.
func (u *unit) annotate() ([]byte, int) {
	if u.tree == nil {
		return u.file.Bytes, 0
	}
	type insertion struct {
		offset int
		text   string
	}
	var ins []insertion
	add := func(s syntax.Slot, name, id string) {
		if s.Form == 0 || s.Offset < 0 || s.Offset > len(u.file.Bytes) {
			return
		}
		ins = append(ins, insertion{s.Offset, s.Prefix + "<!-- " + name + ": " + id + " -->" + s.Suffix})
	}
	if !u.tree.Epic.Set() {
		add(u.tree.EpicSlot, "beads-ralph-epic", string(u.ids.epic))
	}
	before := len(ins)
	for i := range u.tree.Items {
		if !u.tree.Items[i].Annotation.Set() {
			add(u.tree.Items[i].Slot, "beads-ralph", string(u.ids.nodes[i]))
		}
	}
	if len(ins) == 0 {
		return u.file.Bytes, 0
	}
	added := len(ins) - before
	slices.SortStableFunc(ins, func(a, b insertion) int { return cmp.Compare(a.offset, b.offset) })
	var out bytes.Buffer
	out.Grow(len(u.file.Bytes) + 40*len(ins))
	from := 0
	for _, x := range ins {
		out.Write(u.file.Bytes[from:x.offset])
		out.WriteString(x.text)
		from = x.offset
	}
	out.Write(u.file.Bytes[from:])
	return out.Bytes(), added
}

// FormatAnnotations writes the annotations of a plan in their one form,
// `<!-- beads-ralph: bd-a1b2c3 -->`, and leaves all other bytes alone. The list
// holds what the syntax of the plan got wrong; with an error the bytes come back
// as they are.
func FormatAnnotations(file *diag.File) ([]byte, diag.List) {
	fm, _ := syntax.Peek(file)
	opts := syntax.Options{}
	if d, known := builtinDialect(fm.Dialect.Value); known {
		opts.Dialect = d
	}
	tree, diags := syntax.Parse(file, opts)
	if diags.HasErrors() {
		return file.Bytes, diags
	}
	type edit struct {
		at   diag.Range
		text string
	}
	var edits []edit
	add := func(a syntax.Annotation, name string) {
		want := "<!-- " + name + ": " + a.ID + " -->"
		if a.Set() && file.Text(a.Range) != want {
			edits = append(edits, edit{a.Range, want})
		}
	}
	add(tree.Epic, "beads-ralph-epic")
	for i := range tree.Items {
		add(tree.Items[i].Annotation, "beads-ralph")
	}
	if len(edits) == 0 {
		return file.Bytes, diags
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.at.Start, b.at.Start) })
	var out bytes.Buffer
	from := 0
	for _, e := range edits {
		out.Write(file.Bytes[from:e.at.Start])
		out.WriteString(e.text)
		from = e.at.End
	}
	out.Write(file.Bytes[from:])
	return out.Bytes(), diags
}
