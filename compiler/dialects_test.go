package compiler

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/policies"
)

// Plan language, rule 17: which dialect a person is told to take.
func TestBestReading(t *testing.T) {
	refused := &diag.Diagnostic{Summary: "no"}
	tool := policies.ToolNamed("spec-kit")
	at := func(starts ...int) (all []diag.Range) {
		for _, s := range starts {
			all = append(all, diag.Range{Start: s, End: s + 10})
		}
		return all
	}
	tests := []struct {
		name string
		all  []Reading
		want string
	}{
		{"the place", []Reading{{Dialect: "a", Items: 2, at: at(11, 12)}, {Dialect: "b", Items: 1, Tool: tool, at: at(10)}}, "b"},
		{"more outside of it", []Reading{{Dialect: "a", Items: 2, at: at(0, 30)}, {Dialect: "b", Items: 1, Tool: tool, at: at(10)}}, "a"},
		{"no more outside than it finds", []Reading{{Dialect: "a", Items: 3, at: at(0, 11, 12)}, {Dialect: "b", Items: 1, Tool: tool, at: at(10)}}, "b"},
		{"a weak one outside of it", []Reading{{Dialect: "a", Items: 2, Weak: true, at: at(0, 30)}, {Dialect: "b", Items: 1, Tool: tool, at: at(10)}}, "b"},
		{"a refused one outside of it", []Reading{{Dialect: "a", Items: 2, Refused: refused, at: at(0, 30)}, {Dialect: "b", Items: 1, Tool: tool, at: at(10)}}, "b"},
		{"the place, refused", []Reading{{Dialect: "a", Items: 2, at: at(0, 30)}, {Dialect: "b", Items: 1, Tool: tool, Refused: refused, at: at(10)}}, "b"},
		{"most items", []Reading{{Dialect: "a", Items: 2}, {Dialect: "b", Items: 3, rank: 1}}, "b"},
		{"ties by rank", []Reading{{Dialect: "b", Items: 3, rank: 1}, {Dialect: "a", Items: 3}}, "a"},
		{"never a refused one", []Reading{{Dialect: "a", Items: 9, Refused: refused}, {Dialect: "b", Items: 1, rank: 1}}, "b"},
		{"a weak one only alone", []Reading{{Dialect: "todo", Items: 9, Weak: true}, {Dialect: "b", Items: 1, rank: 1}}, "b"},
		{"a weak one that compiles before one that does not", []Reading{{Dialect: "todo", Items: 9, Weak: true}, {Dialect: "b", Items: 10, Refused: refused}}, "todo"},
		{"a word before weak ones", []Reading{{Dialect: "todo", Items: 9, Weak: true}, {Dialect: "task:Woche", Items: 3, word: true}}, "task:Woche"},
		{"the title alone after words", []Reading{{Dialect: "phase", Items: 1, Title: true}, {Dialect: "task:Woche", Items: 3, word: true}}, "task:Woche"},
		{"the title alone before weak ones", []Reading{{Dialect: "task", Items: 1, Title: true}, {Dialect: "todo", Items: 9, Weak: true}}, "task"},
		{"the nearest of what is refused", []Reading{{Dialect: "todo", Items: 9, Weak: true, Refused: refused}, {Dialect: "b", Items: 3, Refused: refused}}, "b"},
		{"one without items is none", []Reading{{Dialect: "a"}}, ""},
	}
	for _, test := range tests {
		got := ""
		if r := best(test.all); r != nil {
			got = r.Dialect
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// The table has every dialect, the user's too, and says why one is refused.
func TestDialects(t *testing.T) {
	in := Input{
		Plans:   []Source{{"plans/p.md", []byte("# P\n\n## Phase 1: A\n\n### Ticket 7: One\n\n### Ticket 8: Two\n\n**Depends on**: 7\n\n- [ ] 1.1 box\n- [ ] 1.1 again\n")}},
		Project: fstest.MapFS{"ralph.hcl": {Data: []byte("dialect \"ticket\" {\n  extends = dialect.task\n  item {\n    keywords = [\"Ticket\"]\n  }\n}\n")}},
	}
	table := Dialects(in)
	if table.Diags.HasErrors() || table.Chosen != "sprint" || table.Best != "ticket" {
		t.Fatalf("chosen %q, best %q, %v", table.Chosen, table.Best, table.Diags)
	}
	var got strings.Builder
	for _, r := range table.Readings {
		fmt.Fprintf(&got, "%s %d/%d/%d", r.Dialect, r.Items, r.Groups, r.Edges)
		if r.Refused != nil {
			fmt.Fprintf(&got, " %s", r.Refused.Code)
		}
		got.WriteString("\n")
	}
	const want = `sprint 0/0/0
task 0/0/0
code 0/0/0
integer 0/0/0
phase 1/0/0 unknown-dependency
section 0/0/0
bold-task 0/0/0
checklist 1/1/0 duplicate-id
spec-kit 0/0/0
table 0/0/0
todo 2/1/1 unknown-dependency
cursor 0/0/0
ticket 2/1/1
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// A thousand dialects, or a large plan, cost no thousand compiles.
func TestDialectsAreBounded(t *testing.T) {
	var hcl strings.Builder
	for i := range 300 {
		fmt.Fprintf(&hcl, "dialect \"d%d\" {\n  extends = dialect.task\n  item {\n    keywords = [\"Unit\"]\n  }\n}\n", i)
	}
	var plan strings.Builder
	plan.WriteString("# P\n")
	for i := range 2000 {
		fmt.Fprintf(&plan, "\n### Unit %d: x\n\n%s\n", i, strings.Repeat("words ", 50))
	}
	in := Input{Plans: []Source{{"p.md", []byte(plan.String())}}, Project: fstest.MapFS{"ralph.hcl": {Data: []byte(hcl.String())}}}
	out := Compile(in)
	d := out.Diags[0]
	if d.Code != "no-items" || !strings.Contains(d.Detail, " dialects are not tried, because the plan is large.") || !strings.Contains(d.Detail, "With the dialect d0 it compiles") {
		t.Errorf("%s: %s", d.Code, d.Detail)
	}
	if table := Dialects(in); len(table.Untried) == 0 || table.Best != "d0" {
		t.Errorf("untried %d, best %q", len(table.Untried), table.Best)
	}
}
