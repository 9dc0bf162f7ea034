package ralphbead_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
	"github.com/ralph-compiler/ralph/ir/codec/foreign/foreigntest"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

// epicOf imports beads under the policy that every project begins with.
func epicOf(t testing.TB, texts ...string) (*ir.Epic, diag.List) {
	t.Helper()
	var files []*diag.File
	var in compiler.Imported
	for i, text := range texts {
		name := fmt.Sprintf("beads/b%d.json", i)
		files = append(files, diag.NewFile(name, []byte(text)))
		in.Sources = append(in.Sources, compiler.Source{Path: name, Bytes: []byte(text)})
	}
	in.Draft, in.Diags = ralphbead.Decode(files)
	out := compiler.Compile(compiler.Input{Imports: []compiler.Imported{in}})
	if out.Diags.HasErrors() {
		return nil, out.Diags
	}
	return out.Results[0].Epic, out.Diags
}

func export(t testing.TB, e *ir.Epic, h *ir.History) (string, []foreign.Breach) {
	t.Helper()
	var b bytes.Buffer
	breaches, err := ralphbead.Encode(&b, e, h)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), breaches
}

// normal is a bead as it comes back when nothing is lost but what Losses lists.
func normal(t testing.TB, text string) any {
	t.Helper()
	var doc map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	absent := func(m map[string]any, key string, value any) {
		if _, there := m[key]; !there {
			m[key] = value
		}
	}
	absent(doc, "priority", json.Number("2"))
	dod := doc["dod"].(map[string]any)
	constraints, _ := doc["constraints"].(map[string]any)
	_, artifacts := doc["artifacts"]
	_, blocking := doc["blocking"]
	own := artifacts || blocking || dod["artifact_paths"] != nil || constraints["allowed_dirs"] != nil || constraints["forbidden_ops"] != nil || constraints["migration_rules"] != nil
	switch doc["lane"] {
	case "bug", "hardening", "deps", "gate", "patrol":
		own = true
	}
	absent(dod, "evidence_required", own)
	for _, v := range dod["verifiers"].([]any) {
		v := v.(map[string]any)
		absent(v, "expect", map[string]any{})
		absent(v["expect"].(map[string]any), "exit_code", json.Number("0"))
		absent(v, "timeout_seconds", json.Number("300"))
		absent(v, "on_failure", "stop")
	}
	isGate := doc["type"] == "gate"
	if b, ok := doc["blocking"].(map[string]any); ok && b["is_gate"] == true {
		isGate = true
	}
	if !isGate { // the policy has a limit
		absent(doc, "constraints", map[string]any{})
		absent(doc["constraints"].(map[string]any), "max_iterations", json.Number("3"))
	}
	return doc
}

func plain(t testing.TB, text string) any {
	t.Helper()
	var doc any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return doc
}

func sameJSON(t testing.TB, got, want any) bool {
	t.Helper()
	g, _ := json.MarshalIndent(got, "", " ")
	w, _ := json.MarshalIndent(want, "", " ")
	if bytes.Equal(g, w) {
		return true
	}
	gl, wl := strings.Split(string(g), "\n"), strings.Split(string(w), "\n")
	for i := range min(len(gl), len(wl)) {
		if gl[i] != wl[i] {
			t.Errorf("from line %d on: got\n%s\nwant\n%s", i+1, strings.Join(gl[i:min(i+4, len(gl))], "\n"), strings.Join(wl[i:min(i+4, len(wl))], "\n"))
			return false
		}
	}
	t.Errorf("got\n%s\nwant\n%s", g, w)
	return false
}

// export(import(x)) = x but for what Losses lists. S3-01, S3-16, K2, L3-01
func TestWhatIsImportedComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 100 {
		text := randomBead(r)
		e, l := epicOf(t, text)
		if e == nil {
			t.Fatalf("%v\n%s", l, text)
		}
		got, breaches := export(t, e, nil)
		if !sameJSON(t, plain(t, got), normal(t, text)) {
			t.Fatalf("it was\n%s", text)
		}
		lane := plain(t, text).(map[string]any)["lane"]
		if (len(breaches) > 0) != (lane == "own-lane") {
			t.Fatalf("%v\n%s", breaches, text)
		}
		again, l := epicOf(t, got)
		if again == nil {
			t.Fatal(l)
		}
		if twice, _ := export(t, again, nil); twice != got {
			t.Fatalf("the second time it is\n%s\nwant\n%s", twice, got)
		}
	}
}

// randomBead writes a bead with an id and a title, and anything else that either of
// the schemas has.
func randomBead(r *rand.Rand) string {
	maybe := func() bool { return r.IntN(2) == 0 }
	one := func(words ...string) string { return words[r.IntN(len(words))] }
	b := map[string]any{"id": fmt.Sprintf("gt-%d", r.IntN(1000)), "title": "A title <b>", "intent": one("Do it", "Do it\nand well & good", "Tür")}
	set := func(m map[string]any, key string, value any) {
		if maybe() {
			m[key] = value
		}
	}
	set(b, "type", one("task", "feature", "bugfix", "gate"))
	set(b, "priority", r.IntN(6))
	set(b, "lane", one("fast", "feature", "maintenance", "experimental", "bug", "hardening", "deps", "gate", "patrol", "own-lane"))
	set(b, "status", one("pending", "in_progress", "failed", "blocked", "completed"))
	set(b, "last_updated", "2026-02-03T21:42:18.2425721-05:00")
	set(b, "Stray-Key", map[string]any{"x": []any{1, "two", nil}})
	set(b, "ralph_meta", map[string]any{"attempt_count": 1, "last_attempt": nil, "verifier_results": []any{map[string]any{"Passed": true}}, "Extra": 1.5})
	set(b, "artifacts", map[string]any{"screenshots": []any{"a.png"}, "logs": []any{}, "diff_url": "https://x.example/1", "more": true})
	set(b, "blocking", map[string]any{"is_gate": maybe(), "gate_type": one("smoke", "custom"), "blocks_convoy": maybe(), "auto_close_on_pass": true, "why": "x"})
	dod := map[string]any{}
	var list []any
	for i := range 1 + r.IntN(4) {
		v := map[string]any{"name": one("Lint passes", "Ünit tests", fmt.Sprint("check ", i)), "command": one("make check", "npm test && echo done", "a\nb")}
		expect := map[string]any{}
		set(expect, "exit_code", r.IntN(3))
		set(expect, "stdout_contains", "ok <x>")
		set(expect, "stderr_contains", "warn")
		set(expect, "else", 1)
		set(v, "expect", expect)
		set(v, "timeout_seconds", 1+r.IntN(500))
		set(v, "on_failure", one("stop", "continue", "retry"))
		set(v, "owner", "ann")
		list = append(list, v)
	}
	dod["verifiers"] = list
	set(dod, "evidence_required", maybe())
	set(dod, "artifact_paths", []any{"tests/*.png"})
	set(dod, "note", "x")
	b["dod"] = dod
	c := map[string]any{}
	set(c, "max_iterations", 1+r.IntN(20))
	set(c, "time_budget_minutes", 1+r.IntN(200))
	set(c, "deadline", "2036-01-31T18:00:00+02:00")
	set(c, "allowed_dirs", []any{"internal/", `cmd\ralph`, "src/**", "."})
	set(c, "forbidden_ops", []any{"rm -rf /", "drop database"})
	set(c, "migration_rules", []any{"reversible"})
	set(c, "team", "x")
	if len(c) > 0 {
		b["constraints"] = c
	}
	out, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// What ralph ran is what stands in the bead afterwards, the backoff too. S3-16..22, K1
func TestExportHasWhatWasRun(t *testing.T) {
	text := `{"id": "gt-1", "title": "T", "intent": "I", "priority": 5, "dod": {"verifiers": [{"name": "Tests pass", "command": "true"}, {"name": "Lint", "command": "lint"}, {"name": "Build", "command": "build"}]},
		"ralph_meta": {"attempt_count": 7, "retry_backoff_seconds": 5, "failure_reason": "old", "verifier_results": [1], "mine": "stays"}, "status": "failed"}`
	e, l := epicOf(t, text)
	if e == nil {
		t.Fatal(l)
	}
	at := func(m int) time.Time { return time.Date(2026, 2, 3, 21, m, 0, 0, time.UTC) }
	gate := func(name, verdict, message string, m int) ir.GateResult {
		return ir.GateResult{Gate: "gt-1/" + name, Kind: "command", Verdict: verdict, Message: message, Ended: at(m)}
	}
	h := &ir.History{Program: "ralph 1.2.3", Nodes: map[ir.NodeID]*ir.NodeHistory{"gt-1": {
		Status: "blocked", Words: map[string]string{"ralph-bead": "failed"}, Failure: "iterations", Reason: "2 attempts failed", Backoff: 9500 * time.Millisecond,
		Attempts: []ir.Attempt{
			{Step: "implement", Number: 1, Started: at(1), Gates: []ir.GateResult{gate("tests-pass", "pass", "", 2), gate("lint", "fail", "lint says no", 3), gate("build", "pass", "", 3)}},
			{Step: "implement", Number: 2, Started: at(4), Gates: []ir.GateResult{gate("tests-pass", "error", "no shell", 5), gate("tests-pass", "fail", "1 failed", 6), {Gate: "gt-1/build", Kind: "command", Verdict: "pass"}}},
		},
	}}}
	got, breaches := export(t, e, h)
	doc := plain(t, got).(map[string]any)
	want := plain(t, `{"attempt_count": 2, "executor_version": "ralph 1.2.3", "retry_backoff_seconds": 10, "last_attempt": "2026-02-03T21:04:00Z", "last_failure_summary": "2 attempts failed",
		"mine": "stays", "verifier_results": [
		{"verifier": "Tests pass", "passed": false, "timestamp": "2026-02-03T21:06:00Z", "output": "1 failed", "attempt": 2},
		{"verifier": "Lint", "passed": false, "timestamp": "2026-02-03T21:03:00Z", "output": "lint says no", "attempt": 1},
		{"verifier": "Build", "passed": true, "output": "", "attempt": 2}]}`)
	sameJSON(t, doc["ralph_meta"], want)
	if doc["status"] != "failed" || fmt.Sprint(doc["priority"]) != "5" || len(breaches) > 0 {
		t.Errorf("status %v, priority %v, %v", doc["status"], doc["priority"], breaches)
	}
	h.Nodes["gt-1"].Words["ralph-bead"], h.Nodes["gt-1"].Failure = "in_progress", ""
	if got, _ = export(t, e, h); !strings.Contains(got, `"status": "in_progress"`) || strings.Contains(got, "last_failure_summary") {
		t.Errorf("while it runs:\n%s", got)
	}
}

// A sprint of a plan is a bead that says all that the format has words for, and what
// it lacks is said. S3-03, S3-10, S3-11
func TestAPlanIsExported(t *testing.T) {
	const plan = "# Plan\n\n### Sprint 1.1: First\n\n**Owns**: internal/**\n\n- [ ] do this\n- [ ] and that\n\n#### Acceptance\n\n- it works\n\n### Sprint 1.2: Second\n\n- [ ] more\n"
	const policy = "gate \"check\" {\n  kind = \"command\"\n  run = \"make check\"\n  timeout = \"90s\"\n}\nrule \"r\" {\n  sprint = \"1.1\"\n  step \"implement\" {\n    gates = [\"check\"]\n  }\n}\n"
	out := compiler.Compile(compiler.Input{
		Plans:  []compiler.Source{{Path: "plan.md", Bytes: []byte(plan)}},
		Policy: []compiler.Source{{Path: "ralph.hcl", Bytes: []byte(strings.Split(policy, "rule ")[0])}},
	})
	if out.Diags.HasErrors() {
		t.Fatal(out.Diags)
	}
	e := out.Results[0].Epic
	e.Nodes[0].Steps[0].Gates = append(e.Nodes[0].Steps[0].Gates, "check")
	e.Gates["check"] = ir.Gate{Kind: "command", Run: "make check", TimeoutMS: 90_000, OnFailure: "retry", Evidence: true}
	e.Nodes[0].Type = "story"
	got, breaches := export(t, e, nil)
	list := plain(t, got).([]any)
	if len(list) != 2 {
		t.Fatalf("%d beads, want 2:\n%s", len(list), got)
	}
	first := list[0].(map[string]any)
	sameJSON(t, first["dod"], plain(t, `{"verifiers": [{"name": "check", "command": "make check", "expect": {"exit_code": 0}, "timeout_seconds": 90, "on_failure": "stop"}], "evidence_required": true}`))
	if intent := first["intent"].(string); !strings.Contains(intent, "- do this\n- and that") || first["status"] != "pending" || first["type"] != "story" {
		t.Errorf("the bead is %+v", first)
	}
	var said []string
	for _, b := range breaches {
		said = append(said, b.String())
	}
	want := []string{"1.1: /type must be task, feature, bugfix or gate, not story", "1.2: /dod/verifiers must have a command; agents and people judge this one"}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("it lacks %q, want %q", said, want)
	}
	var files []*diag.File
	for i, x := range list[:1] {
		b, _ := json.Marshal(x.(map[string]any))
		b = bytes.Replace(b, []byte(`"story"`), []byte(`"task"`), 1)
		files = append(files, diag.NewFile(fmt.Sprint(i, ".json"), b))
	}
	if d, l := ralphbead.Decode(files); d == nil {
		t.Errorf("what is written cannot be read: %v", l)
	}
}

// The document has the table of what is lost.
func TestTheDocumentSaysWhatIsLost(t *testing.T) {
	b, err := os.ReadFile("../../../docs/formats/ralph-bead.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), foreigntest.Table(ralphbead.Losses)) {
		t.Errorf("docs/formats/ralph-bead.md lacks this table:\n%s", foreigntest.Table(ralphbead.Losses))
	}
}
