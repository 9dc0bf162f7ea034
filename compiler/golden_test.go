package compiler

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

var update = flag.Bool("update", false, "rewrite the golden cases")

// goldenInput makes the input of a case: every *.md at the top is a plan, all
// files are the project, and every *.bead.json and *.task.json is imported. Lines of the comment that begin with "flags:" are
// options; "show:" says which outputs beside graph and diags are kept.
func goldenInput(t testing.TB, a *txtar.Archive) (Input, []string) {
	t.Helper()
	project := fstest.MapFS{}
	in := Input{Project: project}
	var show []string
	long, known := false, map[ir.NodeID]string{}
	in.Past = func(ir.Header) Past { return Past{Journal: known} }
	for line := range strings.SplitSeq(string(a.Comment), "\n") {
		if rest, ok := strings.CutPrefix(line, "show:"); ok {
			show = strings.Fields(rest)
		}
		rest, ok := strings.CutPrefix(line, "flags:")
		if !ok {
			continue
		}
		for _, f := range strings.Fields(rest) {
			k, v, _ := strings.Cut(f, "=")
			o := &in.Options
			switch k {
			case "dialect":
				o.Dialect = v
			case "complexity":
				o.Complexity = v
			case "max-iterations":
				o.MaxIterations, _ = strconv.Atoi(v)
			case "pr":
				o.PR = v
			case "no-annotate":
				o.NoAnnotate = true
			case "strict":
				o.Strict = true
			case "now":
				o.Now, _ = time.Parse(time.RFC3339, v)
			case "max-edges":
				o.Limits.Edges, _ = strconv.Atoi(v)
			case "max-plan-bytes":
				o.Limits.PlanBytes, _ = strconv.Atoi(v)
			case "max-items":
				o.Limits.Nodes, _ = strconv.Atoi(v)
			case "max-depth":
				o.Limits.Depth, _ = strconv.Atoi(v)
			case "fresh-id":
				o.FreshIDs = append(o.FreshIDs, v)
			case "same-id":
				o.SameIDs = append(o.SameIDs, v)
			case "taken": // a branch, by somebody else: of all items and the sum
				in.Taken = func(e *ir.Epic) []Taken {
					return []Taken{{[]ir.NodeID{"integration"}, "the branch " + v + " is in the way", []string{"git branch -m " + v + " OTHER"}}, {[]ir.NodeID{e.Nodes[0].ID}, "the branch " + e.Nodes[0].Git.Branch + " exists", []string{"one", "the other"}}}
				}
			case "known": // an id that the journal knows
				known[ir.NodeID(v)] = "something"
			case "long-line":
				long = true
			case "twice":
				in.Plans = append(in.Plans, Source{Path: "plan.md"})
			default:
				t.Fatalf("unknown flag %q", k)
			}
		}
	}
	var scrum []Source
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "out/") {
			continue
		}
		if strings.HasSuffix(f.Name, ".scrum.json") { // all of them make one epic
			scrum = append(scrum, Source{Path: f.Name, Bytes: f.Data})
		}
		project[f.Name] = &fstest.MapFile{Data: f.Data}
		if strings.HasSuffix(f.Name, ".bead.json") {
			src := Source{Path: f.Name, Bytes: f.Data}
			draft, l := ralphbead.Decode([]*diag.File{diag.NewFile(src.Path, src.Bytes)})
			in.Imports = append(in.Imports, Imported{Sources: []Source{src}, Draft: draft, Diags: l})
		}
		if strings.HasSuffix(f.Name, ".task.json") {
			src := Source{Path: f.Name, Bytes: f.Data}
			draft, l := beadsmith.Decode([]*diag.File{diag.NewFile(src.Path, src.Bytes)})
			in.Imports = append(in.Imports, Imported{Sources: []Source{src}, Draft: draft, Diags: l})
		}
		if strings.HasSuffix(f.Name, ".md") && !strings.HasPrefix(f.Name, ".") && path.Base(f.Name) != specFile {
			if len(in.Plans) == 1 && in.Plans[0].Bytes == nil {
				in.Plans[0].Bytes = f.Data
			}
			in.Plans = append(in.Plans, Source{Path: f.Name, Bytes: f.Data})
		}
	}
	if len(scrum) > 0 {
		in.Imports = append(in.Imports, scrumBeads(scrum...))
	}
	if long { // too much for a file
		in.Plans[0].Bytes = append(in.Plans[0].Bytes, bytes.Repeat([]byte("long "), 400_000)...)
	}
	return in, show
}

// goldenOutput prints what a case keeps.
func goldenOutput(out Output, show []string) map[string]string {
	got := map[string]string{"out/diags": printDiags(out)}
	var graph strings.Builder
	for i, r := range out.Results {
		if r.Epic == nil {
			continue
		}
		printGraph(&graph, r.Epic)
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprint(i + 1)
		}
		for _, s := range show {
			switch s {
			case "ir":
				got["out/ir"+suffix] = string(r.JSON)
			case "plan":
				got["out/plan"+suffix] = string(r.Annotated)
			case "acceptance":
				var b strings.Builder
				for _, n := range r.Epic.Nodes {
					fmt.Fprintf(&b, "%s implements %v\n", n.Key, n.Implements)
					for _, a := range n.Acceptance {
						fmt.Fprintf(&b, "\t%s\n", a)
					}
				}
				got["out/acceptance"+suffix] = b.String()
			case "prompts":
				var b strings.Builder
				for _, n := range r.Epic.Nodes {
					fmt.Fprintf(&b, "== %s\n%s\n", n.Key, strings.Join(n.Prompt, "\n"))
				}
				got["out/prompts"+suffix] = b.String()
			case "why":
				var b strings.Builder
				for _, n := range r.Epic.Nodes {
					reasons, _ := r.Trace.Why(n.Key, "")
					for _, w := range reasons {
						fmt.Fprintf(&b, "%s %s = %s: %s%s\n", n.Key, w.Field, w.Value, w.Origin, place(out, w.Range, " at "))
					}
				}
				got["out/why"+suffix] = b.String()
			}
		}
	}
	got["out/graph"] = graph.String()
	return got
}

func printGraph(b *strings.Builder, e *ir.Epic) {
	fmt.Fprintf(b, "%s %q base=%q target=%q complexity=%s %s/%s gates=%v\n", e.Epic.Slug, e.Epic.Title, e.Epic.Base, e.Epic.Target, e.Epic.Complexity, e.Epic.Integration.Mode, e.Epic.Integration.PR, e.Epic.Integration.Gates)
	for i := range e.Nodes {
		n := &e.Nodes[i]
		var after []string
		for _, a := range n.After {
			s := string(a.Key) + ":" + a.From
			if a.Type != ir.Blocks {
				s += ":" + string(a.Type)
			}
			after = append(after, s)
		}
		done := ""
		if n.Done {
			done = " done"
		}
		fmt.Fprintf(b, "%s %q %s%s [%s] %s P%d %s\n", n.Key, n.Title, n.Kind, done, strings.Join(after, " "), n.Complexity.Level, n.Priority, n.Git.Branch)
		for _, s := range n.Steps {
			fmt.Fprintf(b, "\t%s %s/%s/%s %v ×%d it%d %dms -> %s\n", s.Name, s.Agent, s.Model, s.Access, s.Gates, s.Limits.Attempts, s.Limits.Iterations, s.Limits.TimeoutMS, s.Next)
		}
	}
}

func printDiags(out Output) string {
	var b strings.Builder
	for _, d := range out.Diags {
		fmt.Fprintf(&b, "%s %s%s: %s\n\t%s\n", d.Severity, d.Code, place(out, d.Range, " "), d.Summary, d.Detail)
		for _, r := range d.Related {
			fmt.Fprintf(&b, "\t%s: %s\n", strings.TrimSpace(place(out, r.Range, " ")), r.Message)
		}
	}
	return b.String()
}

func place(out Output, r diag.Range, sep string) string {
	if r.IsZero() {
		return ""
	}
	if f := out.Files[r.File]; f != nil && r.End <= len(f.Bytes) {
		return fmt.Sprintf("%s%s:%s %q", sep, r.File, f.Position(r.Start), clip(f.Text(r)))
	}
	return sep + r.File
}

func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("../testdata/golden/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no golden cases: %v", err)
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			in, show := goldenInput(t, a)
			out := Compile(in)
			checkDiags(t, out)
			checkAgain(t, in, out)
			got := goldenOutput(out, show)
			if *update {
				rewrite(t, name, a, got)
				return
			}
			want := map[string]string{}
			for _, f := range a.Files {
				if strings.HasPrefix(f.Name, "out/") {
					want[f.Name] = string(f.Data)
				}
			}
			for _, n := range slices.Compact(slices.Sorted(slices.Values(append(sortedNames(got), sortedNames(want)...)))) {
				if got[n] != want[n] {
					t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", n, got[n], want[n])
				}
			}
		})
	}
}

func rewrite(t *testing.T, name string, a *txtar.Archive, got map[string]string) {
	t.Helper()
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "out/") })
	for _, n := range sortedNames(got) {
		if got[n] != "" {
			a.Files = append(a.Files, txtar.File{Name: n, Data: []byte(got[n])})
		}
	}
	if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkAgain compiles the annotated plans: same bytes, nothing more to add.
func checkAgain(t *testing.T, in Input, out Output) {
	t.Helper()
	if out.Diags.HasErrors() {
		for _, r := range out.Results {
			if r.Epic != nil || r.JSON != nil || r.Annotated != nil {
				t.Errorf("%s: results beside errors", r.Plan)
			}
		}
		return
	}
	for i := range in.Plans {
		in.Plans[i].Bytes = out.Results[i].Annotated
	}
	again := Compile(in)
	for i, r := range again.Results {
		if !bytes.Equal(r.JSON, out.Results[i].JSON) {
			t.Errorf("%s: the annotated plan compiles to other bytes:\n%s", r.Plan, firstDifference(out.Results[i].JSON, r.JSON))
		}
		source := Source{Bytes: out.Results[i].Annotated}
		if k := i - len(in.Plans); k >= 0 {
			source = in.Imports[k].Sources[0]
		}
		if r.Added != 0 || !bytes.Equal(r.Annotated, source.Bytes) {
			t.Errorf("%s: annotated again, %d added", r.Plan, r.Added)
		}
	}
}

func firstDifference(a, b []byte) string {
	la, lb := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(la), len(lb)) {
		if la[i] != lb[i] {
			return fmt.Sprintf("line %d\n- %s\n+ %s", i+1, la[i], lb[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(la), len(lb))
}

// checkDiags holds every diagnostic to the rules of the house.
func checkDiags(t *testing.T, out Output) {
	t.Helper()
	for _, d := range out.Diags {
		if n := len([]rune(d.Summary)); n > 60 || n == 0 || strings.HasSuffix(d.Summary, ".") {
			t.Errorf("summary of %s is too long (%d), empty or a sentence: %q", d.Code, n, d.Summary)
		}
		if d.Detail == "" || !strings.ContainsAny(d.Detail[len(d.Detail)-1:], ".?}\"") {
			t.Errorf("detail of %s is no sentence: %q", d.Code, d.Detail)
		}
		if strings.Contains(d.Detail, "%!") || strings.Contains(d.Summary, "%!") {
			t.Errorf("%s is badly formatted: %q %q", d.Code, d.Summary, d.Detail)
		}
		for _, r := range append([]diag.Related{{Range: d.Range}}, d.Related...) {
			if r.Range.IsZero() || strings.HasPrefix(r.Range.File, "builtin/") {
				continue
			}
			f := out.Files[r.Range.File]
			if f == nil && r.Range.Start == 0 && r.Range.End == 0 {
				continue // a file that could not be read
			}
			if f == nil || r.Range.Start < 0 || r.Range.End < r.Range.Start || r.Range.End > len(f.Bytes) {
				t.Errorf("range of %s is outside its file: %+v", d.Code, r.Range)
			}
		}
	}
}

// goldenText is all that golden cases hold, here and in the testdata of the packages
// that give diagnostics.
func goldenText(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"../testdata/golden/*.txtar", "../policies/testdata/*/*.txtar", "../policies/shepherd/testdata/*/*.txtar", "syntax/testdata/*/*.txtar", "syntax/testdata/*.txtar", "../app/cli/testdata/script/*.txtar", "../ir/codec/*/testdata/*", "../app/draft/rules/testdata/*.txtar"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
	}
	return all.String()
}

// What golden cases print is what the table of docs/diagnostics says.
func TestSeveritiesAreThoseOfTheTable(t *testing.T) {
	printed := regexp.MustCompile(`(?m)^(error|warning|note|hint)(?: |\[)([a-z0-9-]+)(?:\]:| \S+:\d+:\d+ )`)
	seen := map[string]bool{}
	for _, m := range printed.FindAllStringSubmatch(goldenText(t), -1) {
		e, known := diag.Lookup(diag.Code(m[2]))
		if !known || seen[m[1]+m[2]] || m[1] == "error" && e.Strict {
			continue
		}
		seen[m[1]+m[2]] = true
		if !slices.ContainsFunc(append([]diag.Severity{e.Severity}, e.Others...), func(s diag.Severity) bool { return s.String() == m[1] }) {
			t.Errorf("%s is printed as %s, the table says %s", e.Code, m[1], e.Severity)
		}
	}
}

// Every code of every table has a golden case here, or in the testdata of the
// package that gives it.
func TestEveryCodeHasACase(t *testing.T) {
	text := goldenText(t)
	elsewhere := map[diag.Code]string{
		"agent-file-yaml":     "policies: no policy file gives it",
		"policy-not-in-fence": "policies: no policy file gives it",
		"start-step-unknown":  "drafts_test.go: only drafts name a step to begin with",
	}
	for _, e := range diag.Table() {
		if elsewhere[e.Code] != "" || e.About == "epic" {
			continue
		}
		if !strings.Contains(text, " "+string(e.Code)+" ") && !strings.Contains(text, "["+string(e.Code)+"]") && !strings.Contains(text, " "+string(e.Code)+":") {
			t.Errorf("no golden case gives %s", e.Code)
		}
	}
}
