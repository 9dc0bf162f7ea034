package compiler

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// imported is a draft with a node for each line: a key and what it waits for. The
// text stands in for the file, so that every key has a place.
func imported(lines ...string) Imported {
	text := strings.Join(lines, "\n")
	d := &ir.Draft{Plan: "beads.json", Slug: "beads", Title: "Beads"}
	at := 0
	for _, line := range lines {
		key, needs, _ := strings.Cut(line, ":")
		r := diag.Range{File: "beads.json", Start: at, End: at + len(key)}
		n := ir.DraftNode{
			ID: ir.NodeID("gt-" + key), IDRange: r, Key: ir.Key(key), KeyRange: r, Range: r, Kind: ir.Work, Word: "Bead",
			Title: "Bead " + key, Goal: "Do " + key, PhaseIndex: -1, Verify: []ir.DraftGate{{Name: "check", NameRange: r, Run: "true", Range: r}},
		}
		for need := range strings.FieldsSeq(needs) {
			typ := ir.Blocks
			if soft, ok := strings.CutPrefix(need, "~"); ok {
				need, typ = soft, ir.Related
			}
			n.Edges = append(n.Edges, ir.DraftEdge{Key: ir.Key(need), From: "import", Type: typ, Range: diag.Range{File: "beads.json", Start: at, End: at + len(line)}})
		}
		d.Nodes = append(d.Nodes, n)
		at += len(line) + 1
	}
	return Imported{Sources: []Source{{Path: "beads.json", Bytes: []byte(text)}}, Draft: d}
}

func TestAnImportedGraphKeepsItsEdgesAndIDs(t *testing.T) { // K3, S3-04
	out := Compile(Input{Imports: []Imported{imported("c: b a", "b: a", "a", "d: ~a a")}})
	if out.Diags.HasErrors() {
		t.Fatal(printDiags(out))
	}
	var got []string
	for _, n := range out.Results[0].Epic.Nodes {
		s := string(n.ID) + ":"
		for _, a := range n.After {
			s += " " + string(a.Key) + "/" + a.From + "/" + string(a.Type)
		}
		got = append(got, s)
	}
	want := "gt-a:\ngt-b: a/import/blocks\ngt-c: a/import/blocks b/import/blocks\ngt-d: a/import/blocks a/import/related"
	if strings.Join(got, "\n") != want {
		t.Errorf("the nodes are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if r := out.Results[0]; string(r.Annotated) != "c: b a\nb: a\na\nd: ~a a" || r.Added != 0 {
		t.Errorf("the file became %q, %d ids added", r.Annotated, r.Added)
	}
}

func TestAnImportedGraphIsChecked(t *testing.T) {
	for _, c := range []struct {
		in   Imported
		want string
	}{
		{imported("a: b", "b: a"), "dependency-cycle"},
		{imported("a: x"), "unknown-dependency"},
		{imported("a: a"), "self-dependency"},
	} {
		out := Compile(Input{Imports: []Imported{c.in}})
		if got := codes(out.Diags); !strings.Contains(got, c.want) || out.Results != nil && out.Results[0].Epic != nil {
			t.Errorf("%q: %s, want %s and no epic", c.in.Sources[0].Bytes, got, c.want)
		}
	}
}

// A format other than a plan has no labels to write a command into.
func TestAnImportIsNotToldOfLabels(t *testing.T) {
	in := imported("a")
	in.Draft.Nodes[0].Verify = nil
	out := Compile(Input{Imports: []Imported{in}})
	if got := printDiags(out); !strings.Contains(got, "Add a command gate") || strings.Contains(got, "label") {
		t.Errorf("%s", got)
	}
}

// A bead's identity is its id, wherever its file lies; long names that begin alike
// stay apart.
func TestImportedNames(t *testing.T) { // K3
	one := func(path, id string) ir.Header {
		in := imported("a")
		in.Sources[0].Path, in.Draft.Plan = path, path
		in.Draft.Nodes[0].ID, in.Draft.Slug = ir.NodeID(id), id
		out := Compile(Input{Imports: []Imported{in}})
		if out.Diags.HasErrors() {
			t.Fatal(printDiags(out))
		}
		return out.Results[0].Epic.Epic
	}
	a, b := one("x/a.json", "gt-1"), one("y/b.json", "gt-1")
	if a.ID != b.ID || a.Slug != "gt-1" || a.ID == "gt-1" {
		t.Errorf("moved: %s %s, then %s %s", a.ID, a.Slug, b.ID, b.Slug)
	}
	long := "gt-" + strings.Repeat("very-long-", 5)
	p, q := one("a.json", long+"p"), one("a.json", long+"q")
	if p.Slug == q.Slug || len(p.Slug) > 40 || !strings.HasPrefix(p.Slug, "gt-very-long-") {
		t.Errorf("slugs %q and %q", p.Slug, q.Slug)
	}
}

// Work begins at the step that the draft names, with its gates; a fail of it never
// goes to a step that was left out. S4-12, S4-51
func TestWorkBeginsAtTheStepThatIsNamed(t *testing.T) {
	const policy = `
runner "sh" {
  kind = "command"
  run  = ["true"]
}
agent "a" {
  runner       = runner.sh
  access       = "write"
  capabilities = ["plan", "implement", "review"]
}
gate "g1" { run = "one" }
gate "g2" { run = "two" }
gate "g3" { run = "three" }
policy "p" {
  default = true
  step "plan" {
    access = "read"
    gates = [gate.g1]
  }
  step "implement" {
    capabilities = ["implement"]
    gates = [gate.g2]
  }
  step "review" {
    capabilities = ["review"]
    access = "read"
    gates = [gate.g3]
    next = "implement"
  }
}
`
	for _, c := range []struct{ start, want string }{
		{"", "plan[g1]→plan implement[g2 check]→implement review[g3]→implement"},
		{"plan", "plan[g1]→plan implement[g2 check]→implement review[g3]→implement"},
		{"implement", "implement[g2 check]→implement review[g3]→implement"},
		{"review", "review[g3 check]→review"},
	} {
		in := imported("x")
		n := &in.Draft.Nodes[0]
		if c.start != "" {
			n.Start = ir.Stated{Value: c.start, Range: n.Range}
		}
		out := Compile(Input{Imports: []Imported{in}, Policy: []Source{{Path: "ralph.hcl", Bytes: []byte(policy)}}})
		if out.Diags.HasErrors() {
			t.Fatalf("%q: %s", c.start, printDiags(out))
		}
		var got []string
		for _, s := range out.Results[0].Epic.Nodes[0].Steps {
			gates := strings.ReplaceAll(strings.Join(s.Gates, " "), "x/", "")
			got = append(got, s.Name+"["+gates+"]→"+s.Next)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("from %q:\n%s\nwant\n%s", c.start, strings.Join(got, " "), c.want)
		}
		if found := out.Results[0].Epic.Verify(); len(found) > 0 {
			t.Errorf("from %q the epic is refused: %v", c.start, found)
		}
	}
	in := imported("x")
	in.Draft.Nodes[0].Start = ir.Stated{Value: "implemnt", Range: in.Draft.Nodes[0].Range}
	out := Compile(Input{Imports: []Imported{in}, Policy: []Source{{Path: "ralph.hcl", Bytes: []byte(policy)}}})
	if got := codes(out.Diags); !strings.Contains(got, "start-step-unknown") || !strings.Contains(printDiags(out), "implement") {
		t.Errorf("a step that is not there: %s", printDiags(out))
	}
}

// Several files make one epic: each finding stands in its own file, ids that two of
// them have are an error with both places, and the epic is named by the directory.
func TestSeveralFilesMakeOneEpic(t *testing.T) { // S3-38, S3-39
	file := func(path string, lines ...string) Imported {
		in := imported(lines...)
		in.Sources[0].Path = path
		for i := range in.Draft.Nodes {
			n := &in.Draft.Nodes[i]
			n.IDRange.File, n.KeyRange.File, n.Range.File = path, path, path
			for k := range n.Edges {
				n.Edges[k].Range.File = path
			}
		}
		return in
	}
	join := func(all ...Imported) Imported {
		out := Imported{Draft: &ir.Draft{Plan: all[0].Sources[0].Path, Slug: "all", Title: "All"}}
		for _, in := range all {
			out.Sources = append(out.Sources, in.Sources...)
			out.Draft.Nodes = append(out.Draft.Nodes, in.Draft.Nodes...)
		}
		return out
	}
	out := Compile(Input{Imports: []Imported{join(file(".ralph/beads/a.json", "a", "b: a"), file(".ralph/beads/x/c.json", "c: b"))}})
	if out.Diags.HasErrors() {
		t.Fatal(printDiags(out))
	}
	if e := out.Results[0].Epic; e.Epic.Plan != ".ralph/beads" || len(e.Nodes) != 3 || len(e.Nodes[2].After) != 1 {
		t.Errorf("plan %s, %d nodes: %+v", e.Epic.Plan, len(e.Nodes), e.Nodes)
	}
	first := out.Results[0].Epic.Epic.ID
	if e := Compile(Input{Imports: []Imported{join(file(".ralph/beads/0.json", "0"), file(".ralph/beads/a.json", "a"))}}).Results[0].Epic; e.Epic.ID != first {
		t.Errorf("with another file the epic is %s, was %s", e.Epic.ID, first)
	}
	if e := Compile(Input{Imports: []Imported{join(file("b.json", "b"), file("a.json", "a"))}}).Results[0].Epic; e.Epic.Plan != "a.json" {
		t.Errorf("plan %s, want a.json", e.Epic.Plan)
	}

	for _, c := range []struct {
		in    Imported
		want  string
		files []string // of the finding, and of what it relates to
	}{
		{join(file("p/a.json", "a"), file("p/b.json", "b", "a")), "duplicate-id", []string{"p/b.json", "p/a.json"}},
		{join(file("p/a.json", "a: b"), file("p/b.json", "b: a")), "dependency-cycle", []string{"p/a.json", "p/b.json"}},
		{join(file("p/a.json", "a"), file("p/b.json", "b: none")), "unknown-dependency", []string{"p/b.json"}},
	} {
		out := Compile(Input{Imports: []Imported{c.in}})
		if codes(out.Diags) != c.want {
			t.Fatalf("%s, want %s:\n%s", codes(out.Diags), c.want, printDiags(out))
		}
		d := out.Diags[0]
		seen := []string{d.Range.File}
		for _, r := range d.Related {
			seen = append(seen, r.Range.File)
		}
		for _, f := range c.files {
			if !slices.Contains(seen, f) {
				t.Errorf("%s speaks of %q, want %q", c.want, seen, c.files)
			}
		}
	}
}

// Imported ids may be so short that every derived id begins with one of them.
func TestShortImportedIDsEndNoSearch(t *testing.T) { // K3
	short := func(ids ...string) Imported {
		in := imported(ids...)
		for i, id := range ids {
			in.Draft.Nodes[i].ID = ir.NodeID(id)
		}
		return in
	}
	all := []string{}
	for _, c := range idAlphabet {
		all = append(all, "bd-"+string(c))
	}
	for _, ids := range [][]string{{"a", "b"}, {"bd", "a"}, all} {
		out := Compile(Input{Imports: []Imported{short(ids...)}})
		if out.Diags.HasErrors() {
			t.Fatal(printDiags(out))
		}
		if id := out.Results[0].Epic.Epic.ID; !strings.HasPrefix(string(id), "bd-") || len(id) != len("bd-")+idWidth {
			t.Errorf("%q: the epic is %q", ids, id)
		}
	}
}

func codes(l diag.List) string {
	var s []string
	for _, d := range l {
		s = append(s, string(d.Code))
	}
	slices.Sort(s)
	return strings.Join(slices.Compact(s), " ")
}
