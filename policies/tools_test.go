package policies

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
)

// The table of docs/formats/README.md names every tool with the same dialect or import.
func TestToolsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/formats/README.md")
	if err != nil {
		t.Fatal(err)
	}
	last := "" // "the same" in the row of cc-sdd
	for _, tool := range Tools {
		_, row, ok := strings.Cut(string(doc), "\n| "+tool.Title+" | ")
		row, _, _ = strings.Cut(row, " | ")
		if row == "the same" {
			row = last
		}
		last = row
		want := "--dialect " + tool.Dialect
		if strings.Contains(tool.Dialect, " ") {
			want = `--dialect "` + tool.Dialect + `"`
		}
		if tool.Import != "" {
			want = "ralph import --as " + tool.Import
		}
		if !ok || !strings.Contains(row, want) {
			t.Errorf("docs/formats/README.md: the row of %s does not say %s: %q", tool.Title, want, row)
		}
		for _, name := range tool.Names {
			if ToolNamed(name) != ToolNamed(tool.Names[0]) {
				t.Errorf("%s names two tools", name)
			}
		}
	}
}

func TestUnknownDialectOfATool(t *testing.T) {
	set, _ := Decode(Input{})
	for _, tool := range Tools {
		if tool.Dialect != "" {
			if _, l := set.Dialect(tool.Dialect, diag.Range{}); l.HasErrors() {
				t.Errorf("%s: no dialect %s", tool.Title, tool.Dialect)
			}
		}
		for _, name := range tool.Names {
			if set.Dialects[name] != nil {
				continue
			}
			_, l := set.Dialect(name, diag.Range{})
			if len(l) != 1 || !strings.Contains(l[0].Detail, tool.Advice()) {
				t.Errorf("--dialect %s: %v", name, l)
			}
		}
	}
}
