package shepherd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

// lineOf is the line of the second run of a node, and what it lacks.
func lineOf(t *testing.T, h ir.NodeHistory, a ir.Attempt) (line runLine, lacks string) {
	t.Helper()
	a.Number, a.Started, a.Trace = 2, at(1), "bd-e1:3-9"
	if a.Status != "running" {
		a.Ended = at(2)
	}
	h.Attempts = append([]ir.Attempt{{Step: "plan", Number: 1, Status: "passed", Started: at(0), Ended: at(1), Agent: "x", Trace: "x"}}, a)
	var b bytes.Buffer
	breaches, err := Encode(&b, epic(), &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"bd-a1": &h}})
	lines := strings.SplitAfter(b.String(), "\n")
	if err != nil || json.Unmarshal([]byte(lines[1]), &line) != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	for _, x := range breaches[1:] {
		lacks += x.Pointer
	}
	return line, lacks
}

// What an agent asked for is what it said; where it said nothing, it is what followed. S4-41..46
func TestWhatFollowsARun(t *testing.T) {
	for _, c := range []struct {
		node, status, step, said string
		want                     string
	}{
		{"running", "passed", "implement", ``, "advance_phase"},
		{"done", "passed", "sign", ``, "none"},
		{"waiting for human", "passed", "plan", ``, "advance_phase"},
		{"running", "failed", "sign", ``, "repeat_phase"},
		{"waiting for human", "failed", "implement", ``, "need_human"},
		{"waiting for limit", "failed", "implement", ``, "repeat_phase"},
		{"running", "cancelled", "implement", ``, "none"},
		{"blocked", "failed", "implement", ``, "none"},
		{"cancelled", "failed", "implement", ``, "none"},
		{"done", "passed", "sign", `"next_action": "repeat_phase", `, "repeat_phase"},
		{"blocked", "failed", "implement", `"next_action": "advance_phase", `, "advance_phase"},
		{"running", "passed", "plan", `"needs_human": true, `, "need_human for a human"},
		{"running", "passed", "plan", `"next_action": "need_human", `, "need_human for a human"},
		{"running", "passed", "plan", `"next_action": "none", "needs_human": true, `, "none for a human"},
		{"running", "passed", "plan", `"suggested_next_phase": "sign", `, "advance_phase to sign"},
	} {
		status, waits, _ := strings.Cut(c.node, " for ")
		line, lacks := lineOf(t, ir.NodeHistory{Status: status, Waits: waits},
			ir.Attempt{Step: c.step, Status: c.status, Agent: "dev", Outcome: json.RawMessage(`{"result": "partial", ` + c.said + `"pointers": null}`)})
		got := line.Outcome.Next
		if line.Outcome.Suggest != "" {
			got += " to " + line.Outcome.Suggest
		}
		if line.Outcome.Human {
			got += " for a human"
		}
		if got != c.want || lacks != "" || line.Outcome.Points == nil || line.Outcome.Issues == nil {
			t.Errorf("%+v: it is followed by %s: %+v", c, got, line.Outcome)
		}
	}
	// What followed an attempt with another behind it was that.
	var b bytes.Buffer
	h := &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"bd-c3": {Status: "blocked", Waits: "human", Attempts: []ir.Attempt{
		{Step: "implement", Number: 1, Status: "failed", Started: at(1), Ended: at(2)}, {Step: "implement", Number: 2, Status: "passed", Started: at(3), Ended: at(4)},
	}}}}
	if _, err := Encode(&b, epic(), h); err != nil || strings.Count(b.String(), `"repeat_phase"`) != 1 || strings.Count(b.String(), `"none"`) != 1 {
		t.Errorf("%v in\n%s", err, b.String())
	}
}

// Who did a run that no agent did, why it failed that gave no reason, and what it lacks.
func TestWhoAndWhy(t *testing.T) {
	by := func(kind, by, verdict string) ir.GateResult {
		return ir.GateResult{Gate: "g-" + by, Kind: kind, By: by, Verdict: verdict, Message: "it is " + verdict}
	}
	for _, c := range []struct {
		status, reason string
		gates          []ir.GateResult
		want           string
	}{
		{"running", "", nil, "nobody:"},
		{"failed", "", nil, "nobody: failed /agent_id"},
		{"failed", "its own", []ir.GateResult{by("human", "ada", "fail")}, "ada: its own"},
		{"failed", "", []ir.GateResult{by("human", "ada", "pass"), by("human", "", "fail"), by("command", "ci", "fail")}, "ada: gate g-: it is fail"},
		{"failed", "", []ir.GateResult{by("human", "ada", "pass"), by("human", "bob", "pass")}, "bob: failed"},
	} {
		line, lacks := lineOf(t, ir.NodeHistory{Status: "running"}, ir.Attempt{Step: "sign", Status: c.status, Reason: c.reason, Gates: c.gates})
		who, why := cmp.Or(line.Agent, "nobody"), ""
		if line.Error != nil {
			why = line.Error.Message
		}
		if got := strings.TrimSpace(who + ": " + why + " " + lacks); got != c.want {
			t.Errorf("%+v: it is %q", c, got)
		}
	}
}
