package view

import (
	"bytes"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/diag"
)

// TestSARIFFitsItsSchema: every kind of diagnostic makes a valid log.
func TestSARIFFitsItsSchema(t *testing.T) {
	f := diag.NewFile("plans/a b.md", []byte("# Plan\n\n### Sprint 1.1: Ä → x\n"))
	list := diag.List{
		diag.New("no-items", diag.Range{}, "no place at all"),
		diag.New("no-items", f.Range(8, 25), "a place").WithDetail("Write %s.", "this").
			WithRelated(f.Range(0, 6), "another").WithFix(f.Range(8, 11), "##"),
		diag.New("finished", diag.Range{File: "unread.md", Start: 3, End: 4}, "a file that was not read"),
	}
	var b bytes.Buffer
	if err := (Diagnostics{project.FormatSARIF, project.Sources{Files: map[string]*diag.File{f.Name: f}}}).Print(&b, nil, list); err != nil {
		t.Fatal(err)
	}
	doc, err := sarif.FromBytes(b.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	if err := doc.Validate(); err != nil {
		t.Errorf("%v\n%s", err, b.Bytes())
	}
	if !bytes.Contains(b.Bytes(), []byte(`"uri": "plans/a%20b.md"`)) {
		t.Errorf("the path is no URI:\n%s", b.Bytes())
	}
	if n := len(doc.Runs[0].Results); n != 3 {
		t.Errorf("%d results, want 3", n)
	}
}
