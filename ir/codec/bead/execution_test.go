package bead_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// metadataOf is what an export says of the only node of an epic.
func metadataOf(t *testing.T, e *ir.Epic, h *ir.History) map[string]any {
	t.Helper()
	return exported(t, e, h)["metadata"].(map[string]any)
}

// What a bead came with of another executor stands until ralph has something of its
// own; the session of the scrum master always does. S0-60, S0-61, S0-81..83, S0-125
func TestWhatABeadCameWithIsKept(t *testing.T) {
	e, h := completed(t)
	nh := h.Nodes["bd-a1b2c3"]
	e.Nodes[0].Ext["bead"] = json.RawMessage(`{"metadata": {"scrum_master_session_id": "claude-sm", "dev_agent_session_id": "claude-old",
		"pr_url": "https://example.com/pull/3", "pr_number": 3, "scrum_result": {"success": false}}}`)
	said := func() string {
		m := metadataOf(t, e, h)
		success := m["scrum_result"].(map[string]any)["success"]
		return fmt.Sprint(m["scrum_master_session_id"], " ", m["dev_agent_session_id"], " ", m["pr_url"], " ", m["pr_number"], " ", success)
	}
	if got, want := said(), "claude-sm claude-old https://github.com/user/repo/pull/42 42 true"; got != want {
		t.Errorf("with a pull request and a result of its own:\n%s, want\n%s", got, want)
	}
	nh.PRURL, nh.PRNumber, nh.Scrum = "", 0, nil
	if got, want := said(), "claude-sm claude-old https://example.com/pull/3 3 false"; got != want {
		t.Errorf("without:\n%s, want\n%s", got, want)
	}
}

// The session that did the work is the first of the step that writes, of an agent; if
// there is none, the first of any agent. S0-61, S0-125
func TestTheSessionThatDidTheWork(t *testing.T) {
	work := func(agent, session string) ir.Attempt {
		return ir.Attempt{Step: "implement", Agent: agent, Session: session}
	}
	look := func(agent, session string) ir.Attempt {
		return ir.Attempt{Step: "look", Agent: agent, Session: session}
	}
	for name, c := range map[string]struct {
		attempts []ir.Attempt
		want     any
	}{
		"the first that worked, not the last":  {[]ir.Attempt{look("a", "s1"), work("a", "s2"), work("a", "s3")}, "s2"},
		"a person has none":                    {[]ir.Attempt{work("", "s1"), work("a", "s2")}, "s2"},
		"a program may have none":              {[]ir.Attempt{work("a", ""), work("a", "s2")}, "s2"},
		"the first who looked, if none worked": {[]ir.Attempt{look("a", "s1"), look("a", "s2"), work("a", "")}, "s1"},
		"nobody":                               {[]ir.Attempt{work("a", "")}, nil},
	} {
		e, h := completed(t)
		look := e.Nodes[0].Steps[0]
		look.Name, look.Access = "look", "read"
		e.Nodes[0].Steps = append(e.Nodes[0].Steps, look)
		h.Nodes["bd-a1b2c3"].Attempts = c.attempts
		if got := metadataOf(t, e, h)["dev_agent_session_id"]; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A person's work and the verdicts on it are told without an agent of ralph's; an agent
// whose file nobody knows is called by its name. S0-62, S0-63, S0-66, S0-74
func TestWhoDidAndWhoJudged(t *testing.T) {
	e, h := completed(t)
	e.Nodes[0].Ext = nil
	e.Agents["lone"] = ir.Agent{Runner: "claude", Access: "write"}
	h.Nodes["bd-a1b2c3"].Attempts = []ir.Attempt{
		{Step: "implement", Gates: []ir.GateResult{{Gate: "look", Kind: "human", Verdict: "pass"}}}, // a person's
		{Step: "implement", Agent: "lone", Gates: []ir.GateResult{{Gate: "qa", Kind: "agent", Agent: "lone", Verdict: "stop", Session: "s"}}},
	}
	m := metadataOf(t, e, h)
	devs, judges, others := m["dev_agent_executions"].([]any), m["qa_agent_executions"].([]any), m["gate_executions"].([]any)
	if len(devs) != 1 || devs[0].(map[string]any)["agent_path"] != ".claude/agents/lone" || devs[0].(map[string]any)["attempt"] != 2.0 {
		t.Errorf("who worked: %v", devs)
	}
	if len(judges) != 1 || judges[0].(map[string]any)["agent_path"] != ".claude/agents/lone" || judges[0].(map[string]any)["status"] != "stop" {
		t.Errorf("who judged: %v", judges)
	}
	if len(others) != 1 || others[0].(map[string]any)["agent_path"] != "look" || others[0].(map[string]any)["attempt"] != 1.0 {
		t.Errorf("what else judged: %v", others)
	}
	e, h = completed(t)
	if _, there := metadataOf(t, e, h)["gate_executions"]; there {
		t.Error("there are gate_executions although agents judged everything")
	}
}

// Details are what was said besides status and message: an object of that name alone
// stands for itself, anything else is kept as it is; tests that were counted speak
// where nobody did. S0-80
func TestDetailsOfAVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		g    ir.GateResult
		want string
	}{
		"nothing":                   {ir.GateResult{}, `{}`},
		"an object":                 {ir.GateResult{Details: json.RawMessage(`{"status": "pass", "message": "m", "details": {"a": 1}}`)}, `{"a": 1}`},
		"an object beside others":   {ir.GateResult{Details: json.RawMessage(`{"status": "pass", "details": {"a": 1}, "b": 2}`)}, `{"details": {"a": 1}, "b": 2}`},
		"a text":                    {ir.GateResult{Details: json.RawMessage(`{"status": "pass", "details": "why"}`)}, `{"details": "why"}`},
		"no object at all":          {ir.GateResult{Details: json.RawMessage(`["a"]`)}, `{}`},
		"a list beside counts":      {ir.GateResult{Details: json.RawMessage(`["a"]`), Counts: &ir.TestCounts{Passed: 1}}, `{"total": 1, "passed": 1, "failed": 0, "skipped": 0}`},
		"counts":                    {ir.GateResult{Counts: &ir.TestCounts{Passed: 3, Failed: 2, Skipped: 1}}, `{"total": 6, "passed": 3, "failed": 2, "skipped": 1}`},
		"tests that failed":         {ir.GateResult{Failed: []string{"TestA"}}, `{"failed_tests": ["TestA"]}`},
		"what was said, not counts": {ir.GateResult{Details: json.RawMessage(`{"a": 1}`), Counts: &ir.TestCounts{Passed: 3}}, `{"a": 1}`},
	} {
		e, h := completed(t)
		c.g.Gate, c.g.Agent, c.g.Verdict = "qa", "qa", "pass"
		h.Nodes["bd-a1b2c3"].Attempts = []ir.Attempt{{Step: "implement", Agent: "backend-dev", Gates: []ir.GateResult{c.g}}}
		got := metadataOf(t, e, h)["qa_agent_executions"].([]any)[0].(map[string]any)["details"]
		var want any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Times are in UTC, with three digits of a second where there is a part of one; an
// agent had ended when the first of its gates began. S0-68, S0-69, K20
func TestTimesOfExecutions(t *testing.T) {
	start := time.Date(2026, 2, 7, 11, 0, 0, 0, time.FixedZone("elsewhere", 3600))
	gate := func(after time.Duration) ir.GateResult {
		g := ir.GateResult{Gate: "unit", Kind: "command", Verdict: "pass"}
		if after > 0 {
			g.Started = start.Add(after)
		}
		return g
	}
	for name, c := range map[string]struct {
		ended time.Duration
		gates []ir.GateResult
		want  any
	}{
		"to the second":                      {time.Minute, nil, "2026-02-07T10:01:00Z"},
		"to the millisecond":                 {time.Minute + 50*time.Millisecond, nil, "2026-02-07T10:01:00.050Z"},
		"less is cut":                        {time.Minute + 1999*time.Microsecond, nil, "2026-02-07T10:01:00.001Z"},
		"with the first gate":                {time.Hour, []ir.GateResult{gate(3 * time.Minute), gate(2 * time.Minute)}, "2026-02-07T10:02:00Z"},
		"not with a gate that did not begin": {time.Hour, []ir.GateResult{gate(0)}, "2026-02-07T11:00:00Z"},
		"not after it ended":                 {time.Minute, []ir.GateResult{gate(2 * time.Minute)}, "2026-02-07T10:01:00Z"},
	} {
		e, h := completed(t)
		h.Nodes["bd-a1b2c3"].Attempts = []ir.Attempt{{
			Step: "implement", Agent: "backend-dev", Words: map[string]string{"execution": "timeout"}, Started: start, Ended: start.Add(c.ended), Gates: c.gates,
		}}
		d := metadataOf(t, e, h)["dev_agent_executions"].([]any)[0].(map[string]any)
		if d["started_at"] != "2026-02-07T10:00:00Z" || d["completed_at"] != c.want || d["status"] != "timeout" {
			t.Errorf("%s: %v, want completed_at %v and the status of the attempt", name, d, c.want)
		}
	}
}
