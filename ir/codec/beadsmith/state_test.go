package beadsmith_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
)

// alone is an epic of one node with gates, and what an import has kept of it.
func alone(kept string, gates map[string]ir.Gate, names ...string) *ir.Epic {
	n := ir.Node{ID: "a", Key: "a", Title: "Title", Steps: []ir.Step{{Name: "one", Gates: names}, {Name: "two", Gates: names}}}
	if kept != "" {
		n.Ext = map[string]json.RawMessage{beadsmith.Format: json.RawMessage(kept)}
	}
	return &ir.Epic{Gates: gates, Nodes: []ir.Node{n}}
}

// A task has the criteria that it came with, then those of other gates; its command is the
// one that was written, else what was found for tests that say none. S1-35, S1-37, S1-40..45
func TestTheDefinitionOfANode(t *testing.T) {
	command := func(run, from string) ir.Gate { return ir.Gate{Kind: "command", Run: run, From: from} }
	for _, c := range []struct {
		name, kept    string
		gate          ir.Gate
		command, want string
	}{
		{"a command of a plan is no template", "", command("echo $${run.dir}", "plan"), "", `{"type":"tests_pass","config":{"command":"echo ${run.dir}","gate":"a/tests-pass"}}`},
		{"a command of a policy may be one", "", command("echo $${run.dir}", "policy"), "", `{"type":"tests_pass","config":{"command":"echo $${run.dir}","gate":"a/tests-pass"}}`},
		{"last words", "", ir.Gate{Kind: "outcome", Promise: "BYE"}, "", `{"type":"done_tag","config":{"gate":"a/tests-pass","marker":"BYE"}}`},
		{"no errors", "", ir.Gate{Kind: "outcome"}, "", `{"type":"no_errors","config":{"gate":"a/tests-pass"}}`},
		{"an agent", "", ir.Gate{Kind: "agent", Agent: "qa"}, "", `{"type":"custom","config":{"agent":"qa","gate":"a/tests-pass","kind":"agent"}}`},
		{"tests that were found", `{"successCriteria":[{"type":"tests_pass"}]}`, command("go test", "plan"), "go test", `{"type":"tests_pass"}`},
		{"tests of the task's command", `{"testCommand":"make\n","successCriteria":[{"type":"tests_pass"}]}`, command("make", "plan"), "make\n", `{"type":"tests_pass"}`},
		{"tests with a command", `{"successCriteria":[{"type":"tests_pass","config":{"command":"make"}}]}`, command("make", "plan"), "", `{"type":"tests_pass","config":{"command":"make"}}`},
		{"a command that is no test", `{"successCriteria":[{"type":"custom","config":{"command":"make","gate":"tests-pass"}}]}`, command("make", "plan"), "", `{"type":"custom","config":{"command":"make","gate":"tests-pass"}}`},
		{"last words that came so", `{"successCriteria":[{"type":"custom","config":{"condition":"BYE","gate":"tests-pass"}}]}`, ir.Gate{Kind: "outcome", Promise: "BYE"}, "", `{"type":"custom","config":{"condition":"BYE","gate":"tests-pass"}}`},
		{"a criterion without a gate is gone", `{"successCriteria":[{"type":"no_errors"}]}`, command("x", "policy"), "", `{"type":"tests_pass","config":{"command":"x","gate":"a/tests-pass"}}`},
	} {
		e := alone(c.kept, map[string]ir.Gate{"a/tests-pass": c.gate}, "a/tests-pass")
		def := beadsmith.Definition(e, &e.Nodes[0], "/w")
		if len(def.SuccessCriteria) != 1 || string(def.SuccessCriteria[0]) != c.want || def.TestCommand != c.command {
			t.Errorf("%s: %q %s, want %q %s", c.name, def.TestCommand, def.SuccessCriteria, c.command, c.want)
		}
		if def.Description != "Title" || def.WorkspaceRoot != "/w" {
			t.Errorf("%s: %+v", c.name, def)
		}
	}
}

// Where a task stands, its last bead, and the number of it. S1-46..49, S1-64..69
func TestWhereATaskStands(t *testing.T) {
	bead := func(number int, more string) string {
		return fmt.Sprintf(`{"id": "x", "taskId": "a", "bead_number": %d, "status": "rejected"%s}`, number, more)
	}
	open, over := ir.Attempt{Step: "one", Number: 1, Status: "running", Iterations: 4}, ir.Attempt{Step: "one", Number: 1, Status: "failed", Ended: at(1)}
	words := func(task, bead string) map[string]string { return map[string]string{"task": task, "bead": bead} }
	for _, c := range []struct {
		name, beads string
		done        bool
		n           *ir.NodeHistory
		want        string
	}{
		{"nothing is known", "", false, nil, "idle idle 0/0"},
		{"it runs without a bead", "", false, &ir.NodeHistory{Status: "running", Words: words("running", "running")}, "running running 0/0"},
		{"whose word is not known", "", false, &ir.NodeHistory{Status: "running", Words: words("running", "")}, "running running 0/0"},
		{"done by the plan", "", true, nil, "completed approved 0/0"},
		{"which apply takes over", "", true, &ir.NodeHistory{Status: "done", Words: words("completed", "skipped")}, "completed skipped 0/0"},
		{"which was begun all the same", "", true, &ir.NodeHistory{Status: "pending", Words: words("idle", ""), Attempts: []ir.Attempt{over}}, "idle rejected 1/0"},
		{"a bead", "", false, &ir.NodeHistory{Status: "running", Words: words("running", "awaiting_approval"), Attempts: []ir.Attempt{over, open}}, "running awaiting_approval 2/3 a/one/1"},
		{"beads of others", bead(3, `, "IterationCount": 2`) + "," + bead(2, ""), false, nil, "idle rejected 3/2"},
		{"of two with a number the last", bead(3, "") + "," + bead(3, `, "iterationCount": 1`), false, nil, "idle rejected 3/1"},
		{"some are none", "5, " + bead(1, "") + ", null", false, nil, "idle rejected 1/0"},
	} {
		e := alone(`{"beads": [`+c.beads+`]}`, nil)
		e.Nodes[0].Done = c.done
		s, _, _ := beadsmith.State(e, &e.Nodes[0], &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"a": c.n}})
		got := strings.TrimSpace(fmt.Sprintf("%s %s %d/%d %s", s.Status, s.BeadStatus, s.BeadNumber, s.BeadIterationCount, s.CurrentBeadID))
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What an attempt's bead says of its end: whether it ran without errors, which, and why it
// was rejected. S1-18, S1-19, S1-59, S1-61, S1-76
func TestHowABeadEnded(t *testing.T) {
	gate := func(verdict, message string) ir.GateResult {
		return ir.GateResult{Gate: verdict, Kind: "human", Verdict: verdict, Message: message}
	}
	pass, fail, stop := gate("pass", "fine"), gate("fail", " too slow\n"), gate("stop", "")
	for _, c := range []struct {
		name    string
		a       ir.Attempt
		success bool
		errors  string
		why     string
	}{
		{"its agent works", ir.Attempt{Status: "running"}, false, "", "running"},
		{"it is judged", ir.Attempt{Status: "running", Gates: []ir.GateResult{pass}}, true, "", "running"},
		{"passed without gates", ir.Attempt{Status: "passed"}, true, "", "passed"},
		{"a gate failed before another passed", ir.Attempt{Status: "failed", Reason: "r", Gates: []ir.GateResult{fail, pass}}, true, "", "fail: too slow"},
		{"a gate stopped it", ir.Attempt{Status: "stopped", Reason: "r", Gates: []ir.GateResult{pass, stop}}, true, "", "r"},
		{"no gate failed", ir.Attempt{Status: "failed", Reason: "r", Gates: []ir.GateResult{pass}}, false, "r", "r"},
		{"without a reason", ir.Attempt{Status: "failed"}, false, "failed", "failed"},
		{"its agent said why", ir.Attempt{Status: "failed", Reason: "r", Errors: []string{"cannot"}}, false, "cannot", "r"},
		{"it took too long after a gate failed", ir.Attempt{Status: "timeout", Reason: "r", Gates: []ir.GateResult{fail, stop}}, false, "r", "fail: too slow"},
		{"a gate without a verdict", ir.Attempt{Status: "failed", Reason: "r", Gates: []ir.GateResult{gate("error", ""), fail}}, false, "gate error could not be judged:", "fail: too slow"},
	} {
		e := alone("", nil)
		if r := beadsmith.Result(e, &e.Nodes[0], &c.a, 1); r.Success != c.success || strings.Join(r.Errors, "|") != c.errors {
			t.Errorf("%s: success %v, errors %q", c.name, r.Success, r.Errors)
		}
		if got := beadsmith.Feedback(&c.a); got != c.why {
			t.Errorf("%s: the feedback is %q, want %q", c.name, got, c.why)
		}
	}
	e := alone("", nil)
	cancelled := ir.Attempt{Status: "cancelled"}
	s, _, _ := beadsmith.State(e, &e.Nodes[0], &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"a": {Status: "skipped", Attempts: []ir.Attempt{cancelled, cancelled}}}})
	if one, two := s.Beads[0].Own, s.Beads[1].Own; one.Status != "rejected" || two.Status != "skipped" || two.RejectionFeedback != "" {
		t.Errorf("of a task that was skipped: %+v, %+v", one, two)
	}
}

// An event names its node and the time; a summary counts the beads of others too. S1-70, S1-77, S1-82
func TestEventsAndSummaries(t *testing.T) {
	e := alone(`{"beads": [{"beadNumber": 7}]}`, nil)
	n := &e.Nodes[0]
	n.Key = "1.1"
	for want, x := range map[string]beadsmith.Event{
		`{"event":"beadApproved","at":"2026-01-31T17:01:00.250Z","node":"1.1","task":"a","payload":2}`: beadsmith.NewEvent(beadsmith.BeadApproved, at(1), n, beadsmith.BeadNumber(2)),
		`{"event":"taskPaused","at":"2026-01-31T17:01:00.250Z","node":"1.1","task":"a"}`:               beadsmith.NewEvent(beadsmith.TaskPaused, at(1), n, nil),
		`{"event":"dagUpdated","at":"","payload":{"message":"<m>"}}`:                                   beadsmith.NewEvent(beadsmith.DAGUpdated, time.Time{}, nil, beadsmith.Problem{Message: "<m>"}),
	} {
		if b, err := x.Line(); err != nil || string(b) != want+"\n" {
			t.Errorf("%s, %v, want %s", b, err, want)
		}
	}
	for status, want := range map[string]string{"done": "true ", "skipped": "true ", "cancelled": "false r", "blocked": "false r"} {
		h := &ir.NodeHistory{Status: status, Words: map[string]string{"task": "w"}, Reason: "r", Ended: at(2), Tokens: count(5), Attempts: make([]ir.Attempt, 2)}
		s := beadsmith.Summary(n, h)
		if got := fmt.Sprintf("%v %s", s.Success, s.ErrorMessage); got != want || s.BeadCount != 9 || s.Status != "w" || *s.TotalTokensUsed != 5 || s.CompletedAt != "2026-01-31T17:02:00.250Z" {
			t.Errorf("%s: %+v", status, s)
		}
	}
}
