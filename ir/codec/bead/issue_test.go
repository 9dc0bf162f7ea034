package bead_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
)

// imported is what beads make, nil if nothing, and the codes of what is said of them
// besides unmet demands.
func imported(texts ...string) (*ir.Draft, string) {
	d, list := bead.Decode(files(texts...))
	var codes []string
	for _, x := range list {
		if x.Code != "bead-demand" {
			codes = append(codes, string(x.Code))
		}
	}
	return d, strings.Join(codes, " ")
}

// keeps is what an import keeps of a node; "" if nothing.
func keeps(n *ir.DraftNode) string { return string(n.Ext[bead.Format]) }

// drafted is a case of beads, a list without its brackets, and what they make.
type drafted struct{ name, beads, want, codes string }

func (c drafted) check(t *testing.T, see func(*ir.Draft) string) {
	t.Helper()
	got := ""
	d, codes := imported("[" + c.beads + "]")
	if d != nil {
		got = see(d)
	}
	if got != c.want || codes != c.codes {
		t.Errorf("%s: %s (%s), want %s (%s)", c.name, got, codes, c.want, c.codes)
	}
}

// A bead is called by its sprint, else by its id, else after its title; a sprint that cannot
// be its name is kept. S0-04, S0-24, S0-27
func TestWhatABeadIsCalled(t *testing.T) {
	of := func(id, sprint string) string {
		return fmt.Sprintf(`{"id": %q, "title": "T", "metadata": {"sprint": %q}}`, id, sprint)
	}
	long := strings.Repeat("1", 64)
	for _, c := range []drafted{
		{"a sprint", of("a", "1.1"), `1.1`, ""},
		{"a sprint of the most bytes", of("a", long), long, ""},
		{"a sprint that is too long", of("a", long+"1"), `a {"metadata":{"sprint":"` + long + `1"}}`, ""},
		{"a sprint of two words", of("a", "1 1"), `a {"metadata":{"sprint":"1 1"}}`, ""},
		{"a sprint with a name of ralph's", of("a", "integration"), `a {"metadata":{"sprint":"integration"}}`, ""},
		{"no sprint", `{"id": "a", "title": "T"}`, `a`, ""},
		{"neither sprint nor id", `{"title": "Say it"}`, `say-it`, ""},
		{"nothing to name it after", `{"title": "!"}`, `bead`, ""},
		{"a title with a name of ralph's", `{"title": "Integration"}`, `bead`, ""},
		{"the second of a sprint goes by its id", of("a", "1.1") + "," + of("b", "1.1"), `1.1, b {"metadata":{"sprint":"1.1"}}`, "bead-place"},
		{"two without ids", `{"title": "A"}, {"title": "B"}`, "a, b", ""},
		{"two of one id", of("a", "1.1") + "," + of("a", "1.1"), "", "bead-value"},
		{"it has none", of("a", "1.1") + `,{"title": "T", "metadata": {"sprint": "1.1"}}`, "", "bead-value"},
		{"its id is another's sprint", of("a", "1.1") + "," + of("b", "c") + "," + of("c", "1.1"), "", "bead-value"},
		{"another sprint in the plan", `{"id": "a", "title": "T", "metadata": {"sprint": "1.1", "plan_sprint_id": "S"}}`, `1.1 {"metadata":{"plan_sprint_id":"S"}}`, ""},
		{"the same in the plan", `{"id": "a", "title": "T", "metadata": {"sprint": "1.1", "plan_sprint_id": "1.1"}}`, `1.1`, ""},
	} {
		c.check(t, func(d *ir.Draft) string {
			var out []string
			for _, n := range d.Nodes {
				out = append(out, strings.TrimSpace(string(n.Key)+" "+keeps(&n)))
			}
			return strings.Join(out, ", ")
		})
	}
}

// What a bead waits for, in each of bd's shapes; what is not among the files is kept. S0-12
func TestWhatABeadWaitsFor(t *testing.T) {
	for deps, want := range map[string]struct{ edges, kept, codes string }{
		`{"depends_on_id": "a", "type": "related"}`:                                       {"b: a/related", "", ""},
		`{"depends_on_id": "a", "title": "A", "type": "related"}`:                         {"b: a/related", "", ""},
		`{"depends_on_id": "a", "type": "related", "dependency_type": "blocks"}`:          {"b: a/blocks", "", ""},
		`{"id": "a", "type": "related"}`:                                                  {"b: a/related", "", ""},
		`{"id": "a", "title": "A", "type": "bug"}`:                                        {"b: a/blocks", "", ""}, // an issue, and its type
		`{"id": "a", "title": "A", "dependency_type": "related"}`:                         {"b: a/related", "", ""},
		`{"id": "a", "type": "related", "dependency_type": "discovered-from"}`:            {"b: a/discovered-from", "", ""},
		`{"id": "a", "title": "A", "type": "related", "dependency_type": "parent-child"}`: {"b: a/parent-child", "", ""},
		`{"id": "a", "type": ""}`:                                                         {"b: a/blocks", "", ""},
		`{"id": "a", "type": "conditional-blocks"}`:                                       {"b: a/blocks", "", ""},
		`{"id": "a", "type": "tracks"}`:                                                   {"b: a/related", "", ""},
		`"a", "a", {"id": "a", "type": "related"}, {"id": "a", "type": "related"}`:        {"b: a/blocks; b: a/related", "", ""},
		`"x", "a", "y"`:                                {"b: a/blocks", `{"dependencies":["x","y"]}`, "bead-dependency"},
		`{"id": "x", "type": "related"}`:               {"", "", ""}, // it does not wait for that
		`{"id": "e", "type": "parent-child"}, "e"`:     {"", "", ""}, // the epic heads it
		`"", {"depends_on_id": 5}, {"id": 5}, 5, null`: {"", "", ""},
	} {
		d, codes := imported(`[{"id": "a", "title": "A"}, {"id": "b", "title": "B", "dependencies": [` + deps + `]}, {"id": "e", "title": "E", "issue_type": "epic"}]`)
		if d == nil {
			t.Errorf("%s: %s", deps, codes)
			continue
		}
		if got, kept := edges(d), keeps(&d.Nodes[1]); got != want.edges || kept != want.kept || codes != want.codes {
			t.Errorf("%s: %q %s (%s), want %v", deps, got, kept, codes, want)
		}
	}
	one := `{"id": "a", "title": "A", "dependencies": ["e"]}`
	if d, codes := imported(one); codes != "bead-dependency" || keeps(&d.Nodes[0]) != `{"dependencies":["e"]}` {
		t.Errorf("without an epic: %s (%s)", keeps(&d.Nodes[0]), codes)
	}
}

// Which branches stay: one that another bead starts from does, one that git cannot have
// beside those that the work starts from does not; what is merged without being waited for
// is kept. S0-21, S0-22, S0-98, S0-118, K8, K23
func TestWhichBranchesStay(t *testing.T) {
	of := func(id, branch, from, more string) string {
		return fmt.Sprintf(`{"id": %q, "title": "T", "metadata": {"branch": %q, "source_branch": %q}%s}`, id, branch, from, more)
	}
	merge := func(deps, list string) string {
		return fmt.Sprintf(`%s,%s,{"id": "c", "title": "T", "dependencies": [%s], "metadata": {"branches_to_merge": %s}}`,
			of("a", "wa", "main", ""), of("b", "main/b", "main", `, "status": "closed"`), deps, list)
	}
	const notb = `b=- from - {"metadata":{"branch":"main/b"}}, `
	for _, c := range []drafted{
		{"beside its base", of("a", "work/a", "main", ""), "a=work/a from -", ""},
		{"on the branch of the one before", of("a", "wa", "main", "") + "," + of("b", "wb", "wa", ""), "a=wa from -, b=wb from wa", ""},
		{"below its base", of("a", "main/a", "main", ""), `a=- from - {"metadata":{"branch":"main/a"}}`, "bead-branch"},
		{"done, and below its base", of("a", "main/a", "main", `, "status": "closed"`), `a=- from - {"metadata":{"branch":"main/a"}}`, "bead-completed"},
		{"above its base", of("a", "main", "main/dev", ""), `a=- from - {"metadata":{"branch":"main"}}`, "bead-branch"},
		{
			"on one that git cannot have", of("a", "x..y", "main", "") + "," + of("b", "wb", "x..y", ""),
			`a=- from - {"metadata":{"branch":"x..y"}}, b=wb from - {"metadata":{"source_branch":"x..y"}}`, "bead-branch",
		},
		{"blank", of("a", " ", "  ", ""), "a=- from -", ""},
		{"merged are those that are waited for", merge(`"a", "b"`, `["wa", "main/b"]`), "a=wa from -, " + notb + "c=- from -", "bead-completed"},
		{"and others", merge(`"a"`, `["x", "wa", 5, "main/b"]`), "a=wa from -, " + notb + `c=- from - {"metadata":{"branches_to_merge":["x","main/b"]}}`, "bead-completed"},
		{"related is not waited for", merge(`{"id": "a", "type": "related"}`, `["wa"]`), "a=wa from -, " + notb + `c=- from - {"metadata":{"branches_to_merge":["wa"]}}`, "bead-completed"},
		{"no list", merge(`"a"`, `"x"`), "a=wa from -, " + notb + "c=- from -", "bead-completed"},
	} {
		c.check(t, func(d *ir.Draft) string {
			var out []string
			for _, n := range d.Nodes {
				out = append(out, strings.TrimSpace(fmt.Sprintf("%s=%s from %s %s", n.Key, cmp.Or(n.Branch.Value, "-"), cmp.Or(n.Base.Value, "-"), keeps(&n))))
			}
			return strings.Join(out, ", ")
		})
	}
}

// What heads the beads: their epic, else their plan, else their file; the branch that most
// of them start from, and the owner if they have one. S0-11, S0-22, S0-23, S0-25
func TestWhatHeadsTheBeads(t *testing.T) {
	of := func(top, metadata string) string {
		return fmt.Sprintf(`{"title": "T"%s, "metadata": {"plan_file": "plans/Big one.md"%s}}`, top, metadata)
	}
	a, b, c := `, "id": "a"`, `, "id": "b"`, `, "id": "c"`
	from := func(branch string) string { return fmt.Sprintf(`, "source_branch": %q`, branch) }
	for _, x := range []drafted{
		{"one bead", of(a, ""), `a "T" [] base -, owner -: -/-/-1`, ""},
		{"one bead without id", of("", ""), `beads "T" [] base -, owner -: -/-/-1`, ""},
		{"beads of a plan", of(a, "") + "," + of(b, ""), `big-one "Big one" [] base -, owner -: -/-/-1 -/-/-1`, ""},
		{"beads of two plans", of(a, "") + `,{"id": "b", "title": "T", "metadata": {"plan_file": "x.md"}}`, `a "a" [] base -, owner -: -/-/-1 -/-/-1`, ""},
		{"of one plan and of none", of(a, "") + `,{"id": "b", "title": "T"}`, `a "a" [] base -, owner -: -/-/-1 -/-/-1`, ""},
		{"of no plan", `{"id": "a", "title": "T"},{"id": "b", "title": "T"}`, `a "a" [] base -, owner -: -/-/-1 -/-/-1`, ""},
		{"an epic", of(a, "") + `,{"id": "e", "title": "All  of it", "issue_type": "epic"}`, `all-of-it "All of it" [] base -, owner -: -/-/-1`, ""},
		{"with a name of ralph's", of(a, "") + `,{"id": "e", "title": "Integration", "issue_type": "epic"}`, `beads "Integration" [] base -, owner -: -/-/-1`, ""},
		{"the base of most", of(a, from("dev")) + "," + of(b, from("main")) + "," + of(c, from("main")), `big-one "Big one" [] base main, owner -: dev/-/-1 -/-/-1 -/-/-1`, ""},
		{"of those with as many the first", of(a, from("dev")) + "," + of(b, from("main")), `big-one "Big one" [] base dev, owner -: -/-/-1 main/-/-1`, ""},
		{"their owner", of(a+`, "owner": "ana"`, "") + "," + of(b+`, "owner": "ana"`, ""), `big-one "Big one" [] base -, owner ana: -/-/-1 -/-/-1`, ""},
		{"two owners", of(a+`, "owner": "ana"`, "") + "," + of(b+`, "owner": "bo"`, ""), `big-one "Big one" [] base -, owner -: -/ana/-1 -/bo/-1`, ""},
		{"an owner that is no text", of(a+`, "owner": 5`, ""), `a "T" [] base -, owner -: -/-/-1`, ""},
		{
			"phases in their order", of(a, `, "phase": "2"`) + "," + of(b, `, "phase": "1"`) + "," + of(c, `, "phase": "2"`),
			`big-one "Big one" [2 1] base -, owner -: -/-/0 -/-/1 -/-/0`, "",
		},
	} {
		x.check(t, func(d *ir.Draft) string {
			var phases, nodes []string
			for _, p := range d.Phases {
				phases = append(phases, p.ID)
			}
			for _, n := range d.Nodes {
				owner := "-"
				if _, own, kept := strings.Cut(keeps(&n), `"owner":"`); kept {
					owner, _, _ = strings.Cut(own, `"`)
				}
				nodes = append(nodes, fmt.Sprintf("%s/%s/%d", cmp.Or(n.Base.Value, "-"), owner, n.PhaseIndex))
			}
			return fmt.Sprintf("%s %q %v base %s, owner %s: %s", d.Slug, d.Title, phases, cmp.Or(d.Base.Value, "-"), cmp.Or(d.Owner, "-"), strings.Join(nodes, " "))
		})
	}
	const epic = `{"id": "e", "title": "E", "issue_type": "epic"}`
	if d, _ := imported(`{"id": "a", "title": "A"}`, epic); d.Range != (diag.Range{File: "b.json", Start: strings.Index(epic, `"E"`), End: strings.Index(epic, `"E"`) + 3}) {
		t.Errorf("the epic is at %v", d.Range)
	}
}

// What a bead is: its kind and type, its title, its priority, its labels. S0-05, S0-08, S0-09, S0-13
func TestWhatABeadIs(t *testing.T) {
	title := func(n *ir.DraftNode) string { return n.Title }
	kind := func(n *ir.DraftNode) string { return string(n.Kind) + " " + n.Type.Value }
	priority := func(n *ir.DraftNode) string { return n.Priority.Value + keeps(n) }
	assignee := keeps
	labels := func(n *ir.DraftNode) string { return fmt.Sprintf("%q", n.Labels) }
	for _, c := range []struct {
		bead string
		of   func(*ir.DraftNode) string
		want string
	}{
		{`"title": "Do  it\nnow"`, title, "Do it now"},
		{`"description": "\n \nDo  it\nnow"`, title, "Do it"},
		{`"title": "T"`, kind, "work "},
		{`"title": "T", "issue_type": 5`, kind, "work "},
		{`"title": "T", "issue_type": "beads-ralph-work"`, kind, "work "},
		{`"title": "T", "issue_type": "beads-ralph-merge"`, kind, "merge "},
		{`"title": "T", "issue_type": "bug"`, kind, "work bug"},
		{`"title": "T", "priority": 0`, priority, "0"},
		{`"title": "T", "priority": 4`, priority, "4"},
		{`"title": "T", "priority": 5`, priority, `{"priority":5}`},
		{`"title": "T", "priority": 10`, priority, `{"priority":10}`},
		{`"title": "T", "priority": "1"`, priority, `{"priority":"1"}`},
		{`"title": "T", "priority": true`, priority, `{"priority":true}`},
		{`"title": "T", "assignee": "beads-ralph-scrum-master"`, assignee, ""},
		{`"title": "T", "assignee": "ana"`, assignee, `{"assignee":"ana"}`},
		{`"title": "T", "status": "open"`, keeps, ""},
		{`"title": "T", "status": "blocked"`, keeps, `{"status":"blocked"}`},
		{`"title": "T", "comments": [1], "closed_at": "x", "external_ref": "y", "z": 1`, keeps, `{"closed_at":"x","comments":[1],"external_ref":"y","z":1}`},
		{`"title": "T", "labels": ["x", 5, " ", "x", "sprint-1-1", "merge"], "metadata": {"sprint": "1.1"}`, labels, `["x" "merge"]`},
	} {
		n := decoded(t, `{"id": "a", `+c.bead+`}`)
		if got := c.of(&n); got != c.want {
			t.Errorf("%s: %s, want %s", c.bead, got, c.want)
		}
	}
	for text, want := range map[string]string{
		`"status": "open"`:    "",
		`"status": "blocked"`: "bead-status",
		`"status": "CLOSED"`:  "bead-completed",
		`"z": 1`:              "bead-unknown-key",
	} {
		if _, codes := imported(`{"id": "a", "title": "T", ` + text + `}`); codes != want {
			t.Errorf("of %s it is said %s, want %s", text, codes, want)
		}
	}
	first := diag.Range{File: "a.json", End: 1}
	if n := decoded(t, `{"description": "D"}`); n.Range != first || n.KeyRange != first {
		t.Errorf("a bead without title and id is at %v, its name at %v", n.Range, n.KeyRange)
	}
	n := decoded(t, `{"id": "a", "title": "T", "issue_type": ""}`)
	if n.Type.Set() {
		t.Error("a type that is empty is said to be there")
	}
}

// Without a bead, or without anything that can be read, that alone is said, at a file if
// there is one; everything is said in the order of its places. S0-150
func TestWhatIsSaidOfFilesAndInWhichOrder(t *testing.T) {
	for name, read := range map[string]func([]*diag.File) diag.List{
		"import":   func(f []*diag.File) diag.List { _, list := bead.Decode(f); return list },
		"validate": bead.Validate,
	} {
		for _, c := range []struct {
			texts      []string
			code, file string
		}{
			{nil, "bead-missing", ""},
			{[]string{"[]", "[]"}, "bead-missing", "a.json"},
			{[]string{"["}, "bead-json", "a.json"},
		} {
			if list := read(files(c.texts...)); len(list) != 1 || string(list[0].Code) != c.code || list[0].Range.File != c.file {
				t.Errorf("%s of %q: %v, want %s in %q", name, c.texts, list, c.code, c.file)
			}
		}
		last := diag.Range{}
		list := read(files(`[{"metadata": 5, "priority": "x", "id": "a"}, {"id": "a", "status": 5, "title": "T", "created_at": 5}]`, `{"owner": 5, "id": "a", "assignee": 5}`))
		for _, x := range list {
			if last.File > x.Range.File || last.File == x.Range.File && last.Start > x.Range.Start {
				t.Errorf("%s: %v comes after %v", name, x.Range, last)
			}
			last = x.Range
		}
	}
	_, list := bead.DecodeStrict(files(`[{"id": "a", "title": "T", "status": "x", "metadata": {"dev_prompts": ["a", " "]}}]`))
	var said []string
	for _, x := range list {
		said = append(said, x.Summary)
	}
	for _, want := range []string{"assignee is missing", "status is not what the format demands", "dev_prompts/1 is not what the format demands"} {
		if !slices.Contains(said, want) {
			t.Errorf("%q is not among %q", want, said)
		}
	}
}
