package rules

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/policies"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// compiled compiles a plan, which may have errors, and holds it against a wish.
func compiled(t *testing.T, plan, policy, wish string, project fstest.MapFS) (compiler.Output, diag.List) {
	t.Helper()
	in := compiler.Input{Plans: []compiler.Source{{Path: "plans/plan.md", Bytes: []byte(plan)}}, Project: project}
	var files []*diag.File
	if policy != "" {
		in.Policy = []compiler.Source{{Path: "ralph.hcl", Bytes: []byte(policy)}}
		files = append(files, diag.NewFile("ralph.hcl", []byte(policy)))
	}
	out := compiler.Compile(in)
	set, list := policies.Decode(policies.Input{Files: files, Project: project})
	if list.HasErrors() {
		t.Fatal(list)
	}
	var paths []string
	_ = fs.WalkDir(project, ".", func(name string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			paths = append(paths, name)
		}
		return nil
	})
	r := out.Results[0]
	c := Compiled{Epic: r.Epic, File: out.Files["plans/plan.md"], Places: r.Trace.Places(), New: r.Trace.New(), Paths: paths, Wish: wish, Bounds: BoundsOf(set), Now: saidIn(out.Files["plans/plan.md"])}
	if out.Diags.HasErrors() {
		c.Epic, c.Errors = r.Trace.Lowered(), slices.DeleteFunc(slices.Clone(out.Diags), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	}
	return out, Check(c)
}

// S2-08: what a plan that compiles must hold besides.
func TestCheck(t *testing.T) {
	names, err := filepath.Glob("testdata/check_*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text, project := map[string]string{}, fstest.MapFS{}
			for _, f := range a.Files {
				if at, ok := strings.CutPrefix(f.Name, "project/"); ok {
					project[at] = &fstest.MapFile{Data: f.Data}
					continue
				}
				text[f.Name] = string(f.Data)
			}
			out, list := compiled(t, text["plan.md"], text["ralph.hcl"], text["wish.md"], project)
			if errors := strings.Contains(name, "errors"); out.Diags.HasErrors() != errors {
				t.Fatalf("errors of the compiler: %t\n%+v", errors, out.Diags)
			}
			var b strings.Builder
			file := diag.NewFile("plans/plan.md", []byte(text["plan.md"]))
			for _, d := range list {
				at := file.Position(d.Range.Start)
				fmt.Fprintf(&b, "%s %s %d:%d: %s\n\t> %q\n\t%s\n", d.Severity, d.Code, at.Line, at.Column, d.Summary, file.Bytes[d.Range.Start:d.Range.End], d.Detail)
				if n := len([]rune(d.Summary)); n > 60 {
					t.Errorf("the summary has %d characters: %s", n, d.Summary)
				}
			}
			if *update {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "out/diags" })
				if b.Len() > 0 {
					a.Files = append(a.Files, txtar.File{Name: "out/diags", Data: []byte(b.String())})
				}
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if b.String() != text["out/diags"] {
				t.Errorf("got\n%s\nwant\n%s", b.String(), text["out/diags"])
			}
		})
	}
}

// notes is the project that the example is a plan for.
var notes = fstest.MapFS{
	"go.mod":                    {Data: []byte("module example.org/notes\n\ngo 1.24\n")},
	"README.md":                 {Data: []byte("# Notes\n\nKeeps notes in files.\n\n```sh\ngo run ./cmd/notes\n```\n")},
	"Makefile":                  {Data: []byte("test:\n\tgo test ./...\n")},
	"cmd/notes/main.go":         {},
	"internal/store/notes.go":   {},
	"internal/store/tags.go":    {},
	"internal/store/io_test.go": {},
	"web/server.go":             {},
	"web/templates/list.html":   {},
}

// The example that planners are shown is a good plan: it compiles without a warning,
// with and without a policy, and Check finds nothing.
func TestTheExampleIsAGoodPlan(t *testing.T) {
	wish := "- REQ-001: a word finds its notes\n- REQ-002: on the page and on the command line\n- REQ-003: within a second\n"
	for _, policy := range []string{"", teamPolicy} {
		out, list := compiled(t, examplePlan, policy, wish, notes)
		for _, d := range append(slices.Clone(out.Diags), list...) {
			if d.Severity <= diag.Warning {
				t.Errorf("%s: %s: %s: %s", d.Severity, d.Code, d.Summary, d.Detail)
			}
		}
		e := out.Results[0].Epic
		if len(e.Nodes) != 3 || len(e.Nodes[2].After) != 1 || e.Nodes[2].After[0].Key != "1.1" {
			t.Errorf("the example is not two sprints behind one: %+v", e.Nodes)
		}
		if got := Questions(examplePlan); len(got) != 1 || !strings.HasPrefix(got[0], "Should parts") {
			t.Errorf("open questions: %q", got)
		}
	}
}

const teamPolicy = `
runner "claude" { kind = "claude" }

agent "planner" {
  runner       = runner.claude
  capabilities = ["plan"]
  access       = "write"
}

agent "explorer" {
  runner       = runner.claude
  capabilities = ["explore"]
}

agent "go-dev" {
  runner       = runner.claude
  capabilities = ["implement", "debug"]
  access       = "write"
}

agent "web-dev" {
  runner       = runner.claude
  capabilities = ["implement"]
  access       = "write"
}

agent "ada" {
  human        = true
  capabilities = ["review"]
}

gate "unit" {
  run       = "go test ./... | tee unit.log"
  red_first = true
  protect   = ["testdata/**"]
}

policy "default" {
  default = true
  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.unit]
  }
}

draft {
  max_sprint {
    tasks    = 6
    estimate = "4h"
  }
}
`

func set(t *testing.T, policy string) *policies.Set {
	t.Helper()
	s, list := policies.Decode(policies.Input{Files: []*diag.File{diag.NewFile("ralph.hcl", []byte(policy))}})
	if list.HasErrors() {
		t.Fatal(list)
	}
	return s
}

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	for _, l := range lines {
		if strings.ContainsAny(l, "\n\r") {
			t.Errorf("a line is more than one: %q", l)
		}
	}
	got, at := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(at, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(at)
	if err != nil || got != string(want) {
		t.Errorf("%s differs (%v); -update rewrites it. got\n%s", name, err, got)
	}
}

// What agents are told is read before it is changed. S2-01, S2-72
func TestPrompts(t *testing.T) {
	m := Map(notes, MapBudget)
	golden(t, "map.md", m)
	golden(t, "prompt.md", Prompt(PromptInput{
		Plan: "plans/search.md", Wish: "Search in notes.\n\n- REQ-001: a word finds its notes\n", Policy: set(t, teamPolicy), Map: m,
		Explored: true, Reviewed: true, Person: true,
	}))
	golden(t, "prompt_plain.md", Prompt(PromptInput{Plan: "plan.md", Wish: "Search", Policy: set(t, ""), Map: m}))
	golden(t, "prompt_revise.md", Prompt(PromptInput{
		Plan: "plans/search.md", Policy: set(t, teamPolicy), Map: m, Person: true,
		Revise: &Revision{
			Plan: "# Search\n\n```sh\nmake\n```\n\n### Sprint 1.1: Index\n<!-- beads-ralph: bd-a1b2c3 -->\n", Wish: "split 1.1; no new dependency",
			Last:  []string{"- 1.1 is blocked: the gate unit failed three times", "- $1.20, 14m"},
			Found: []string{"error[unknown-dependency]: there is no item \"1.9\""}, Done: []string{"1.1", "1.2"},
			Implements: []string{"REQ-001", "REQ-002"},
		},
	}))
	golden(t, "explore.md", ExplorePrompt(ExploreInput{Wish: "Search in notes.", Map: m, Room: 2000}))
	golden(t, "explore_later.md", ExplorePrompt(ExploreInput{Map: m, Room: 2000, Later: true, Revise: &Revision{Plan: "# Search", Wish: "split 1.1"}}))
}

// Each label of the compiler is offered to planners or withheld from them.
func TestEveryLabelIsDecided(t *testing.T) {
	told := map[syntax.LabelName]int{}
	for _, o := range offered {
		told[o.name]++
	}
	for _, n := range withheld {
		told[n]++
	}
	all := map[syntax.LabelName]bool{}
	for _, written := range syntax.LabelNames() {
		n, _ := syntax.LookupLabel(written)
		all[n] = true
	}
	for n := range all {
		if told[n] != 1 {
			t.Errorf("label %s is decided about %d times", n, told[n])
		}
		delete(told, n)
	}
	if len(told) > 0 {
		t.Errorf("labels that the compiler does not have: %v", told)
	}
}
