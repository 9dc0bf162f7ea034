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

// The place that says most wins; of a directory that is imported the roadmap is the tool's.
func TestToolAt(t *testing.T) {
	for file, want := range map[string]string{
		"/home/ann/app/specs/001-login/tasks.md":       "spec-kit",
		"specs/001-login/tasks.md":                     "spec-kit",
		"app/.kiro/specs/login/tasks.md":               "Kiro",
		"agent-os/specs/2026-01-05-badges/tasks.md":    "Agent OS",
		".planning/ROADMAP.md":                         "GSD",
		".planning/TASKS.md":                           "",
		".taskmaster/tasks/tasks.json":                 "Taskmaster",
		".planning/phases/01-base/01-01-PLAN.md":       "",
		"specs/001-login/plan.md":                      "",
		"tasks.md":                                     "",
		"_bmad-output/planning-artifacts/epics.md":     "BMAD",
		"docs/superpowers/plans/2026-01-12-limit.md":   "superpowers",
		"docs/superpowers/plans/old/2026-01-12-old.md": "",
	} {
		got := ""
		if tool := ToolAt(file); tool != nil {
			got = tool.Title
		}
		if got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
