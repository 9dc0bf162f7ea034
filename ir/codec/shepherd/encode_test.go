package shepherd

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/golden"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign/foreigntest"
)

func epic() *ir.Epic {
	return &ir.Epic{
		Epic: ir.Header{ID: "bd-e1", Slug: "shop"},
		Nodes: []ir.Node{
			{ID: "bd-a1", Key: "1.1", Title: "Cart", Policy: "default", Steps: []ir.Step{
				{Name: "plan", Capabilities: []string{"plan", "analyze"}}, {Name: "implement", Capabilities: []string{"implement"}}, {Name: "sign"},
			}},
			{ID: "bd-b2", Key: "1.2", Title: "Pay", Policy: "default", Steps: []ir.Step{{Name: "implement", Capabilities: []string{"implement"}}}},
			{ID: "bd-c3", Key: "1.3", Title: "Later"},
		},
	}
}

func at(minute int) time.Time { return time.Date(2026, 11, 21, 10, minute, 0, 0, time.UTC) }

func number(n int64) *int64 { return &n }

func history() *ir.History {
	run := func(word string) map[string]string { return map[string]string{"run": word, "execution": "-"} }
	return &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{
		"bd-a1": {Status: "waiting", Waits: "human", Attempts: []ir.Attempt{
			{
				Step: "plan", Number: 1, Status: "passed", Words: run("completed"), Agent: "planner", Model: "opus", Session: "ses_1", Started: at(0), Ended: at(2),
				Iterations: 1, Tokens: number(1200), USDMicro: number(15000), Trace: "bd-e1:3-9", Summary: "a plan",
				Outcome: json.RawMessage(`{"result":"success","next_action":"advance_phase","summary":"planned <it>","created_issues":[{"title":"later","text":"more"}],"pointers":["docs/plan.md",{"path":"x"}]}`),
			},
			{
				Step: "implement", Number: 1, Status: "failed", Words: run("failed"), Agent: "dev", Model: "sonnet", Session: "ses_2", Started: at(3), Ended: at(8),
				Iterations: 2, Trace: "bd-e1:10-22", Reason: "gate unit: fail", Commit: "c0ffee", From: "ba5e", Errors: []string{"two tests fail"},
				Outcome: json.RawMessage(`{"result":"success","summary":"done"}`),
				Files:   []ir.FileChange{{Path: "cart.go", Type: "created"}, {Path: "b.go", From: "a.go", Type: "renamed"}},
				Gates:   []ir.GateResult{{Gate: "unit", Kind: "command", Verdict: "fail", Message: "2 of 9 fail", Millis: 1500, Tests: "fail", Failed: []string{"TestCart"}}},
			},
			{
				Step: "sign", Number: 1, Status: "passed", Words: run("completed"), Started: at(20), Ended: at(21), Trace: "bd-e1:40-41",
				Gates: []ir.GateResult{{Gate: "approve-sign", Kind: "human", Verdict: "pass", By: "ada"}},
			},
		}},
		"bd-b2": {Status: "running", Attempts: []ir.Attempt{
			{Step: "implement", Number: 1, Status: "timeout", Words: run("failed"), Agent: "dev", Started: at(4), Ended: at(24), Reason: "ran out of its 20m", Trace: "bd-e1:11-30"},
			{Step: "implement", Number: 2, Status: "running", Words: run("running"), Agent: "dev", Session: "ses_3", Started: at(25), Trace: "bd-e1:31-33"},
		}},
	}}
}

// S4-31..47, S4-120..123, L4-07: one line a run, oldest first, with every key of the
// specification.
func TestGolden(t *testing.T) {
	var b bytes.Buffer
	breaches, err := Encode(&b, epic(), history())
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, x := range breaches {
		text = append(text, x.String())
	}
	got := b.String() + "\n" + strings.Join(text, "\n") + "\n"
	golden.Check(t, "testdata/runs.golden", []byte(got))
}

// S4-32..46: the keys that the specification names, with their kinds and words, in
// every line of a run that has ended.
func TestEveryLineHasTheKeysOfTheSpecification(t *testing.T) {
	var b bytes.Buffer
	if _, err := Encode(&b, epic(), history()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines, want one for each of 5 attempts", len(lines))
	}
	last := ""
	for _, line := range lines {
		var run map[string]any
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"id", "issue_id", "agent_id", "phase", "capability", "status", "start_time", "decision_trace_id"} {
			if _, ok := run[key].(string); !ok {
				t.Errorf("%s: %v", key, line)
			}
		}
		if n, ok := run["attempt_index"].(float64); !ok || n < 1 {
			t.Errorf("attempt_index: %v", line)
		}
		if start := run["start_time"].(string); start < last {
			t.Errorf("%s stands behind %s", start, last)
		} else {
			last = start
		}
		if run["status"] == "running" {
			continue
		}
		o, _ := run["outcome"].(map[string]any)
		for key, words := range map[string]string{"result": "success partial failed", "next_action": "advance_phase repeat_phase need_human none"} {
			if w, _ := o[key].(string); w == "" || !strings.Contains(" "+words+" ", " "+w+" ") {
				t.Errorf("%s is %q in %s", key, w, line)
			}
		}
		for _, key := range []string{"created_issues", "pointers"} {
			if _, ok := o[key].([]any); !ok {
				t.Errorf("%s is no list in %s", key, line)
			}
		}
		if _, ok := o["needs_human"].(bool); !ok {
			t.Errorf("needs_human: %s", line)
		}
		if (run["status"] != "completed") != (run["error_details"] != nil) {
			t.Errorf("error information: %s", line)
		}
	}
}

// An epic that was never applied has no line, and an outcome of any shape makes a
// line that can be read.
func TestNothingAndNonsense(t *testing.T) {
	var b bytes.Buffer
	if breaches, err := Encode(&b, epic(), nil); err != nil || b.Len() > 0 || len(breaches) > 0 {
		t.Errorf("%q %v %v", b.String(), breaches, err)
	}
	for _, raw := range []string{`[]`, `{"result": 7, "pointers": "x", "created_issues": null}`, `{`, `{"result":"great","next_action":"fly"}`} {
		h := &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"bd-b2": {Status: "blocked", Attempts: []ir.Attempt{
			{Step: "gone", Number: 3, Status: "stopped", Started: at(1), Ended: at(2), Outcome: json.RawMessage(raw)},
		}}}}
		b.Reset()
		breaches, err := Encode(&b, epic(), h)
		var run runLine
		if err != nil || json.Unmarshal(b.Bytes(), &run) != nil {
			t.Fatalf("%s: %v in %s", raw, err, b.String())
		}
		if run.Status != "failed" || run.Outcome.Result != "failed" || run.Outcome.Next != "none" || run.Extra.Reported || run.Extra.Status != "stopped" {
			t.Errorf("%s: %s", raw, b.String())
		}
		if len(breaches) != 2 { // no agent, no trace
			t.Errorf("%s: %v", raw, breaches)
		}
	}
}

// The table of the document is that of the code.
func TestLossesStandInTheDocument(t *testing.T) {
	b, err := os.ReadFile("../../../docs/formats/shepherd.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := foreigntest.Table(Losses); !strings.Contains(string(b), table) {
		t.Errorf("docs/formats/shepherd.md does not have this table:\n%s", table)
	}
}
