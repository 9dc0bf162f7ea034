package ralphbead_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

const oneVerifier = `"dod": {"verifiers": [{"name": "N", "command": "true"}]}`

// What a bead does not say is filled in, and known to come from a bead. S3-05, S3-25
func TestWhatABeadDoesNotSay(t *testing.T) {
	for name, want := range map[string]ir.Key{"integration.json": "bead", "ä.json": "bead", "Fix it.json": "fix-it"} {
		d, l := ralphbead.Decode([]*diag.File{diag.NewFile(name, []byte(`{"intent": "I", "lane": "patrol", "dod": {"verifiers": [{"command": "true"}]}}`))})
		if l.HasErrors() {
			t.Fatal(l)
		}
		if n := d.Nodes[0]; n.Key != want || string(n.Ext["ralph-bead"]) != "{}" {
			t.Errorf("%s: the key is %s, kept is %s", name, n.Key, n.Ext["ralph-bead"])
		}
	}
	d, _ := decode(`{"intent": "` + strings.Repeat("one more word ", 20) + `", ` + oneVerifier + `}`)
	if title := d.Nodes[0].Title; len(title) > 80 || !strings.HasPrefix(title, "one more word one") {
		t.Errorf("the title is %q", title)
	}
	if d, _ = decode(`[{"intent": "I", ` + oneVerifier + `}, {"intent": "J", ` + oneVerifier + `}]`); d.Title != "2 beads" || d.Slug != "" {
		t.Errorf("two beads are %q, %q", d.Title, d.Slug)
	}
}

// S3-24..28: what a verifier asks for is told to the agent, and its name is short.
func TestWhatAVerifierAsksForIsTold(t *testing.T) {
	src := `{"intent": "I", "dod": {"verifiers": [
		{"name": "N", "command": "x", "expect": {"exit_code": 2, "stdout_contains": "ok"}, "timeout_seconds": 7, "on_failure": "continue"},
		{"name": "` + strings.Repeat("abcdefghi ", 9) + `", "command": "true"}]}}`
	d, l := decode(src)
	if l.HasErrors() {
		t.Fatal(l)
	}
	n := d.Nodes[0]
	if want := "N: `x` ends with exit code 2, prints \"ok\""; n.Acceptance[0] != want {
		t.Errorf("the agent is told %q, want %q", n.Acceptance[0], want)
	}
	if got := n.Verify[1].Name; got != "abcdefghi-abcdefghi-abcdefghi-abcdefghi" {
		t.Errorf("the name is %q", got)
	}
	g := n.Verify[0]
	for want, r := range map[string]diag.Range{`"N"`: g.NameRange, "7": g.Timeout.Range, `"continue"`: g.OnFailure.Range} {
		if got := src[r.Start:r.End]; got != want {
			t.Errorf("the place of %s is that of %s", want, got)
		}
	}
	if !strings.HasPrefix(src[n.Verify[1].Timeout.Range.Start:], `{"name": "abc`) {
		t.Error("the place of a timeout that is not written is not its verifier's")
	}
}

// L3-01: directories and rules, in both schemas' words.
func TestDirectoriesAndRules(t *testing.T) {
	bead := func(constraints string) (*ir.Draft, diag.List) {
		return decode(`{"intent": "I", "constraints": {` + constraints + `}, ` + oneVerifier + `}`)
	}
	d, l := bead(`"allowed_dirs": ["src", "docs/*.md", ".", "a\\b/"], "forbidden_ops": ["sed"], "migration_rules": ["undo it"]`)
	if l.HasErrors() {
		t.Fatal(l)
	}
	if got := strings.Join(d.Nodes[0].Scope.Owns, " "); got != "src/** docs/*.md a/b/**" {
		t.Errorf("it owns %s", got)
	}
	if got := strings.Join(d.Nodes[0].Text, "\n"); got != "This must not be done:\n\n- sed\n\nRules for migrations:\n\n- undo it" {
		t.Errorf("the agent is told %q", got)
	}
	for _, wrong := range []string{`"allowed_dirs": ["/etc"]`, `"allowed_dirs": [" "]`, `"allowed_dirs": [".."]`, `"migration_rules": ["\u0000"]`} {
		if _, l := bead(wrong); len(l) != 1 || l[0].Code != "bead-value" {
			t.Errorf("%s: %v", wrong, l)
		}
	}
	if _, l := decode(`{"intent": "I", "artifacts": {"diff_url": 7}, ` + oneVerifier + `}`); len(l) != 1 || l[0].Code != "bead-value" {
		t.Errorf("an address that is a number: %v", l)
	}
	d, _ = decode(`{"intent": "I", "dod": {"verifiers": [{"command": "true"}], "artifact_paths": ["a.log"]}}`)
	if d == nil || !d.Nodes[0].Verify[0].Evidence {
		t.Errorf("files to leave behind are known to the repository's schema alone: %+v", d)
	}
}

// What a policy changed of a bead is written, and what it did not comes back. S3-06..10
func TestABeadThatWasChangedIsWritten(t *testing.T) {
	e, l := epicOf(t, `{"$schema": "s", "id": "gt-1", "title": "T", "intent": "I", "priority": 5, "type": "gate", "constraints": {"max_iterations": 3, "time_budget_minutes": 9},
		"dod": {"verifiers": [{"name": "N", "command": "true", "on_failure": "retry"}]}}`)
	if e == nil {
		t.Fatal(l)
	}
	n := &e.Nodes[0]
	wrote := func() map[string]any {
		t.Helper()
		got, _ := export(t, e, nil)
		return plain(t, got).(map[string]any)
	}
	doc := wrote()
	sameJSON(t, doc["constraints"], plain(t, `{"max_iterations": 3, "time_budget_minutes": 9}`))
	if doc["$schema"] != "s" || fmt.Sprint(doc["priority"]) != "5" {
		t.Errorf("it is %v", doc)
	}
	n.Priority, n.Limits.Budget.WallMS, n.Limits.Deadline = 1, 90_000, "2026-02-03"
	of := e.Gates["gt-1/n"]
	of.TimeoutMS, of.OnFailure = 1500, "stop"
	e.Gates["gt-1/n"], e.Gates["check"] = of, ir.Gate{Kind: "command", Run: "make check"}
	n.Steps[0].Gates = append(n.Steps[0].Gates, "check")
	doc = wrote()
	sameJSON(t, doc["constraints"], plain(t, `{"max_iterations": 3, "time_budget_minutes": 2, "deadline": "2026-02-03T23:59:59Z"}`))
	sameJSON(t, doc["dod"].(map[string]any)["verifiers"], plain(t, `[{"name": "N", "command": "true", "expect": {"exit_code": 0}, "timeout_seconds": 2, "on_failure": "stop"}]`))
	if fmt.Sprint(doc["priority"]) != "1" {
		t.Errorf("its priority is %v", doc["priority"])
	}
	n.Goal = ""
	if _, breaches := export(t, e, nil); len(breaches) != 1 || breaches[0].Pointer != "/intent" {
		t.Errorf("a bead without a goal lacks %v", breaches)
	}
	h := &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"gt-1": {Status: "blocked", Failure: "gate", Attempts: []ir.Attempt{{Step: "implement", Number: 1}}}}}
	if got, _ := export(t, e, h); strings.Contains(got, "last_failure_summary") {
		t.Errorf("a failure without a reason:\n%s", got)
	}
}

// Sprints of a plan have types, criteria and directories in the format's words.
func TestSprintsInTheWordsOfTheFormat(t *testing.T) {
	out := compiler.Compile(compiler.Input{Plans: []compiler.Source{{Path: "plan.md", Bytes: []byte(
		"# Plan\n\n### Sprint 1.1: First\n\n**Owns**: internal/**\n\n- [ ] do\n\n#### Acceptance criteria\n\n- it works\n\n### Sprint 1.2: Second\n\n- [ ] more\n\n### Sprint 1.3: Third\n\n- [ ] most\n",
	)}}})
	if out.Diags.HasErrors() {
		t.Fatal(out.Diags)
	}
	e := out.Results[0].Epic
	e.Nodes[0].Type, e.Nodes[1].Type, e.Nodes[2].Type = "bug", "", ""
	e.Nodes[2].Kind = ir.GateKind
	got, _ := export(t, e, nil)
	var types []string
	for _, x := range plain(t, got).([]any) {
		types = append(types, fmt.Sprint(x.(map[string]any)["type"]))
	}
	if want := []string{"bugfix", "task", "gate"}; !slices.Equal(types, want) {
		t.Errorf("the types are %q, want %q", types, want)
	}
	first := plain(t, got).([]any)[0].(map[string]any)
	if intent := first["intent"].(string); !strings.HasSuffix(intent, "Tasks:\n- do\n\nAcceptance criteria:\n- it works") {
		t.Errorf("the intent is %q", intent)
	}
	c := first["constraints"].(map[string]any)
	sameJSON(t, c["allowed_dirs"], plain(t, `["internal/**"]`))
	if second := plain(t, got).([]any)[1].(map[string]any); slices.Contains(slices.Collect(maps.Keys(second)), "constraints") && second["constraints"].(map[string]any)["allowed_dirs"] != nil {
		t.Errorf("a sprint that owns all has %v", second["constraints"])
	}
}
