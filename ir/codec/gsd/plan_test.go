package gsd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

// What the front matter and the elements of a plan become.
func TestWhatAPlanBecomes(t *testing.T) {
	text := func(d *ir.Draft) string { return strings.Join(d.Nodes[0].Text, "|") }
	accept := func(d *ir.Draft) string { return strings.Join(d.Nodes[0].Acceptance, "|") }
	files := func(d *ir.Draft) string { return strings.Join(d.Nodes[0].Scope.Files, "|") }
	reads := func(d *ir.Draft) string { return strings.Join(d.Nodes[0].Scope.Reads, "|") }
	implements := func(d *ir.Draft) string { return strings.Join(d.Nodes[0].Implements, "|") }
	kind := func(d *ir.Draft) string {
		return fmt.Sprintf("%q %d", d.Nodes[0].Type.Value, d.Nodes[0].Type.Range.Start)
	}
	runs := func(d *ir.Draft) string {
		var all []string
		for _, v := range d.Nodes[0].Verify {
			all = append(all, v.Run)
		}
		return strings.Join(all, "|")
	}
	tasks := func(d *ir.Draft) string {
		out := ""
		for _, n := range d.Nodes {
			out += fmt.Sprintf("%s %s", n.Key, n.Kind)
			for _, x := range n.Tasks {
				out += fmt.Sprintf(" [%s: %s]", x.Text, strings.Join(x.Detail, "|"))
			}
			out += "; "
		}
		return strings.TrimSuffix(out, "; ")
	}
	for _, c := range []struct {
		front, body string
		of          func(*ir.Draft) string
		want        string
	}{
		{"type: tdd", "", kind, `"tdd" 27`},
		{"type: execute", "", kind, `"" 0`},
		{"type:", "", kind, `"" 0`},
		{"requirements: [A, B, A, \"\"]\nrequirements_addressed: [B, C]", "", implements, "A|B|C"},
		{
			"must_haves:\n  links:\n    - from: a\n      to: b\n      via: c\n      pattern: null\n    - to: d\n    - from: e\n  truths:\n    - path: f\n      exports: [g, h]\n    - i", "", accept,
			"a is linked to b by c| is linked to d|e is linked to |f; exports: g, h|i",
		},
		{"must_haves: a", "", accept, "a"},
		{"user_setup: []", "", text, ""},
		{"user_setup:", "", text, ""},
		{"files_modified: [a.go, [b.go], /c]", "", files, "a.go|b.go"},
		{"x: [", "", text, "x: ["},

		{"", "a\n---\n\n\nb\n", text, "a||b"},
		{"", "<thing>\n  a\n</thing>\n<how_to-do></how_to-do>\n<output>b</output>", text, "Thing:||a||When the work is done:||b|"},
		{"", "\t<thing>a</thing>  ", text, "Thing:||a|"},
		{"", "```\n<thing>a</thing>\n```\n<thing>b</thing>", text, "```|<thing>a</thing>|```|Thing:||b|"},
		{"", "~~~\n<thing>a</thing>\n~~~\n<thing>b</thing>", text, "~~~|<thing>a</thing>|~~~|Thing:||b|"},
		{"", "<div>\na\n", text, "<div>|a"},
		{"", "<context>\n@a.md\n@b.md about it\n# Only if needed\nc\n</context>", text, "Context:||@b.md about it|c|"},
		{"", "<context>\n@a.md\n@b.md about it\n</context>", reads, "a.md|b.md"},
		{"", "<tasks>\na\n<note>b</note>\n<task><name>c</name></task>\nd\n</tasks>", text, "a|Note:||b||d"},

		{"", "<task><name>Task 1: a</name>\nb\n<action>c\nd</action><some-thing>e</some-thing><done> </done><note>\n</note></task>", tasks, "01-01 work [a: b|c|d|Some thing: e]"},
		{"", "## Task 2. a\n\n<task><action>b</action></task>", tasks, "01-01 work [a: b]"},
		{"", "## Task 2. a\n\n<task><action>b</action></task>", text, ""},
		{"", "## Tasks\n<task><action>a\nb</action></task><task></task>", tasks, "01-01 work [a: b] [Task 2: ]"},
		{"", "<task>a\nb</task>", tasks, "01-01 work [a: b]"},
		{"", "<task type=\"checkpoint:human-action\"><what-built>a</what-built></task>", tasks, "01-01 manual [A person does this, ask for it: a: What built: a]"},
		{
			"", "<task type=\"checkpoint:human-action\"><name>a</name><action>b</action></task>\n<task type=\"checkpoint:human-verify\"><name>c</name></task>", tasks,
			"01-01 manual [A person does this, ask for it: a (b): ] [Look at it: c: ]",
		},
		{"", "<task><name>a</name></task>\n<task type=\"checkpoint:human-verify\"><name>b</name><what-built>b</what-built></task>", tasks, "01-01 work [a: ]; 01-01-check manual [Look at it: b: ]"},
		{"", "<task type=\"checkpoint:decision\"><name>a</name><decision>b</decision></task>", tasks, "01-01 work [A person decides this, ask and wait for the answer: a (b): ]"},
		{"", "<task>\n<name>a</name>\n<files>a.go, ./b.go\n- c.go</files></task>", files, "a.go|b.go|c.go"},
		{"", "<task>\n<name>a</name>\n<read_first>\n- a.md for b\n- c.md\n</read_first></task>", reads, "a.md|c.md"},
		{"", "<task>\n<name>a</name>\n<read_first>- a.md</read_first></task>", tasks, "01-01 work [a: Read first: a.md]"},
		{"", "<task><name>a</name><verify>\n<automated>b</automated><manual>c</manual></verify></task>", tasks, "01-01 work [a: Manual: c]"},

		{"", "<task><automated>a</automated><verify><automated>`b`</automated></verify><verify><automated> </automated></verify></task>\n<task><verify>`a`</verify></task>", runs, "a|b"},
		{"", "<task><verify><automated>a `b`</automated></verify></task><task><verify><automated>`c` and `d`</automated></verify></task>", runs, "a `b`|`c` and `d`"},
		{"", "<task><verify><automated>`a</automated></verify></task><task><automated>c`</automated></task><task><verify><automated>a &amp;&amp; b</automated></verify></task>", runs, "`a|c`|a && b"},
		{"", "<task><verify>`a` and `b`</verify></task><task><verify>`</verify></task><task><verify>`c</verify></task><task><verify>d`</verify></task>", accept, "`a` and `b`|`|`c|d`"},
		{"", "<task><verify><automated>MISSING - write it</automated></verify></task>", accept, "MISSING - write it"},
	} {
		d, codes, list := decoded("-- p/1/01-01-PLAN.md --\n---\nautonomous: true\n" + c.front + "\n---\n" + c.body + "\n")
		if d == nil {
			t.Errorf("%s %s: %s %v", c.front, c.body, codes, list)
			continue
		}
		if got := c.of(d); got != c.want {
			t.Errorf("%s %s is\n%s\nwant\n%s", c.front, c.body, got, c.want)
		}
	}
}

// What is said of a plan: once each, and nothing of one that is finished.
func TestWhatIsSaidOfAPlan(t *testing.T) {
	const ask = "<task type=\"checkpoint:human-action\"><name>a</name></task>\n"
	const look = "<task type=\"checkpoint:human-verify\"><name>a</name></task>\n"
	for _, c := range []struct{ body, want string }{
		{ask, "01-01* gsd-person"},
		{look, "01-01* gsd-person"},
		{ask + "<task><name>b</name></task>", "01-01 gsd-person"},
		{look + "<task><name>b</name></task>", "01-01 01-01-check*<01-01 gsd-person"},
		{look + "<task><name>b</name></task>\n-- p/1/01-01-SUMMARY.md --\n", "(01-01)"},
		{look + "<task><name>b</name></task>\n-- p/1/01-02-SUMMARY.md --\n", "01-01 01-01-check*<01-01 gsd-person"},
		{"<task>\n<name>b\n</task>", "gsd-element"},
		{"<task>\n<name>a</name>\n<verify><automated>a\u200b</automated></verify></task>", "hidden-in-command"},
		{strings.Repeat("<task><name>a</name></task>\n", maxEntries), "01-01"},
		{strings.Repeat("<task><name>a</name></task>\n", maxEntries) + look, "plan-too-large gsd-person"},
		{"<verification>\n" + strings.Repeat("- a\n", maxEntries+1) + "</verification>", "plan-too-large"},
	} {
		if got := inShort("-- p/1/01-01-PLAN.md --\n" + c.body); got != c.want {
			t.Errorf("%.200s is\n%s\nwant\n%s", c.body, got, c.want)
		}
	}
	for _, c := range []struct{ files, want string }{
		{"-- p/ROADMAP.md --\n### Phase 1: A\n", "The phases of the roadmap"},
		{"-- p/1/01-01-SUMMARY.md --\n", "GSD writes plans as"},
	} {
		if d, codes, list := decoded(c.files); d != nil || codes != " gsd-no-plan" || !strings.HasPrefix(list[0].Detail, c.want) {
			t.Errorf("%s is %v", c.files, list)
		}
	}
}
