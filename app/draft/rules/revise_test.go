package rules

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

const searchPlan = `# Search
<!-- beads-ralph-epic: bd-epic00 -->

REQ-1 and REQ-2.

## Phase 1: All

### Sprint 1.1: Index
<!-- beads-ralph: bd-aaaaaa -->

**Acceptance criteria**:

- words are found

**Verify**: ` + "`make`" + `

### Sprint 1.2: Page
<!-- beads-ralph: bd-bbbbbb -->

**Acceptance criteria**:

- they are shown

**Verify**: ` + "`make`" + `
`

// said reads the ids that a plan says.
func said(text string) Identities { return saidIn(diag.NewFile("plan.md", []byte(text))) }

func saidIn(file *diag.File) Identities {
	epic, items := compiler.Identities(file)
	out := Identities{Epic: epic}
	for _, it := range items {
		out.Items = append(out.Items, Named(it))
	}
	return out
}

// Ids of what stays are kept, and what is done stays as it is.
func TestCheckRevised(t *testing.T) {
	page := "### Sprint 1.2: Page\n<!-- beads-ralph: bd-bbbbbb -->"
	index := "### Sprint 1.1: Index\n<!-- beads-ralph: bd-aaaaaa -->"
	for name, c := range map[string]struct {
		old, now string
		was      string // another text before
		done     string // key and id of a sprint that is finished
		again    string // its id, if it would run again
		want     []string

		implements []string // what the plan did before
		asked      string   // for the change
	}{
		"nothing": {},
		"a new sprint, renumbered ones": {
			old: page, now: "### Sprint 1.2: Ranking\n\n**Acceptance criteria**:\n\n- best first\n\n**Verify**: `make`\n\n### Sprint 1.3: Page\n<!-- beads-ralph: bd-bbbbbb -->",
		},
		"a retitled one":        {old: "Sprint 1.2: Page", now: "Sprint 1.2: Pages of results"},
		"a removed one":         {old: searchPlan[strings.Index(searchPlan, "### Sprint 1.2"):], now: ""},
		"the key stays":         {old: page, now: "### Sprint 1.2: Another page", want: []string{"draft-id-lost sprint 1.2 has lost its id"}},
		"the title stays":       {old: page, now: "### Sprint 1.4: page", want: []string{"draft-id-lost sprint 1.4 has lost its id"}},
		"the epic's id is gone": {old: "<!-- beads-ralph-epic: bd-epic00 -->\n", now: "", want: []string{"draft-id-lost the plan has lost its id"}},
		"an invented id":        {old: "bd-bbbbbb", now: "bd-cccccc", want: []string{"draft-id-lost sprint 1.2 has lost its id"}},
		"an invented id of a new one": {
			old: page, now: "### Sprint 1.5: Ranking\n<!-- beads-ralph: bd-cccccc -->\n\n**Acceptance criteria**:\n\n- best first\n\n**Verify**: `make`\n\n" + page,
			want: []string{"draft-id-reused sprint 1.5 has an invented id"},
		},
		"a swapped pair": {
			old: "Index\n<!-- beads-ralph: bd-aaaaaa -->", now: "Page\n<!-- beads-ralph: bd-aaaaaa -->",
			want: []string{"draft-id-reused sprint 1.1 has the id of another", "draft-id-reused sprint 1.2 has the id of another"},
		},
		"a done one is changed": {old: "words are", now: "all words are", done: "1.1 bd-aaaaaa", again: "bd-aaaaaa", want: []string{"draft-done-changed sprint 1.1 is done and would run again"}},
		"a done one is kept":    {old: "they are", now: "all are", done: "1.1 bd-aaaaaa"},
		"a done one is removed": {
			old: searchPlan[strings.Index(searchPlan, "### Sprint 1.2"):], now: "", done: "1.2 bd-bbbbbb", want: []string{"draft-done-changed sprint 1.2 is done and was removed"},
		},
		"a done one is not held to what new ones are": {old: "**Acceptance criteria**:\n\n- words are found", now: "", done: "1.1 bd-aaaaaa"},
		"no ids before":                {was: strings.NewReplacer("<!-- beads-ralph: bd-bbbbbb -->\n", "", "<!-- beads-ralph: bd-aaaaaa -->\n", "").Replace(searchPlan), old: page + "\n", now: "### Sprint 1.2: Page\n", want: []string{"draft-id-reused sprint 1.1 has an invented id"}},
		"an epic's id that it had not": {was: strings.Replace(searchPlan, "<!-- beads-ralph-epic: bd-epic00 -->\n", "", 1), want: []string{"draft-id-reused the plan has an invented id"}},
		"other policy files":           {old: "# Search\n", now: "---\npolicies: []\n---\n# Search\n", want: []string{"draft-policies the plan chooses policy files itself"}},
		"the same policy files": {
			was: "---\npolicies: []\n---\n" + searchPlan, old: "# Search\n", now: "---\npolicies: []\n---\n# Search\n",
		},
		"a lost one, split": {old: index, now: "### Sprint 1.1a: Index of words\n\n**Acceptance criteria**:\n\n- some\n\n**Verify**: `make`\n\n### Sprint 1.1b: Index of tags"},
	} {
		t.Run(name, func(t *testing.T) {
			text := searchPlan
			if c.old != "" {
				if !strings.Contains(text, c.old) {
					t.Fatal("the case changes nothing")
				}
				text = strings.Replace(text, c.old, c.now, 1)
			}
			if name == "a swapped pair" {
				text = strings.Replace(text, "Page\n<!-- beads-ralph: bd-bbbbbb -->", "Index\n<!-- beads-ralph: bd-bbbbbb -->", 1)
			}
			if c.was == "" {
				c.was = searchPlan
			}
			out := compiler.Compile(compiler.Input{Plans: []compiler.Source{{Path: "plan.md", Bytes: []byte(text)}}})
			if out.Diags.HasErrors() {
				t.Fatalf("%+v", out.Diags)
			}
			r := Revised{
				Compiled: Compiled{Epic: out.Results[0].Epic, File: out.Files["plan.md"], Places: out.Results[0].Trace.Places(), Now: said(text)},
				Was:      Was{Identities: said(c.was), Text: c.was, Implements: c.implements}, Asked: c.asked, Again: map[ir.NodeID]string{ir.NodeID(c.again): "its text changed"},
			}
			if key, id, ok := strings.Cut(c.done, " "); ok {
				r.Was.Finished = []Named{{ID: ir.NodeID(id), Key: ir.Key(key), Title: "Done"}}
			}
			var got []string
			for _, d := range CheckRevised(r) {
				got = append(got, string(d.Code)+" "+d.Summary)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// What a plan implements it goes on to implement, unless the wish speaks of it; what the
// wish adds is new to the plan and to its first brief.
func TestDemanded(t *testing.T) {
	for name, c := range map[string]struct {
		had, brief, wish string // had: what stands below Implements, separated by "|"
		held, added      string
	}{
		"another wish":            {had: "REQ-1|REQ-2, AUTH-01", wish: "nicer words", held: "[REQ-1 REQ-2 AUTH-01]", added: "[]"},
		"one is dropped":          {had: "REQ-1|REQ-2", wish: "drop REQ-2", held: "[REQ-1]", added: "[]"},
		"it was dropped before":   {had: "REQ-1", brief: "REQ-1: a\nREQ-2: b", wish: "drop REQ-2", held: "[REQ-1]", added: "[]"},
		"one is added":            {had: "REQ-1", brief: "REQ-1: a", wish: "REQ-9: faster", held: "[REQ-1]", added: "[REQ-9]"},
		"one begins as another":   {had: "REQ-1|REQ-12", wish: "drop REQ-12", held: "[REQ-1]", added: "[]"},
		"numbers":                 {had: "3.1|3.2 fast|Requirement 4", wish: "split sprint 4 into 3 parts", held: "[Requirement 3 Requirement 4]", added: "[]"},
		"a number is dropped":     {had: "3.1|4", wish: "without requirement 3", held: "[Requirement 4]", added: "[]"},
		"a number is added":       {had: "3.1", wish: "## Requirement 5", held: "[Requirement 3]", added: "[Requirement 5]"},
		"words are no ids":        {had: "the page in 2 steps with OAuth2", wish: "nicer", held: "[]", added: "[]"},
		"nothing was implemented": {wish: "REQ-1", held: "[]", added: "[REQ-1]"},
	} {
		held, added := demanded(strings.Split(c.had, "|"), c.brief, c.wish)
		if fmt.Sprint(held) != c.held || fmt.Sprint(added) != c.added {
			t.Errorf("%s: got %v and %v, want %s and %s", name, held, added, c.held, c.added)
		}
	}
}

// What is said about a changed plan, in full.
func TestRevisedIsSaidInFull(t *testing.T) {
	const name = "testdata/revised_all.txtar"
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, f := range a.Files {
		text[f.Name] = string(f.Data)
	}
	out := compiler.Compile(compiler.Input{Plans: []compiler.Source{{Path: "plan.md", Bytes: []byte(text["plan.md"])}}})
	if out.Diags.HasErrors() {
		t.Fatalf("%+v", out.Diags)
	}
	was := Was{Identities: said(text["was.md"]), Text: text["was.md"]}
	was.Finished = []Named{was.Items[0], was.Items[2]}
	var b strings.Builder
	for _, d := range CheckRevised(Revised{
		Compiled: Compiled{Epic: out.Results[0].Epic, File: out.Files["plan.md"], Places: out.Results[0].Trace.Places(), Now: said(text["plan.md"])},
		Was:      was, Again: map[ir.NodeID]string{"bd-aaaaaa": "its text changed"},
	}) {
		at := out.Files["plan.md"].Position(d.Range.Start)
		fmt.Fprintf(&b, "%s %s %d:%d: %s\n\t%s\n", d.Severity, d.Code, at.Line, at.Column, d.Summary, d.Detail)
	}
	if *update {
		a.Files = append(slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "out/diags" }), txtar.File{Name: "out/diags", Data: []byte(b.String())})
		if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != text["out/diags"] {
		t.Errorf("got\n%s\nwant\n%s", b.String(), text["out/diags"])
	}
}
