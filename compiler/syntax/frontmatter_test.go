package syntax

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
)

// Front matter that is too long is said to be, once; text that is none is not.
func TestFrontMatterThatIsTooLong(t *testing.T) {
	notes := strings.Repeat("note: "+strings.Repeat("x", 90)+"\n", 800)
	for name, c := range map[string]struct {
		text string
		want diag.Severity
	}{
		"too long":           {"---\nralph: 1\n" + notes + "---\n# Plan\n", diag.Error},
		"a dialect in it":    {"---\ntitle: A\ndialect: task\n" + notes + "---\n# Plan\n", diag.Error},
		"todos in it":        {"---\n" + notes[:300] + "\ntodos:\n" + notes + "---\n# Plan\n", diag.Error},
		"a key too far down": {"---\n" + notes + "dialect: task\n---\n# Plan\n", diag.Warning},
		"a rule and a note":  {"---\n\n# Overview\n\nNote: the dialect: none\n\n" + notes + "\n---\n\n# Plan\n", diag.Warning},
		"none that ends":     {"---\nralph: 1\n" + notes + "# Plan\n", 0},
		"a rule and text":    {"---\nA plan, and: notes\n" + notes + "---\n# Plan\n", 0},
		"long enough":        {"---\n" + notes[:maxFrontMatter-100] + "\n---\n# Plan\n", 0},
	} {
		_, list := Parse(diag.NewFile("plan.md", []byte(c.text)), Options{})
		var got []diag.Severity
		for _, d := range list {
			if d.Code == "front-matter-syntax" && strings.Contains(d.Summary, "longer than 64 KiB") {
				got = append(got, d.Severity)
			}
		}
		if want := c.want; len(got) > 1 || len(got) == 1 && got[0] != want || len(got) == 0 && want != 0 {
			t.Errorf("%s: reported %v, want %v", name, got, want)
		}
	}
}
