package gsd

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir/codec/foreign/foreigntest"
)

var update = flag.Bool("update", false, "rewrite the golden cases")

func compiled(files []*diag.File) compiler.Output {
	draft, list := Decode(files)
	in := compiler.Imported{Draft: draft, Diags: list}
	for _, f := range files {
		in.Sources = append(in.Sources, compiler.Source{Path: f.Name, Bytes: f.Bytes})
	}
	return compiler.Compile(compiler.Input{Imports: []compiler.Imported{in}, Project: fstest.MapFS{}})
}

func printed(out compiler.Output) (epic, diags string) {
	var b strings.Builder
	for _, r := range out.Results {
		if r.Epic == nil {
			continue
		}
		e := r.Epic
		fmt.Fprintf(&b, "epic %s %s %q plan %s\n", e.Epic.ID, e.Epic.Slug, e.Epic.Title, e.Epic.Plan)
		for i := range e.Nodes {
			n := &e.Nodes[i]
			fmt.Fprintf(&b, "\n%s %s %q done %v type %q implements %v files %v reads %v\n", n.Key, n.Kind, n.Title, n.Done, n.Type, n.Implements, n.Scope.Files, n.Scope.Reads)
			for _, a := range n.After {
				fmt.Fprintf(&b, "  after %s (%s, %s)\n", a.Key, a.From, a.Type)
			}
			for _, a := range n.Acceptance {
				fmt.Fprintf(&b, "  accept %q\n", a)
			}
			for _, s := range n.Steps {
				for _, g := range s.Gates {
					fmt.Fprintf(&b, "  gate %s %s %q\n", g, e.Gates[g].Kind, e.Gates[g].Run)
				}
			}
			for _, l := range n.Prompt {
				fmt.Fprintf(&b, "  | %s\n", l)
			}
		}
	}
	epic = b.String()
	b.Reset()
	for _, d := range out.Diags {
		if d.Code == "no-command-gate" {
			continue
		}
		place := "-"
		if f := out.Files[d.Range.File]; f != nil {
			place = f.Name + ":" + f.Position(d.Range.Start).String()
		}
		fmt.Fprintf(&b, "%s %s %s: %s\n  %s\n", place, d.Severity, d.Code, d.Summary, d.Detail)
	}
	return epic, b.String()
}

func filesOf(a *txtar.Archive) []*diag.File {
	var out []*diag.File
	for _, f := range a.Files {
		if !strings.HasPrefix(f.Name, "out/") {
			out = append(out, diag.NewFile(f.Name, f.Data))
		}
	}
	return out
}

// plan language, rule 20
func TestGolden(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	if len(cases) < 5 {
		t.Fatalf("%d golden cases", len(cases))
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			epic, diags := printed(compiled(filesOf(a)))
			got := map[string]string{"out/epic": epic, "out/diags": diags}
			if *update {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "out/") })
				for _, n := range []string{"out/epic", "out/diags"} {
					a.Files = append(a.Files, txtar.File{Name: n, Data: []byte(got[n])})
				}
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			seen := 0
			for _, f := range a.Files {
				if want, ok := got[f.Name]; ok {
					seen++
					if want != string(f.Data) {
						t.Errorf("%s is\n%s\nwant\n%s", f.Name, want, f.Data)
					}
				}
			}
			if seen != 2 {
				t.Errorf("the case expects nothing")
			}
		})
	}
}

// The order in which the files are read changes nothing.
func TestOrderOfFilesDoesNotCount(t *testing.T) {
	a, err := txtar.ParseFile("testdata/planning.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := filesOf(a)
	want, wantDiags := printed(compiled(files))
	slices.Reverse(files)
	if got, diags := printed(compiled(files)); got != want || diags != wantDiags {
		t.Errorf("in reverse it is\n%s%s\nwant\n%s%s", got, diags, want, wantDiags)
	}
}

func TestFind(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{
		".planning/ROADMAP.md", ".planning/STATE.md", ".planning/phases/01-a/01-01-PLAN.md", ".planning/phases/01-a/01-01-SUMMARY.md",
		".planning/phases/01-a/01-RESEARCH.md", ".planning/milestones/v1-phases/00-z/00-01-PLAN.md", ".planning/quick/001-x/001-PLAN.md", "src/PLAN.md",
	} {
		fsys[name] = &fstest.MapFile{}
	}
	for dir, want := range map[string]string{
		".":                         ".planning/ROADMAP.md .planning/phases/01-a/01-01-PLAN.md .planning/phases/01-a/01-01-SUMMARY.md",
		".planning":                 "ROADMAP.md phases/01-a/01-01-PLAN.md phases/01-a/01-01-SUMMARY.md",
		".planning/phases":          "01-a/01-01-PLAN.md 01-a/01-01-SUMMARY.md",
		".planning/phases/01-a":     "01-01-PLAN.md 01-01-SUMMARY.md",
		".planning/quick":           "001-x/001-PLAN.md",
		".planning/milestones":      "v1-phases/00-z/00-01-PLAN.md",
		".planning/quick/001-x":     "001-PLAN.md",
		".planning/phases/01-a/../": "",
	} {
		sub, err := fsys.Sub(dir)
		if err != nil {
			continue
		}
		got, err := Find(sub)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s has %v, %v, want %s", dir, got, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"phases/01-a/01-02-PLAN.md": "1 2", "phases/02.1-b/02.1-03-PLAN.md": "2.1 3", "07-export/PLAN.md": "7 1", "07-export/02-PLAN.md": "7 2",
		".planning/quick/004-fix/004-PLAN.md": "quick 4", "phases/03-c/BIRD-03-01-PLAN.md": "3 1", "phases/03-c/03-01-tiles-PLAN.md": "3 1", "x/y.md": " ",
	} {
		ph, num := nameParts(name)
		if got := ph + " " + num; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	numbers := []string{"10", "2.10", "2", "quick", "1", "2.1", "2.1.1", "2a"}
	slices.SortFunc(numbers, compareNumbers)
	if got, want := strings.Join(numbers, " "), "1 2 2.1 2.1.1 2.10 2a 10 quick"; got != want {
		t.Errorf("sorted they are %s, want %s", got, want)
	}
}

// The table of the document is that of the code.
func TestLossesStandInTheDocument(t *testing.T) {
	b, err := os.ReadFile("../../../docs/formats/gsd.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := foreigntest.Table(Losses); !strings.Contains(string(b), table) {
		t.Errorf("docs/formats/gsd.md does not have this table:\n%s", table)
	}
}

// Whatever the bytes are: no panic, places inside of the files, and a draft exactly
// when there is no error, which compiles or says why not.
func FuzzDecode(f *testing.F) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range cases {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		roadmap := ""
		for _, x := range filesOf(a) {
			if kindOf(x.Name) == isRoadmap {
				roadmap = string(x.Bytes)
			}
		}
		for _, x := range filesOf(a) {
			f.Add(string(x.Bytes), roadmap)
		}
	}
	f.Fuzz(func(t *testing.T, plan, roadmap string) {
		files := []*diag.File{
			diag.NewFile("p/ROADMAP.md", []byte(roadmap)), diag.NewFile("p/phases/01-a/01-01-PLAN.md", []byte(plan)), diag.NewFile("p/phases/02-b/02-01-PLAN.md", []byte(plan)),
		}
		draft, list := Decode(files)
		if (draft == nil) != list.HasErrors() {
			t.Errorf("draft %v with %v", draft != nil, list)
		}
		for _, d := range list {
			i := slices.IndexFunc(files, func(f *diag.File) bool { return f.Name == d.Range.File })
			if i < 0 || d.Range.Start > d.Range.End || d.Range.End > len(files[i].Bytes) {
				t.Errorf("%s at %v", d.Code, d.Range)
			}
		}
		if out := compiled(files); draft != nil && !out.Diags.HasErrors() && len(out.Results) == 0 {
			t.Error("neither an epic nor an error")
		}
	})
}
