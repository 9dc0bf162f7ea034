package shepherd

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

var update = flag.Bool("update", false, "rewrite the golden cases")

// golden reads the files of a case.
func golden(t *testing.T, name string) (*txtar.Archive, []*diag.File) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "golden", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*diag.File
	for _, f := range a.Files {
		if !strings.HasPrefix(f.Name, "out/") {
			files = append(files, diag.NewFile(f.Name, f.Data))
		}
	}
	return a, files
}

func printed(list diag.List, files []*diag.File) string {
	var b strings.Builder
	for _, d := range list {
		place := "-"
		for _, f := range files {
			if f.Name == d.Range.File {
				place = f.Name + ":" + f.Position(d.Range.Start).String()
			}
		}
		fmt.Fprintf(&b, "%s %s %s: %s\n  %s\n", place, d.Severity, d.Code, d.Summary, d.Detail)
	}
	return b.String()
}

// S4-22..26, S4-71..83, S4-90, S4-91, S4-151, L4-01..03, K2, K10, K21, K24, K25
func TestGolden(t *testing.T) {
	cases, _ := filepath.Glob("testdata/golden/*.txtar")
	if len(cases) < 4 {
		t.Fatalf("%d golden cases", len(cases))
	}
	for _, name := range cases {
		name = strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(name, func(t *testing.T) {
			a, files := golden(t, name)
			text, list := Convert(files, Options{Approver: "ada"})
			got := map[string]string{"out/ralph.hcl": string(text), "out/diags": printed(list, files)}
			if *update {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "out/") })
				for _, n := range []string{"out/ralph.hcl", "out/diags"} {
					if got[n] != "" {
						a.Files = append(a.Files, txtar.File{Name: n, Data: []byte(got[n])})
					}
				}
				if err := os.WriteFile(filepath.Join("testdata", "golden", name+".txtar"), txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for n, g := range got {
				want := ""
				for _, f := range a.Files {
					if f.Name == n {
						want = string(f.Data)
					}
				}
				if g != want {
					t.Errorf("%s is\n%s\nwant\n%s", n, g, want)
				}
			}
		})
	}
}

// S4-90, L4-02: what is written is a policy without a mistake, in ralph's layout, and
// plans compile under it with every one of its policies.
func TestTheResultCompiles(t *testing.T) {
	for _, c := range []struct {
		name     string
		policies []string
	}{
		{"team", []string{"", "quick", "default", "test-1"}},
		{"documents", []string{"", "full-stack-feature", "bugs", "by-hand"}},
		{"jumps", []string{"", "forge"}},
	} {
		_, files := golden(t, c.name)
		text, list := Convert(files, Options{})
		if list.HasErrors() {
			t.Fatalf("%s: %s", c.name, printed(list, files))
		}
		hcl := diag.NewFile("ralph.hcl", text)
		if _, diags := policies.Decode(policies.Input{Files: []*diag.File{hcl}}); len(diags) > 0 {
			t.Errorf("%s: the policy has mistakes:\n%s\n%s", c.name, printed(diags, []*diag.File{hcl}), text)
		}
		if again := policies.Format(text); string(again) != string(text) {
			t.Errorf("%s: ralph fmt changes it:\n%s", c.name, text)
		}
		for _, p := range c.policies {
			compiles(t, c.name, hcl, p)
		}
	}
}

func compiles(t *testing.T, name string, hcl *diag.File, policy string) *ir.Epic {
	t.Helper()
	plan := "# Plan: X\n\n## Phase 1: A\n\n### Sprint 1.1: Do it\n\n"
	if policy != "" {
		plan += "**Policy**: " + policy + "\n\n"
	}
	plan += "**Tasks**:\n- [ ] a\n"
	out := compiler.Compile(compiler.Input{
		Plans:   []compiler.Source{{Path: "plan.md", Bytes: []byte(plan)}},
		Policy:  []compiler.Source{{Path: "ralph.hcl", Bytes: hcl.Bytes}},
		Project: fstest.MapFS{},
	})
	for _, d := range out.Diags {
		if d.Severity == diag.Error || d.Code == "builtin-agent" && name != "jumps" { // which has no agents
			t.Errorf("%s, policy %q: %s: %s\n  %s", name, policy, d.Code, d.Summary, d.Detail)
		}
	}
	if len(out.Results) == 0 || out.Results[0].Epic == nil {
		t.Fatalf("%s, policy %q: no epic", name, policy)
	}
	return out.Results[0].Epic
}

// L4-02, S4-25, K24: the steps of an epic have the timeouts, attempts and agents that
// Agent Shepherd would count: 300000 ms × 2.0 is 10 minutes, and without a base it
// takes 5.
func TestNumbersComeThrough(t *testing.T) {
	_, files := golden(t, "team")
	text, _ := Convert(files, Options{})
	hcl := diag.NewFile("ralph.hcl", text)
	for policy, want := range map[string]string{
		"":        "implement build 600000/2 test build 300000/2 validate build 150000/2",
		"default": "plan plan 300000/3 implement build 600000/3 test build 450000/3 review summary 300000/3",
		"test-1":  "implement build 600000/3 test build 450000/3",
	} {
		var got []string
		for _, s := range compiles(t, "team", hcl, policy).Nodes[0].Steps {
			got = append(got, fmt.Sprintf("%s %s %d/%d", s.Name, s.Agent, s.Limits.TimeoutMS, s.Limits.Attempts))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("policy %q: %s, want %s", policy, strings.Join(got, " "), want)
		}
	}
}

// L4-02: a policy means the same whichever policy is the default. In ralph every
// policy stands on the default one, in Agent Shepherd each stands alone.
func TestPoliciesDoNotLeakIntoEachOther(t *testing.T) {
	const agents = `agents:
  - {id: dev, capabilities: [coding, testing], provider_id: p, model_id: m, priority: 9}
  - {id: looker, capabilities: [coding, review], priority: 20, constraints: {read_only: true}}
  - {id: ada, capabilities: [signing], is_human: true}
`
	each := map[string]string{
		"plain": `{phases: [{name: code, capabilities: [coding], agent: dev}, {name: test, capabilities: [testing]}, {name: review}, {name: sign, capabilities: [testing]}]}`,
		"rich": `{require_hitl: true, stall_threshold_ms: 60000, retry: {max_attempts: 7, backoff_strategy: linear, initial_delay_ms: 1000, max_delay_ms: 9000},
  phases: [{name: code, capabilities: [coding], model: x/y, success_criteria: [works], max_iterations: 4, retry_policy: {max_attempts: 5, backoff: fixed}},
    {name: test, capabilities: [nothing], require_approval: true, max_iterations: 2, transitions: {on_failure: code}},
    {name: review, agent: looker}, {name: sign, capabilities: [signing]}]}`,
		"other": `{stall_threshold_ms: 90000, retry: {max_attempts: 3, backoff_strategy: exponential},
  phases: [{name: review, capabilities: [review]}, {name: code, capabilities: [coding, testing]}, {name: test, capabilities: [coding], agent: dev, max_iterations: 7}, {name: sign, capabilities: [signing]}]}`,
	}
	steps := func(names []string, def, of string) string {
		text := "policies:\n"
		for _, n := range names {
			text += "  " + n + ": " + each[n] + "\n"
		}
		files := []*diag.File{diag.NewFile("a.yaml", []byte(agents)), diag.NewFile("p.yaml", []byte(text+"default_policy: "+def+"\n"))}
		hcl, list := Convert(files, Options{})
		if list.HasErrors() {
			t.Fatal(printed(list, files))
		}
		e := compiles(t, def+"/"+of, diag.NewFile("ralph.hcl", hcl), of)
		var b strings.Builder
		for _, s := range e.Nodes[0].Steps {
			s.Why = ""
			if s.Agent == "" { // nobody works in it: a person approves
				s.Limits.TimeoutMS, s.AllowEmpty = 0, false
			}
			fmt.Fprintf(&b, "%+v\n", s)
		}
		return b.String()
	}
	all := []string{"plain", "rich", "other"}
	for _, of := range all {
		want := steps([]string{of}, of, of)
		for _, def := range all {
			if got := steps(all, def, of); got != want {
				t.Errorf("policy %s on top of %s:\n%s\nalone:\n%s", of, def, got, want)
			}
		}
	}
}

// S4-151, L4-01: both layouts are found, from the project, the folder or config in
// it; a file that stands in both is read once, and that is said.
func TestBothLayouts(t *testing.T) {
	fsys := fstest.MapFS{
		"old/.agent-shepherd/config.yaml": {}, "old/.agent-shepherd/policies.yaml": {}, "old/.agent-shepherd/runs.jsonl": {},
		"new/.agent-shepherd/config/agents.yaml": {}, "new/.agent-shepherd/config/policies.yml": {}, "new/.agent-shepherd/policies.yaml": {},
		"new/.agent-shepherd/config.yaml": {}, "none/README.md": {}, "file/config": {}, "file/a.yaml": {},
	}
	for dir, want := range map[string]string{
		"old":                        "[.agent-shepherd/config.yaml .agent-shepherd/policies.yaml]",
		"old/.agent-shepherd":        "[config.yaml policies.yaml]",
		"new":                        "[.agent-shepherd/config.yaml .agent-shepherd/policies.yaml .agent-shepherd/config/agents.yaml .agent-shepherd/config/policies.yml]",
		"new/.agent-shepherd/config": "[agents.yaml policies.yml]",
		"none":                       "[]",
		"file":                       "[a.yaml]",
	} {
		sub, err := fsys.Sub(dir)
		if err != nil {
			t.Fatal(err)
		}
		files, err := Find(sub)
		if got := fmt.Sprint(files); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", dir, got, err, want)
		}
	}
	policy := func(name string) []byte { return []byte("policies: {" + name + ": {phases: [code]}}") }
	files := []*diag.File{
		diag.NewFile("x/policies.yaml", policy("older")), diag.NewFile("x/config/policies.yml", policy("newer")),
		diag.NewFile("x/config.yaml", []byte("worker: {max_concurrent_runs: 4}")),
	}
	text, list := Convert(files, Options{})
	if s := string(text); !strings.Contains(s, `policy "newer"`) || strings.Contains(s, `policy "older"`) || !strings.Contains(s, "nodes = 4") {
		t.Errorf("%s", s)
	}
	if len(list) != 1 || list[0].Code != "shepherd-left-out" || list[0].Range.File != "x/policies.yaml" {
		t.Errorf("%s", printed(list, files))
	}
}

// The order in which files are named makes no difference, nor do line ends or a byte
// order mark; places are right all the same.
func TestFilesInAnyOrderAndForm(t *testing.T) {
	_, files := golden(t, "documents")
	want, _ := Convert(files, Options{})
	slices.Reverse(files)
	for i, f := range files {
		files[i] = diag.NewFile(f.Name, []byte("\ufeff"+strings.ReplaceAll(string(f.Bytes), "\n", "\r\n")))
	}
	got, list := Convert(files, Options{})
	if string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s\n%s", got, want, printed(list, files))
	}
	bad := diag.NewFile("p.yaml", []byte("\ufeffpolicies:\r\n  a: {phases: 7}\r\n"))
	_, list = Convert([]*diag.File{bad}, Options{})
	if len(list) != 1 || bad.Text(list[0].Range) != "7" {
		t.Errorf("%s", printed(list, []*diag.File{bad}))
	}
}

// S4-90: whatever the bytes are, the result is either refused with a place or a policy
// without mistakes.
func FuzzConvert(f *testing.F) {
	cases, _ := filepath.Glob("testdata/golden/*.txtar")
	for _, name := range cases {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range a.Files {
			if !strings.HasPrefix(x.Name, "out/") {
				f.Add(string(x.Data), "")
			}
		}
	}
	f.Add("policies: {a: {phases: [{name: x, agent: y, model: 'p/${z}'}]}}", "agents: [{id: y, capabilities: ['\"']}]")
	f.Fuzz(func(t *testing.T, a, b string) {
		files := []*diag.File{diag.NewFile("a.yaml", []byte(a)), diag.NewFile("b.yaml", []byte(b))}
		text, list := Convert(files, Options{})
		for _, d := range list {
			if n := len(map[string]string{"a.yaml": a, "b.yaml": b}[d.Range.File]); d.Range.End > n || d.Range.Start > d.Range.End {
				t.Errorf("range %v of %d bytes", d.Range, n)
			}
		}
		if (text == nil) != list.HasErrors() {
			t.Errorf("text %q with %v", text, list)
		}
		if text == nil {
			return
		}
		hcl := diag.NewFile("ralph.hcl", text)
		if _, diags := policies.Decode(policies.Input{Files: []*diag.File{hcl}}); diags.HasErrors() {
			t.Errorf("%q and %q come to a policy with mistakes:\n%s\n%s", a, b, printed(diags, []*diag.File{hcl}), text)
		}
	})
}

// The document has the table of the code, and says something of every key that the
// code asks for.
func TestTheDocumentKnowsEveryKey(t *testing.T) {
	b, err := os.ReadFile("../../docs/formats/shepherd.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	if !strings.Contains(doc, table()) {
		t.Errorf("docs/formats/shepherd.md does not have this table:\n%s", table())
	}
	asked := regexp.MustCompile(`\.(?:get|text|texts|truth|number|whole|ms|word|tier)\((?:\w+, )?"([a-z_]+)"|\.first\("([a-z_]+)", "([a-z_]+)"\)|\{"([a-z_]+)", "[A-Zr]`)
	sources, _ := filepath.Glob("*.go")
	keys := 0
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "write") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllStringSubmatch(string(src), -1) {
			for _, key := range m[1:] {
				if key == "" {
					continue
				}
				keys++
				if !regexp.MustCompile("[`.]" + key + "[`:]").MatchString(doc) {
					t.Errorf("%s reads %s, of which the document says nothing", name, key)
				}
			}
		}
	}
	if keys < 60 {
		t.Errorf("only %d keys were found in the sources", keys)
	}
}

// table is the losses as a table of markdown.
func table() string {
	var b strings.Builder
	b.WriteString("| what | what becomes of it |\n|---|---|\n")
	for _, l := range Losses {
		b.WriteString("| " + l[0] + " | " + l[1] + " |\n")
	}
	return b.String()
}
