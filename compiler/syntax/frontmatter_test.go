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

// Plan language, structure, front matter: what it says is never left out in silence.
func TestFrontMatterThatIsNotRead(t *testing.T) {
	const plan = "# Plan\n\n## Phase 1: A\n\n### Sprint 1.1: a\n\n- [ ] one\n"
	for name, c := range map[string]struct{ text, want string }{
		"never closed":                 {"---\npolicy: strict\n\n" + plan, "never closed"},
		"never closed, other keys":     {"---\n\nname: x\ntags:\n- a\n  b: c\npolicies: [p.hcl]\n" + plan, "never closed"},
		"never closed, in a long plan": {"---\npolicy: strict\n\n" + plan + strings.Repeat("text\n", maxFrontMatter/4), "never closed"},
		"closed below items":           {"---\npolicy: strict\n\n# Plan\n## Phase 1: A\n### Sprint 1.1: a\n---\n### Sprint 1.2: b\n", "hides 2 items and groups"},
		"behind an empty line":         {"\n---\npolicy: strict\n---\n\n" + plan, "not at the beginning"},
		"behind a comment":             {"<!-- a\nb -->\n\n---\nralph: 1\npolicy: strict\n---\n\n" + plan, "not at the beginning"},
		"behind a space":               {" ---\npolicy: strict\n---\n\n" + plan, "not at the beginning"},
		"read":                         {"---\npolicy: strict\n---\n\n" + plan, ""},
		"read, with a comment":         {"---\n# Sprint of the policy\npolicy: strict\n---\n\n" + plan, ""},
		"of another tool":              {"\n---\nauthor: ada\n---\n\n" + plan, ""},
		"a rule above prose":           {"---\n\nA plan for the shop.\npolicy: as we agreed\n\n" + plan, ""},
		"a rule above a note":          {"---\nNote: the title: none\n\n" + plan, ""},
		"a rule above a heading":       {"---\n\n" + plan + "\npolicy: strict\n", ""},
		"a rule below a comment":       {"<!-- x -->\n\n---\n\n" + plan, ""},
		"a rule below text":            {"Text.\n\n---\n\npolicy: strict\n\n" + plan, ""},
		"a comment that never ends":    {"<!-- x\n---\npolicy: strict\n---\n", ""},
		"a rule and a time of a day":   {"---\nid:42\n\n" + plan, ""},
	} {
		_, list := Parse(diag.NewFile("plan.md", []byte(c.text)), Options{})
		var got []string
		for _, d := range list {
			if d.Code == "front-matter-syntax" {
				got = append(got, d.Summary)
				if d.Severity != diag.Error {
					t.Errorf("%s: %s is %s", name, d.Summary, d.Severity)
				}
			}
		}
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: reported %q, want %q", name, got, c.want)
		}
	}
}
