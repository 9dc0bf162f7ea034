package bead_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func at(t *testing.T, clock string) time.Time {
	t.Helper()
	x, err := time.Parse("15:04", clock)
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(2026, 2, 7, x.Hour(), x.Minute(), 0, 0, time.FixedZone("elsewhere", 3600)).Add(time.Hour)
}

// completed is an epic of one node, and the history that the completed example tells:
// two attempts, the first of which a QA agent refused.
func completed(t *testing.T) (*ir.Epic, *ir.History) {
	e := irtest.Worked()
	e.Nodes = e.Nodes[:1]
	n := &e.Nodes[0]
	n.ID, n.Key, n.Title = "bd-a1b2c3", "1.2", "Implement user authentication API"
	n.Ext = map[string]json.RawMessage{"bead": json.RawMessage(`{"metadata": {"dev_agent_path": ".claude/agents/backend-dev",
		"qa_agents": {"a": {"agent_path": ".claude/agents/qa-unit-tests"}, "b": {"agent_path": ".claude/agents/qa-security-scan"}}}}`)}
	n.Steps = n.Steps[:1]
	n.Steps[0].Name = "implement"
	qa := func(path, model, session, from, to, verdict, details string) ir.GateResult {
		return ir.GateResult{
			Gate: path, Kind: "agent", Agent: path, AgentPath: ".claude/agents/" + path + ".md", Model: model, Session: session,
			Verdict: verdict, Started: at(t, from), Ended: at(t, to), Details: json.RawMessage(details),
			Message: map[string]string{
				"claude-qa-session-ghi789": "Unit tests failed: test_signup_duplicate_email FAILED",
				"claude-qa-session-jkl012": "All tests passed. Coverage: 87%",
				"claude-qa-session-mno345": "No vulnerabilities found",
			}[session],
		}
	}
	dev := ir.Attempt{
		Step: "implement", Agent: "backend-dev", AgentPath: ".claude/agents/backend-dev.md", Model: "sonnet",
		Status: "passed", Words: map[string]string{"execution": "completed"},
	}
	one, two := dev, dev
	one.Number, one.Session, one.Started, one.Ended = 1, "claude-dev-session-abc123", at(t, "10:00"), at(t, "10:15")
	one.Gates = []ir.GateResult{qa("qa-unit-tests", "haiku", "claude-qa-session-ghi789", "10:16", "10:18", "fail",
		`{"status": "fail", "message": "Unit tests failed: test_signup_duplicate_email FAILED", "details": {"total": 42, "passed": 41, "failed": 1}}`)}
	two.Number, two.Session, two.Started, two.Ended = 2, "claude-dev-session-def456", at(t, "10:25"), at(t, "10:35")
	two.Feedback = []string{"QA failed: Unit tests failed for signup endpoint. Missing validation for duplicate emails."}
	two.Gates = []ir.GateResult{
		qa("qa-unit-tests", "haiku", "claude-qa-session-jkl012", "10:36", "10:38", "pass",
			`{"status": "pass", "message": "All tests passed. Coverage: 87%", "total": 45, "passed": 45, "coverage_percent": 87}`),
		qa("qa-security-scan", "sonnet", "claude-qa-session-mno345", "10:38", "10:40", "pass",
			`{"status": "pass", "message": "No vulnerabilities found", "vulnerabilities": []}`),
	}
	return e, &ir.History{Top: "/Users/dev/projects/my-app", Started: at(t, "09:59"), Nodes: map[ir.NodeID]*ir.NodeHistory{n.ID: {
		Status: "done", Words: map[string]string{"issue": "closed"}, Started: at(t, "10:00"), Updated: at(t, "10:45"), Ended: at(t, "10:45"),
		PRURL: "https://github.com/user/repo/pull/42", PRNumber: 42, Attempts: []ir.Attempt{one, two},
		Comments: []ir.Comment{{Author: "ralph", Text: "[iter:2] done", At: at(t, "10:45")}},
		Scrum: json.RawMessage(`{"bead_id": "bd-a1b2c3", "success": true, "pr_url": "https://github.com/user/repo/pull/42", "pr_number": 42,
			"bead_updated": true, "attempt_count": 2, "error": null, "fatal": false, "qa_results": [
			{"agent_path": ".claude/agents/qa-unit-tests.md", "status": "pass", "message": "All tests passed. Coverage: 87%", "gate": "qa-unit-tests"},
			{"agent_path": ".claude/agents/qa-security-scan", "status": "pass", "message": "No vulnerabilities found", "gate": "qa-security-scan"}]}`),
	}}}
}

func exported(t *testing.T, e *ir.Epic, h *ir.History) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if _, err := bead.Encode(&b, e, h); err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	return out
}

// A run is told exactly as in the completed example, but for the messages and the
// details of its results, which the example leaves out, and for the session of a scrum
// master, whom ralph does not have. S0-64..92, S0-122, S0-125, S0-126
func TestARunIsToldAsInTheCompletedExample(t *testing.T) {
	e, h := completed(t)
	got := exported(t, e, h)
	b, err := os.ReadFile("testdata/completed.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	want["metadata"].(map[string]any)["scrum_master_session_id"] = nil
	results := want["metadata"].(map[string]any)["scrum_result"].(map[string]any)["qa_results"].([]any)
	executions := want["metadata"].(map[string]any)["qa_agent_executions"].([]any)
	for i, m := range []string{"All tests passed. Coverage: 87%", "No vulnerabilities found"} {
		r := results[i].(map[string]any)
		r["message"], r["details"] = m, executions[i+1].(map[string]any)["details"] // those of attempt 2
	}
	compare := func(place string, got, want map[string]any) {
		for key, w := range want {
			if key != "metadata" && !reflect.DeepEqual(got[key], w) {
				g, _ := json.Marshal(got[key])
				x, _ := json.Marshal(w)
				t.Errorf("%s/%s is\n%s\nwant\n%s", place, key, g, x)
			}
		}
	}
	compare("", got, want)
	compare("/metadata", got["metadata"].(map[string]any), want["metadata"].(map[string]any))
	if got["external_ref"] != "https://github.com/user/repo/pull/42" { // S0-16
		t.Errorf("external_ref is %v", got["external_ref"])
	}
	c := got["comments"].([]any)[0].(map[string]any)
	if c["author"] != "ralph" || c["text"] != "[iter:2] done" || c["created_at"] != "2026-02-07T10:45:00Z" { // S0-14
		t.Errorf("the comment is %v", c)
	}
}

// What runs has no end yet, and what has not ended no result. S0-69, S0-70
func TestARunningAttemptHasNoEnd(t *testing.T) {
	e, h := completed(t)
	nh := h.Nodes["bd-a1b2c3"]
	nh.Words, nh.Ended, nh.Scrum, nh.PRURL, nh.PRNumber = map[string]string{"issue": "in_progress"}, time.Time{}, nil, "", 0
	a := &nh.Attempts[1]
	a.Ended, a.Words, a.Gates = time.Time{}, map[string]string{"execution": ""}, nil
	got := exported(t, e, h)
	m := got["metadata"].(map[string]any)
	last := m["dev_agent_executions"].([]any)[1].(map[string]any)
	if last["completed_at"] != nil || last["status"] != nil || last["attempt"] != 2.0 {
		t.Errorf("the execution is %v", last)
	}
	if _, there := got["closed_at"]; there || got["status"] != "in_progress" || m["scrum_result"] != nil || m["pr_url"] != nil || m["pr_number"] != nil {
		t.Errorf("the bead is %v", got)
	}
}

// An agent is done when its gates begin, whatever comes of them. S0-69, S0-77
func TestAnAgentIsDoneWhenItsGatesBegin(t *testing.T) {
	e, h := completed(t)
	a := h.Nodes["bd-a1b2c3"].Attempts
	a[0].Ended = at(t, "10:18")                                              // with its gates
	a[1].Ended, a[1].Words = time.Time{}, map[string]string{"execution": ""} // still judged
	devs := exported(t, e, h)["metadata"].(map[string]any)["dev_agent_executions"].([]any)
	for i, want := range []string{"2026-02-07T10:16:00Z", "2026-02-07T10:36:00Z"} {
		if d := devs[i].(map[string]any); d["completed_at"] != want || d["status"] != "completed" {
			t.Errorf("attempt %d: %v", i+1, d)
		}
	}
}

// Attempts are counted over all steps and behind those of the executor before; a step
// that only reads is no session of the one who did the work. S0-72, S0-125
func TestAttemptsAreCountedOverAllSteps(t *testing.T) {
	e, h := completed(t)
	n := &e.Nodes[0]
	n.Ext["bead"] = json.RawMessage(`{"metadata": {"attempt_count": 1, "dev_agent_executions": [{"attempt": 1, "session_id": "old"}], "scrum_result": {"success": false}}}`)
	plan := n.Steps[0]
	plan.Name, plan.Access = "plan", "read"
	n.Steps = append([]ir.Step{plan}, n.Steps...)
	nh := h.Nodes["bd-a1b2c3"]
	first := nh.Attempts[0]
	first.Step, first.Session, first.Gates = "plan", "claude-plan", []ir.GateResult{
		{Gate: "unit", Kind: "command", Verdict: "error", Message: "no such command", Counts: &ir.TestCounts{Passed: 2, Failed: 1}, Failed: []string{"TestA"}},
	}
	nh.Attempts = append([]ir.Attempt{first}, nh.Attempts...)
	m := exported(t, e, h)["metadata"].(map[string]any)
	var numbers []any
	for _, x := range m["dev_agent_executions"].([]any) {
		numbers = append(numbers, x.(map[string]any)["attempt"])
	}
	if !reflect.DeepEqual(numbers, []any{1.0, 2.0, 3.0, 4.0}) || m["attempt_count"] != 4.0 || m["dev_agent_session_id"] != "claude-dev-session-abc123" {
		t.Errorf("attempts %v, count %v, session %v", numbers, m["attempt_count"], m["dev_agent_session_id"])
	}
	q := m["gate_executions"].([]any)[0].(map[string]any)
	want := map[string]any{
		"attempt": 2.0, "session_id": nil, "agent_path": "unit", "model": nil, "started_at": nil, "completed_at": nil, "status": "fail",
		"message": "no such command", "details": map[string]any{"total": 3.0, "passed": 2.0, "failed": 1.0, "skipped": 0.0, "failed_tests": []any{"TestA"}},
	}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("the verdict of a command is %v, want %v", q, want)
	}
	if r := m["scrum_result"].(map[string]any); r["success"] != true || r["attempt_count"] != 3.0 {
		t.Errorf("the result is %v", r)
	}
}
