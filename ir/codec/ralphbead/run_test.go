package ralphbead_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/ir"
)

// A bead that no run has begun keeps the status of its file; one that waits for its
// turn in a run does, too. S3-22, K1
func TestTheStatusIsThatOfTheFileUntilItIsBegun(t *testing.T) {
	e, l := epicOf(t, `{"id": "gt-1", "title": "T", "intent": "I", "dod": {"verifiers": [{"name": "Tests pass", "command": "true"}]}, "status": "blocked"}`)
	if e == nil {
		t.Fatal(l)
	}
	attempts := []ir.Attempt{{Step: "implement", Number: 1}}
	for _, c := range []struct {
		status, word string
		attempts     []ir.Attempt
		want         string
	}{
		{"pending", "pending", nil, "blocked"},
		{"ready", "pending", nil, "blocked"},
		{"ready", "pending", attempts, "pending"}, // it is tried again
		{"running", "in_progress", nil, "in_progress"},
		{"done", "completed", attempts, "completed"},
		{"done", "", attempts, "blocked"}, // nobody says what it is in this format
	} {
		h := &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"gt-1": {Status: c.status, Words: map[string]string{"ralph-bead": c.word}, Attempts: c.attempts}}}
		got, _ := export(t, e, h)
		if s := plain(t, got).(map[string]any)["status"]; s != c.want {
			t.Errorf("%s, %q, %d attempts: status is %v, want %s", c.status, c.word, len(c.attempts), s, c.want)
		}
	}
}

// What was never tried again says how long the first wait would be, in whole seconds:
// that of the step that writes. S3-17, S3-19
func TestTheBackoffBeforeThereWasOne(t *testing.T) {
	const plan = "# Plan\n\n### Sprint 1.1: First\n\n- [ ] do this\n"
	const policy = "gate \"check\" {\n  kind = \"command\"\n  run = \"make check\"\n}\npolicy \"default\" {\n  default = true\n  step \"look\" {\n    access = \"read\"\n    retry {\n      initial = \"9s\"\n    }\n  }\n  step \"implement\" {\n    gates = [gate.check]\n    retry {\n      initial = \"2500ms\"\n    }\n  }\n}\n"
	out := compiler.Compile(compiler.Input{
		Plans:  []compiler.Source{{Path: "plan.md", Bytes: []byte(plan)}},
		Policy: []compiler.Source{{Path: "ralph.hcl", Bytes: []byte(policy)}},
	})
	if out.Diags.HasErrors() {
		t.Fatal(out.Diags)
	}
	e := out.Results[0].Epic
	id := e.Nodes[0].ID
	for _, c := range []struct {
		history *ir.NodeHistory
		want    string
	}{
		{nil, "attempts 0, backoff 3"},
		{&ir.NodeHistory{Status: "running", Attempts: []ir.Attempt{{Step: "implement", Number: 1}}}, "attempts 1, backoff 3"},
		{&ir.NodeHistory{Status: "running", Backoff: time.Second, Attempts: []ir.Attempt{{Step: "implement", Number: 1}}}, "attempts 1, backoff 1"},
		{&ir.NodeHistory{Status: "running", Backoff: 1001 * time.Millisecond, Attempts: []ir.Attempt{{Step: "implement", Number: 1}}}, "attempts 1, backoff 2"},
	} {
		h := &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{}}
		if c.history != nil {
			h.Nodes[id] = c.history
		}
		got, _ := export(t, e, h)
		m := plain(t, got).(map[string]any)["ralph_meta"].(map[string]any)
		if s := fmt.Sprintf("attempts %v, backoff %v", m["attempt_count"], m["retry_backoff_seconds"]); s != c.want {
			t.Errorf("%+v: %s, want %s", c.history, s, c.want)
		}
	}
}

// What a plan says is done is a bead that is completed; a gate that several steps use is
// one verifier, and evidence of one of them is asked for. S3-11, S3-12, S3-22
func TestASprintThatIsDoneIsABeadThatIsCompleted(t *testing.T) {
	const plan = "# Plan\n\n### Sprint 1.1: First\n\n**Status**: done\n\n- [x] do this\n"
	out := compiler.Compile(compiler.Input{Plans: []compiler.Source{{Path: "plan.md", Bytes: []byte(plan)}}})
	if out.Diags.HasErrors() {
		t.Fatal(out.Diags)
	}
	e := out.Results[0].Epic
	if !e.Nodes[0].Done {
		t.Fatal("the sprint is not done")
	}
	e.Gates["first"] = ir.Gate{Kind: "command", Run: "first", OnFailure: "retry", Evidence: true}
	e.Gates["last"] = ir.Gate{Kind: "command", Run: "last", OnFailure: "continue"}
	s := e.Nodes[0].Steps[0]
	s.Gates = []string{"first", "last"}
	e.Nodes[0].Steps = []ir.Step{s, s}
	got, _ := export(t, e, nil)
	b := plain(t, got).(map[string]any)
	sameJSON(t, b["dod"], plain(t, `{"verifiers": [{"name": "first", "command": "first", "expect": {"exit_code": 0}, "on_failure": "stop"},
		{"name": "last", "command": "last", "expect": {"exit_code": 0}, "on_failure": "continue"}], "evidence_required": true}`))
	if b["status"] != "completed" {
		t.Errorf("status is %v", b["status"])
	}
}
