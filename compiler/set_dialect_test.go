package compiler

import (
	"testing"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
)

// The dialect is written into the front matter, and no other byte changes.
func TestSetDialect(t *testing.T) {
	tests := []struct{ name, plan, dialect, want string }{
		{"without front matter", "# P\n", "todo", "---\ndialect: todo\n---\n\n# P\n"},
		{"an empty plan", "", "todo", "---\ndialect: todo\n---\n\n"},
		{"CRLF and a byte order mark", "\uFEFF# P\r\nx\r\n", "task:Woche", "\uFEFF---\r\ndialect: task:Woche\r\n---\r\n\r\n# P\r\nx\r\n"},
		{"a rule at the top", "---\n\ntext\n", "todo", "---\ndialect: todo\n---\n\n---\n\ntext\n"},
		{"front matter of another tool", "---\nname: X # a comment\ntodos: [a]\n---\n# P", "cursor", "---\ndialect: cursor\nname: X # a comment\ntodos: [a]\n---\n# P"},
		{"a dialect that is there", "---\nid: p\ndialect:  'sprint' # why\n---\n", "spec-kit", "---\nid: p\ndialect:  spec-kit # why\n---\n"},
		{"a name that is no plain word", "# P\n", "my: own", "---\ndialect: \"my: own\"\n---\n\n# P\n"},
		{"no value behind the key", "---\nid: p\ndialect:\n---\n", "todo", ""},
		{"no block mapping", "---\n{id: p}\n---\n", "todo", ""},
		{"no YAML", "---\nid: [p\n---\n", "todo", ""},
	}
	for _, test := range tests {
		got, ok := SetDialect(diag.NewFile("p.md", []byte(test.plan)), test.dialect)
		if ok != (test.want != "") || ok && string(got) != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.name, ok, got, test.want)
		}
		if fm, _ := syntax.Peek(diag.NewFile("p.md", got)); ok && fm.Dialect.Value != test.dialect {
			t.Errorf("%s: read as %q", test.name, fm.Dialect.Value)
		}
	}
}
