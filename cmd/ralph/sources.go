package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
)

// sources are the files that diagnostics point into.
type sources struct {
	files map[string]*diag.File
	root  string // directory that the file names are relative to
}

// words says diagnostics as plain text.
func (s sources) words(list diag.List) string {
	var b strings.Builder
	shown, files := s.fromHere(list)
	_ = diag.Text{Files: files, Clean: reveal.Words, Width: columns.Of, Fold: 3}.Write(&b, shown) // of a builder
	return b.String()
}

// fromHere names files as they are reached from the current directory, so that
// a place can be clicked or pasted.
func (s sources) fromHere(list diag.List) (diag.List, map[string]*diag.File) {
	wd, err := os.Getwd()
	if err != nil || s.root == "" {
		return list, s.files
	}
	name := func(n string) string {
		if n == "" || filepath.IsAbs(n) {
			return n
		}
		if rel, err := filepath.Rel(wd, filepath.Join(s.root, filepath.FromSlash(n))); err == nil {
			return filepath.ToSlash(rel)
		}
		return n
	}
	files := make(map[string]*diag.File, len(s.files))
	for n, f := range s.files {
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
