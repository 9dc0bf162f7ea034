package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
)

// Sources are the files that diagnostics point into.
type Sources struct {
	Files map[string]*diag.File
	Root  string // directory that the file names are relative to
}

// Words formats diagnostics as plain text.
func (s Sources) Words(list diag.List) string {
	var b strings.Builder
	shown, files := s.FromHere(list)
	_ = diag.Text{Files: files, Clean: reveal.Words, Width: columns.Of, Fold: 3}.Write(&b, shown) // of a builder
	return b.String()
}

// FromHere makes file names relative to the current directory, so that a location can be
// clicked or pasted.
func (s Sources) FromHere(list diag.List) (diag.List, map[string]*diag.File) {
	wd, err := os.Getwd()
	if err != nil || s.Root == "" {
		return list, s.Files
	}
	name := func(n string) string {
		if n == "" || filepath.IsAbs(n) {
			return n
		}
		if rel, err := filepath.Rel(wd, filepath.Join(s.Root, filepath.FromSlash(n))); err == nil {
			return filepath.ToSlash(rel)
		}
		return n
	}
	files := make(map[string]*diag.File, len(s.Files))
	for n, f := range s.Files {
		files[name(n)] = f
	}
	shown := make(diag.List, len(list))
	for i, d := range list {
		d.Range.File = name(d.Range.File)
		related := make([]diag.Related, len(d.Related))
		for j, r := range d.Related {
			r.Range.File = name(r.Range.File)
			related[j] = r
		}
		d.Related = related
		if d.Fix != nil {
			fix := *d.Fix
			fix.Range.File = name(fix.Range.File)
			d.Fix = &fix
		}
		shown[i] = d
	}
	return shown, files
}
