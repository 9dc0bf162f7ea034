package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/ir"
)

func golden(t testing.TB, name string) Input {
	t.Helper()
	a, err := txtar.ParseFile("../testdata/golden/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	in, _ := goldenInput(t, a)
	return in
}

func compileText(plan string, files ...string) Output {
	project := fstest.MapFS{}
	for i := 0; i+1 < len(files); i += 2 {
		project[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return Compile(Input{Plans: []Source{{Path: "plan.md", Bytes: []byte(plan)}}, Project: project})
}

func goldenNames(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../testdata/golden/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = strings.TrimSuffix(filepath.Base(files[i]), ".txtar")
	}
	return files
}

// A pass leaves its input unchanged; what it promises holds from then on.
func TestPassesArePureAndKeepTheirPromises(t *testing.T) {
	for _, name := range goldenNames(t) {
		t.Run(name, func(t *testing.T) {
			in := golden(t, name)
			out := Compile(in)
			if out.Diags.HasErrors() {
				return // broken input may break promises
			}
			c := newCompilation(in)
			for _, src := range in.Plans {
				b := newBuild(c.open(src))
				var held []string
				for _, p := range passes {
					before, draft, unit := fingerprint(t, b.epic), fingerprint(t, b.draft), fmt.Sprintf("%+v", *b.unit)
					was := b.epic
					b.pass(p, &c.diags)
					if fingerprint(t, was) != before {
						t.Errorf("pass %s changed its input", p.name)
					}
					if fingerprint(t, b.draft) != draft {
						t.Errorf("pass %s changed the draft", p.name)
					}
					if fmt.Sprintf("%+v", *b.unit) != unit {
						t.Errorf("pass %s changed the unit", p.name)
					}
					held = append(held, p.holds...)
					for _, err := range b.epic.Verify() {
						breach := err.(*ir.Breach)
						if promised(breach.Path, held) {
							t.Errorf("after pass %s: %v", p.name, breach)
						}
					}
				}
			}
		})
	}
}

var index = regexp.MustCompile(`\[[^\]]*\]`)

func promised(path string, held []string) bool {
	path = index.ReplaceAllString(path, "")
	return slices.ContainsFunc(held, func(h string) bool {
		return h == "" || path == h || strings.HasPrefix(path, h+".")
	})
}

func fingerprint(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestThePassesStandInOrder(t *testing.T) {
	before := [][2]string{
		{"graph", "steps"},
		{"steps", "agents"},
		{"agents", "gates"},
		{"agents", "limits"},
		{"gates", "integration"},
		{"gates", "tables"},
		{"integration", "tables"},
		{"prompts", "lints"},
		{"git", "rules"},
		{"rules", "lints"},
		{"lints", "seal"},
	}
	at := map[string]int{}
	for i, p := range passes {
		at[p.name] = i + 1
	}
	for _, b := range before {
		if at[b[0]] == 0 || at[b[1]] == 0 || at[b[0]] >= at[b[1]] {
			t.Errorf("pass %s must be before %s", b[0], b[1])
		}
	}
}

// S0-45, S4-142: the same input gives the same bytes: a hundred times, with policy files in
// any order, in any directory, with CRLF line ends.
func TestCompileIsDeterministic(t *testing.T) {
	in := golden(t, "agents_selection")
	in.Policy = []Source{
		{"a.hcl", []byte(`gate "unit" { ` + "\n" + `kind = "command"` + "\n" + ` run = "make" ` + "\n}\n")},
		{"b.hcl", []byte("agent \"x\" {\n access = \"write\"\n capabilities = [\"implement\"]\n}\n")},
		{"c.hcl", []byte("policy \"default\" {\n default = true\n step \"implement\" {\n gates = [gate.unit]\n }\n}\n")},
	}
	in.Plans[0].Bytes = bigPlan(60)
	want := Compile(in)
	if want.Diags.HasErrors() {
		t.Fatal(printDiags(want))
	}
	for range 100 {
		rand.Shuffle(len(in.Policy), func(i, j int) { in.Policy[i], in.Policy[j] = in.Policy[j], in.Policy[i] })
		got := Compile(in)
		if !bytes.Equal(got.Results[0].JSON, want.Results[0].JSON) || printDiags(got) != printDiags(want) {
			t.Fatal("another result for the same input")
		}
	}
	crlf := in
	crlf.Plans = []Source{{"plan.md", bytes.ReplaceAll(in.Plans[0].Bytes, []byte("\n"), []byte("\r\n"))}}
	got := Compile(crlf)
	if !bytes.Equal(got.Results[0].JSON, want.Results[0].JSON) {
		t.Errorf("CRLF gives other bytes: %s", firstDifference(want.Results[0].JSON, got.Results[0].JSON))
	}
	if bytes.Count(got.Results[0].Annotated, []byte("\n")) != bytes.Count(got.Results[0].Annotated, []byte("\r\n")) {
		t.Error("the annotated plan mixes line ends")
	}
}

// S0-102..107: byte-preserving annotation in all the forms of a file.
func TestAnnotationKeepsAllOtherBytes(t *testing.T) {
	body := "# T\n\n### Sprint 1.1: A\n\ntext\n\n```\n### Sprint 9.9: no\n```\n\nSprint 1.2: B\n-------------\n### Sprint 1.3: C"
	for _, c := range []struct{ name, plan string }{
		{"LF, no final newline", body},
		{"CRLF", strings.ReplaceAll(body, "\n", "\r\n")},
		{"BOM", "\ufeff" + body},
		{"front matter", "---\nid: x\n---\n" + body},
		{"no title", "### Sprint 1.1: A\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := compileText(c.plan)
			if out.Diags.HasErrors() {
				t.Fatal(printDiags(out))
			}
			got := out.Results[0].Annotated
			eol := "\n"
			if strings.Contains(c.plan, "\r\n") {
				eol = "\r\n"
			}
			bare := regexp.MustCompile(`<!-- beads-ralph(-epic)?: bd-[0-9a-z]+ -->`+eol).ReplaceAll(append(slices.Clone(got), eol...), nil)
			bare = bytes.TrimSuffix(bare, []byte(eol))
			if string(bare) != c.plan && string(bare) != strings.TrimSuffix(c.plan, eol) {
				t.Errorf("other bytes changed:\n%q\nwant\n%q", bare, c.plan)
			}
			again := compileText(string(got))
			if !bytes.Equal(again.Results[0].JSON, out.Results[0].JSON) || !bytes.Equal(again.Results[0].Annotated, got) {
				t.Error("annotating is not idempotent")
			}
		})
	}
}

// K3: an annotated sprint keeps its id when it is renumbered, and a sprint that
// takes an old number gets a new one.
func TestIDsStayWithTheirSprint(t *testing.T) {
	first := compileText("### Sprint 1.1: A\n### Sprint 1.2: B\n")
	plan := string(first.Results[0].Annotated)
	old := first.Results[0].Epic
	moved := strings.ReplaceAll(strings.ReplaceAll(plan, "Sprint 1.2", "Sprint 1.3"), "Sprint 1.1", "Sprint 1.2")
	moved = strings.Replace(moved, "### Sprint 1.2", "### Sprint 1.1: New\n### Sprint 1.2", 1)
	out := compileText(moved)
	if out.Diags.HasErrors() {
		t.Fatal(printDiags(out))
	}
	ids := map[ir.Key]ir.NodeID{}
	for _, n := range out.Results[0].Epic.Nodes {
		ids[n.Key] = n.ID
	}
	if ids["1.2"] != old.Nodes[0].ID || ids["1.3"] != old.Nodes[1].ID || ids["1.1"] == old.Nodes[0].ID || out.Results[0].Epic.Epic.ID != old.Epic.ID {
		t.Errorf("ids %v, before %s %s", ids, old.Nodes[0].ID, old.Nodes[1].ID)
	}
	if out.Results[0].Epic.Nodes[1].Digest.Work != old.Nodes[0].Digest.Work {
		t.Error("a renumbered sprint has another digest of its work")
	}
}

func TestNoIDIsAPrefixOfAnother(t *testing.T) {
	var b strings.Builder
	b.WriteString("### Sprint 1.1: A\n<!-- beads-ralph: bd-5 -->\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "### Sprint 2.%d: B\n", i+1)
	}
	out := compileText(b.String())
	if out.Diags.HasErrors() {
		t.Fatal(printDiags(out)[:1000])
	}
	ids := []string{string(out.Results[0].Epic.Epic.ID)}
	for _, n := range out.Results[0].Epic.Nodes {
		ids = append(ids, string(n.ID))
	}
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if strings.HasPrefix(ids[i], ids[i-1]) {
			t.Errorf("%s is a prefix of %s", ids[i-1], ids[i])
		}
	}
}

// One changed line of prose changes one node.
func TestALineOfProseChangesOneNode(t *testing.T) {
	plan := string(bigPlan(40))
	a := compileText(plan)
	b := compileText(strings.Replace(plan, "Some words", "Other words", 1))
	changed := 0
	for i := range a.Results[0].Epic.Nodes {
		if a.Results[0].Epic.Nodes[i].Digest != b.Results[0].Epic.Nodes[i].Digest {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d nodes changed, want 1", changed)
	}
}

// S0-117, S0-121: the seed's names from its own template.
func TestTemplates(t *testing.T) {
	words := map[string]string{"source": "main", "sprint": "3a-2b", "slug": "api-validation", "repo": "{repo}"}
	for _, c := range []struct{ name, in, want string }{
		{"the seed's branch", "{source}/{sprint}-{slug}", "main/3a-2b-api-validation"},
		{"the clone's folder stays open", "../{repo}-worktrees/x", "../{repo}-worktrees/x"},
		{"an unknown word stays", "{nothing}/{slug}", "{nothing}/api-validation"},
		{"a brace that is not closed stays", "a{slug", "a{slug"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fillIn(c.in, words); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// S0-148, K8: what git check-ref-format refuses.
func TestRefFormat(t *testing.T) {
	for _, good := range []string{"main", "main/1-2-auth", "develop/3a-2b-api", "feature/ü", "a.b/c@d", "release-1.2"} {
		if why := ir.BadBranch(good); why != "" {
			t.Errorf("%q: %s", good, why)
		}
	}
	for _, bad := range []string{"", "feat/auth api", "a..b", "a/", "/a", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "a@{b", "@", "-a", "a.", "a\x7fb", "HEAD", "{slug}", "refs/heads/x"} {
		if ir.BadBranch(bad) == "" {
			t.Errorf("%q is taken for a branch", bad)
		}
	}
}

// K9, S0-115: where worktrees may stand.
func TestWorktreePaths(t *testing.T) {
	for _, good := range []string{"../{repo}-worktrees/a/b", "../shop-worktrees/x", "work/a", "./work"} {
		if why := badWorktree(good); why != "" {
			t.Errorf("%q: %s", good, why)
		}
	}
	for _, bad := range []string{"", "/tmp/x", "../x", "../../a-worktrees/b", "..", ".", "../-worktrees/x", "../a-worktrees", `C:\x`, "c:/x", "~/x", "a/../..", ".git/x", "../a-worktrees/../x"} {
		if badWorktree(bad) == "" {
			t.Errorf("%q is taken for a worktree", bad)
		}
	}
}

// What stands outside the project is never read.
type watched struct {
	fs.FS
	opened map[string]int
}

func (w watched) Open(name string) (fs.File, error) {
	w.opened[name]++
	return w.FS.Open(name)
}

func TestHostilePathsAreNotRead(t *testing.T) {
	w := watched{fstest.MapFS{"ralph.hcl": {Data: []byte("agent \"a\" {\n path = \"../../etc/passwd\"\n access = \"write\"\n}\n")}}, map[string]int{}}
	plan := "---\nralph: 1\npolicies: [/etc/passwd, ../x.hcl, ralph.hcl]\n---\n# T\n### Sprint 1.1: A\n**Dev Agent**: `../../etc/passwd`\n**Owns**: /etc/passwd\n"
	out := Compile(Input{Plans: []Source{{"plan.md", []byte(plan)}}, Project: w})
	if !out.Diags.HasErrors() {
		t.Error("no error")
	}
	for name := range w.opened {
		if !fs.ValidPath(name) || strings.Contains(name, "passwd") || strings.Contains(name, "..") {
			t.Errorf("opened %q", name)
		}
	}
}

func TestEachFileIsReadOnce(t *testing.T) {
	w := watched{fstest.MapFS{
		"ralph.hcl": {Data: []byte("\n")}, ".claude/agents/dev.md": {Data: []byte("---\nname: dev\n---\n")},
	}, map[string]int{}}
	Compile(Input{Plans: []Source{{"plan.md", []byte("# T\n### Sprint 1.1: A\n**Dev Agent**: `dev`\n### Sprint 1.2: B\n**Dev Agent**: `dev`\n")}}, Project: w})
	if w.opened["ralph.hcl"] != 1 {
		t.Errorf("opened %v", w.opened)
	}
}

func FuzzCompile(f *testing.F) {
	for _, name := range goldenNames(f) {
		in := golden(f, name)
		policy, _ := fs.ReadFile(in.Project, "ralph.hcl")
		if len(in.Plans) > 0 {
			f.Add(string(in.Plans[0].Bytes), string(policy), in.Options.Dialect)
		}
	}
	f.Fuzz(func(t *testing.T, plan, policy, dialect string) {
		in := Input{
			Plans:   []Source{{"plan.md", []byte(plan)}},
			Project: fstest.MapFS{"ralph.hcl": {Data: []byte(policy)}},
			Options: Options{Dialect: dialect, Limits: Limits{Nodes: 2000, Edges: 20_000}},
		}
		out := Compile(in)
		for _, d := range out.Diags {
			if file := out.Files[d.Range.File]; file != nil && (d.Range.Start < 0 || d.Range.End > len(file.Bytes)) {
				t.Errorf("range %v of %s", d.Range, d.Code)
			}
		}
		if out.Diags.HasErrors() {
			return
		}
		if len(out.Results) == 0 {
			t.Fatal("no error and no result")
		}
		in.Plans[0].Bytes = out.Results[0].Annotated
		if again := Compile(in); len(again.Results) == 0 || !bytes.Equal(again.Results[0].JSON, out.Results[0].JSON) {
			t.Errorf("the annotated plan compiles to other bytes")
		}
	})
}

// Texts is called once, and only if there are texts to make.
func TestTextsIsCalledBeforeThem(t *testing.T) {
	for plan, want := range map[string]int{"### Sprint 1.1: A\n": 1, "### Sprint 1.1: A\n**Depends on**: 9.9\n": 0} {
		called := 0
		out := Compile(Input{Plans: []Source{{"a.md", []byte(plan)}, {"b.md", []byte(plan)}}, Texts: func() { called++ }})
		if called != want || out.Diags.HasErrors() != (want == 0) {
			t.Errorf("called %d times, want %d: %v", called, want, out.Diags)
		}
	}
}
