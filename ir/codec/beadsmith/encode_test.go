package beadsmith_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/golden"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
	"github.com/ralph-compiler/ralph/ir/codec/foreign/foreigntest"
)

const twoTasks = `[
  {"id": "t-cart", "description": "Add a cart", "workspaceRoot": "/home/ann/shop", "successCriteria": [{"type": "tests_pass"}, {"type": "done_tag"}],
   "tokenBudget": 100000, "maxIterations": 4, "testCommand": "npm test", "team": "web"},
  {"id": "t-sum", "description": "Add a sum", "successCriteria": [{"type": "no_errors"}], "tokenBudget": 5000, "maxIterations": 2}
]`

func at(minute int) time.Time {
	return time.Date(2026, 1, 31, 18, minute, 0, 250_000_000, time.FixedZone("CET", 3600))
}

func count(n int64) *int64 { return &n }

// scripted is a history in which the tests of the first attempt fail, a person
// rejects the second, and the third passes.
func scripted() *ir.History {
	return &ir.History{
		Top: "/srv/shop", Started: at(0),
		Nodes: map[ir.NodeID]*ir.NodeHistory{"t-cart": {
			Status: "done", Words: map[string]string{"bead": "approved", "task": "completed"}, Started: at(0), Ended: at(9), Tokens: count(4200),
			Budget: ir.Budget{Tokens: 150000},
			Attempts: []ir.Attempt{
				{
					Step: "implement", Number: 1, Status: "failed", Reason: "gate t-cart/tests-pass failed", Started: at(0), Ended: at(2), Iterations: 3,
					Prompt: "Task t-cart: Add a cart", Response: "I am not DONEish yet", From: "1111", Commit: "2222", Tokens: count(1200),
					Files: []ir.FileChange{
						{Path: "cart.js", Type: "created", Diff: "--- /dev/null\n+++ b/cart.js\n@@ -0,0 +1 @@\n+<b>\n", Added: 1},
						{Path: "basket.js", From: "old.js", Type: "renamed", Diff: "@@ -1 +1 @@\n-a\n+b\n", Added: 1, Removed: 1},
						{Path: "logo.png", Type: "modified", Added: -1, Removed: -1},
						{Path: "gone.js", Type: "deleted", Removed: 7},
					},
					Gates: []ir.GateResult{
						{
							Gate: "t-cart/tests-pass", Kind: "command", Verdict: "fail", Message: "1 of 2 tests failed", Millis: 900, Counts: &ir.TestCounts{Passed: 1, Failed: 1, Skipped: 1},
							Results: []ir.TestResult{{Name: "cart adds", State: "pass", Millis: 12}, {Name: "cart sums", State: "fail", Millis: 7, Output: "want 3, got 2"}, {Name: "cart flies", State: "skip"}},
						},
						{Gate: "t-cart/done-tag", Kind: "outcome", Verdict: "fail", Message: "the agent did not end with <promise>DONE</promise>"},
					},
				},
				{
					Step: "implement", Number: 2, Status: "failed", Reason: "rejected by ann", Started: at(3), Ended: at(6), Iterations: 1,
					Prompt: "Again", Response: "<promise>DONE</promise>", Promise: "DONE", From: "2222", Commit: "3333",
					Feedback: []string{"tests-pass: 1 of 2 tests failed", "cart sums: want 3, got 2"},
					Files:    []ir.FileChange{{Path: "cart.js", Type: "modified", Added: 2, Removed: 1}},
					Gates: []ir.GateResult{
						{Gate: "t-cart/tests-pass", Kind: "command", Verdict: "pass", Millis: 800},
						{Gate: "look", Kind: "human", Verdict: "fail", Message: "the button is too small", By: "ann"},
					},
				},
				{
					Step: "implement", Number: 3, Status: "passed", Started: at(7), Ended: at(9), Iterations: 1,
					Prompt: "Once more", Response: "All is done.\nDONE", From: "3333", Commit: "4444", Tokens: count(3000), Feedback: []string{"look: the button is too small"},
					Gates: []ir.GateResult{{Gate: "t-cart/tests-pass", Kind: "command", Verdict: "pass", Millis: 800}},
				},
			},
		}, "t-sum": {
			Status: "blocked", Words: map[string]string{"bead": "rejected", "task": "failed"}, Failure: "iterations", Reason: "the 2 attempts of step implement used up",
			Attempts: []ir.Attempt{
				{Step: "implement", Number: 1, Status: "timeout", Reason: "it took longer than 20m", Started: at(1), Ended: at(4)},
				{Step: "implement", Number: 2, Status: "failed", Reason: "the agent reported failure", Started: at(5), Ended: at(8), Errors: []string{"cannot add"}},
			},
		}},
	}
}

// S1-01..14, S1-17, S1-18, S1-20..29, S1-46..62, S1-68, S1-69, L1-01, L1-03, K19, K20, K31, K35
func TestAHistoryIsWrittenAsTaskStates(t *testing.T) {
	e := compiled(t, twoTasks)
	golden.Check(t, "testdata/state.json", exported(t, e, scripted()))
}

// What nobody knows is null and said, never 0.
func TestUnknownFiguresAreNull(t *testing.T) { // S1-12, S1-51
	var b bytes.Buffer
	list, err := beadsmith.Encode(&b, compiled(t, twoTasks), scripted())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range list {
		got = append(got, x.String())
	}
	want := `t-cart: /beads/1/tokensUsed must be a number; nobody counted the tokens
t-sum: /beads/0/tokensUsed must be a number; nobody counted the tokens
t-sum: /beads/1/tokensUsed must be a number; nobody counted the tokens
t-sum: /tokenBudgetRemaining must be a number; nobody counted the tokens`
	if strings.Join(got, "\n") != want {
		t.Errorf("the breaches are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if strings.Contains(b.String(), `"tokensUsed": 0`) {
		t.Errorf("what is unknown became 0:\n%s", b.String())
	}
	list, _ = beadsmith.Encode(&b, compiledUnder(t, `{"id": "a", "description": "d", "successCriteria": [{"type": "tests_pass"}]}`, policy), nil)
	if len(list) != 2 || list[0].Pointer != "/workspaceRoot" || list[1].Pointer != "/tokenBudget" {
		t.Errorf("without budget and history: %v", list)
	}
}

// Every status of an attempt has a word, and so has every status of the machine;
// the last attempt stands where its node stands.
func TestWordsOfBeadsAreTotal(t *testing.T) { // K1, S1-15..19
	known := []string{"running", "awaiting_approval", "approved", "rejected", "skipped"}
	type row struct{ attempt, node, bead, want string }
	rows := []row{
		{"running", "running", "running", "running"},
		{"running", "waiting", "awaiting_approval", "awaiting_approval"},
		{"cancelled", "skipped", "skipped", "skipped"},
		{"passed", "skipped", "skipped", "approved"},
		{"cancelled", "cancelled", "rejected", "rejected"},
	}
	for s := executor.AttemptRunning; ; s++ {
		name := s.String()
		if s == executor.AttemptRunning {
			rows = append(rows, row{name, "running", "", "running"})
		} else {
			rows = append(rows, row{name, "running", "running", map[bool]string{true: "approved", false: "rejected"}[s == executor.AttemptPassed]})
		}
		if s == executor.AttemptError { // the last one
			break
		}
	}
	e := compiled(t, twoTasks)
	for _, r := range rows {
		h := &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"t-sum": {
			Status: r.node, Words: map[string]string{"bead": r.bead}, Attempts: []ir.Attempt{{Step: "implement", Number: 1, Status: r.attempt, Started: at(0)}},
		}}}
		s, _, _ := beadsmith.State(e, nodeOf(t, e, "t-sum"), h)
		got := s.Beads[0].Own.Status
		if got != r.want || !strings.Contains(" "+strings.Join(known, " ")+" ", " "+got+" ") {
			t.Errorf("%+v: got %q", r, got)
		}
		if n := len(s.BeadResults[0].Own.Errors); (r.attempt == "running" || r.attempt == "passed") != (n == 0) {
			t.Errorf("%+v: errors %q", r, s.BeadResults[0].Own.Errors)
		}
	}
}

func nodeOf(t testing.TB, e *ir.Epic, id ir.NodeID) *ir.Node {
	t.Helper()
	for i := range e.Nodes {
		if e.Nodes[i].ID == id {
			return &e.Nodes[i]
		}
	}
	t.Fatalf("there is no %s", id)
	return nil
}

// The task is idle before, has an open bead while somebody works, and waits for a
// person.
func TestTheStateFollowsTheNode(t *testing.T) { // S1-46..53, S1-64..67
	e := compiled(t, twoTasks)
	node := nodeOf(t, e, "t-cart")
	s, _, _ := beadsmith.State(e, node, nil)
	if s.Status != "idle" || s.BeadNumber != 0 || s.CurrentBeadID != "" || s.LastBeadSummary != nil || *s.TokenBudgetRemaining != 100000 || len(s.Beads) != 0 {
		t.Errorf("before: %+v", s)
	}
	for _, c := range []struct{ task, bead string }{{"running", "running"}, {"paused", "running"}, {"awaiting_approval", "awaiting_approval"}} {
		h := scripted()
		n := h.Nodes["t-cart"]
		n.Words = map[string]string{"bead": c.bead, "task": c.task}
		n.Attempts = n.Attempts[:2]
		n.Attempts[1].Status, n.Attempts[1].Ended, n.Attempts[1].Gates = "running", time.Time{}, nil
		s, _, _ = beadsmith.State(e, node, h)
		if s.Status != c.task || s.BeadStatus != c.bead || s.BeadNumber != 2 || s.CurrentBeadID != "t-cart/implement/2" || s.LastBeadSummary.BeadNumber != 1 || *s.LastBeadSummary.TestsPassed {
			t.Errorf("%+v: %+v", c, s)
		}
		if s.BeadResults[1].Own.Success {
			t.Errorf("an open bead is a success")
		}
	}
}

// The word DONE counts only in the last lines and only as a word; a marker of the
// task takes its place.
func TestIsDone(t *testing.T) { // S1-62
	e := compiled(t, twoTasks)
	marked := compiled(t, `{"id": "t-sum", "description": "d", "successCriteria": [{"type": "done_tag", "config": {"marker": "ALL SET"}}], "tokenBudget": 1000000}`)
	long := "DONE\n" + strings.Repeat("x\n", 10)
	for _, c := range []struct {
		e        *ir.Epic
		response string
		promise  string
		want     bool
	}{
		{e, "It is DONE.", "", true},
		{e, "UNDONE", "", false},
		{e, "DONE_ISH", "", false},
		{e, long, "", false},
		{e, "done", "", false},
		{e, "", "DONE", true},
		{e, "", "SOMETHING", false},
		{marked, "It is DONE.", "", false},
		{marked, "ALL SET", "", true},
		{marked, "", "ALL SET", true},
	} {
		r := beadsmith.Result(c.e, nodeOf(t, c.e, "t-sum"), &ir.Attempt{Status: "passed", Response: c.response, Promise: c.promise}, 1)
		if r.IsDone != c.want {
			t.Errorf("%q, promise %q: %v, want %v", c.response, c.promise, r.IsDone, c.want)
		}
	}
}

// Success says that it ran, not that it passed.
func TestSuccessIsNotDone(t *testing.T) { // S1-61
	e := compiled(t, twoTasks)
	h := scripted()
	for i, want := range []bool{true, true, true} {
		if r := beadsmith.Result(e, nodeOf(t, e, "t-cart"), &h.Nodes["t-cart"].Attempts[i], i+1); r.Success != want {
			t.Errorf("attempt %d: %+v", i+1, r)
		}
	}
	r := beadsmith.Result(e, nodeOf(t, e, "t-cart"), &ir.Attempt{Status: "error", Gates: []ir.GateResult{{Gate: "qa", Verdict: "error", Message: "no answer"}}}, 1)
	if r.Success || len(r.Errors) != 2 || r.Errors[0] != "gate qa could not be judged: no answer" {
		t.Errorf("got %+v", r)
	}
}

// Beads of another program come first and are counted on; unknown keys come back.
func TestImportedBeadsComeFirst(t *testing.T) { // S1-03, S1-14, S1-30..33, S1-53, S1-63
	e := compiled(t, `{"id": "t-cart", "description": "d", "successCriteria": [{"type": "tests_pass"}], "mood": {"b": 1, "a": [1.50]},
 "beads": [{"id": "x", "task_id": "t-cart", "bead_number": 7, "status": "rejected", "tokensUsed": 3, "iteration_count": 2,
  "impactSummary": {"affectedFiles": ["a"], "affectedFunctions": ["f"], "suggestedTests": ["t"], "confidenceBreakdown": {"high": 1, "medium": 2, "low": 3, "unsafe": 4}}}],
 "bead_results": [{"beadNumber": 7, "success": false, "impact": {"affectedFiles": ["b"]}}]}`)
	s, own, _ := beadsmith.State(e, nodeOf(t, e, "t-cart"), nil)
	if s.BeadNumber != 7 || s.BeadStatus != "rejected" || s.BeadIterationCount != 2 || len(s.BeadResults) != 1 || string(own["mood"]) == "" {
		t.Errorf("without a history: %+v, %s", s, own)
	}
	s, _, _ = beadsmith.State(e, nodeOf(t, e, "t-cart"), scripted())
	if len(s.Beads) != 4 || s.BeadNumber != 10 || s.BeadResults[1].Own.BeadNumber != 8 || s.Beads[3].Own.BeadNumber != 10 {
		t.Errorf("with one: %+v", s)
	}
	text := string(exported(t, e, scripted()))
	flat := strings.Join(strings.Fields(text), "")
	if !strings.Contains(flat, `"impactSummary":{"affectedFiles":["a"],"affectedFunctions":["f"],"confidenceBreakdown":{"high":1,"low":3,"medium":2,"unsafe":4},"suggestedTests":["t"]}`) || strings.Count(text, "impact") != 2 || !strings.Contains(flat, `"impact":{"affectedFiles":["b"]}`) || !strings.Contains(text, "1.50") || strings.Index(text, `"mood"`) < strings.Index(text, `"beadResults"`) {
		t.Errorf("it is written as\n%s", text)
	}
}

// A task that nobody began is idle, and so is its bead: there is none.
func TestAnIdleTaskHasNoRunningBead(t *testing.T) { // S1-48, S1-64
	e := compiled(t, twoTasks)
	for what, h := range map[string]*ir.History{
		"never applied": nil,
		"pending":       {Nodes: map[ir.NodeID]*ir.NodeHistory{"t-cart": {Status: "pending", Words: map[string]string{"task": "idle", "bead": "running"}}}},
	} {
		if s, _, _ := beadsmith.State(e, nodeOf(t, e, "t-cart"), h); s.Status != "idle" || s.BeadStatus != "idle" || len(s.Beads) != 0 {
			t.Errorf("%s: task %s, bead %s, %d beads", what, s.Status, s.BeadStatus, len(s.Beads))
		}
	}
}

// Gates of a plan and of the policy are criteria, too; a task says which it had.
func TestGatesAreCriteria(t *testing.T) { // S1-37, S1-41..45, S1-50
	hcl := policy + `
gate "lint" { run = "make lint" }
gate "seen" {
  run = "cat out"
  expect { stdout_contains = "ok" }
}
gate "clean" { no_errors = true }
gate "last" { promise = "BYE" }
gate "boss" { approvers = ["ann"] }
policy "default" {
  default = true
  step "implement" {
    capabilities = ["implement"]
    gates = [gate.lint, gate.seen, gate.clean, gate.boss]
  }
}
`
	e := compiledUnder(t, `{"id": "a", "description": "d", "successCriteria": [{"type": "tests_pass"}, {"Type": "DONE_TAG"}], "tokenBudget": 100000}`, hcl)
	def := beadsmith.Definition(e, nodeOf(t, e, "a"), "/w")
	var got []string
	for _, c := range def.SuccessCriteria {
		got = append(got, string(c))
	}
	want := `{"type":"tests_pass"}
{"Type":"DONE_TAG"}
{"type":"tests_pass","config":{"command":"make lint","gate":"lint"}}
{"type":"custom","config":{"command":"cat out","gate":"seen","pattern":"ok"}}
{"type":"no_errors","config":{"gate":"clean"}}
{"type":"custom","config":{"gate":"boss","kind":"human"}}`
	if strings.Join(got, "\n") != want {
		t.Errorf("the criteria are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if def.TestCommand != "go test ./..." {
		t.Errorf("testCommand is %q, want what was found", def.TestCommand)
	}
}

// The losses stand in the document, and the document has no others.
func TestDocumentHasTheLosses(t *testing.T) {
	b, err := os.ReadFile("../../../docs/formats/beadsmith.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), foreigntest.Table(beadsmith.Losses)) {
		t.Errorf("docs/formats/beadsmith.md lacks this table:\n%s", foreigntest.Table(beadsmith.Losses))
	}
}

// What an epic that was never imported exports can be read back.
func TestWhatIsWrittenCanBeRead(t *testing.T) {
	e := compiled(t, twoTasks)
	text := exported(t, e, scripted())
	d, list := beadsmith.Decode([]*diag.File{diag.NewFile("x.json", text)})
	if d == nil || len(d.Nodes) != 2 {
		t.Fatalf("%+v", list)
	}
	for _, x := range list {
		if x.Code == "bead-unknown-key" && strings.HasPrefix(x.Detail, "/0/team. ") {
			continue
		}
		if x.Code != "task-workspace" && x.Code != "task-records" && x.Code != "bead-completed" {
			t.Errorf("%s: %s", x.Code, x.Detail)
		}
	}
	var ext struct{ Beads []json.RawMessage }
	if err := json.Unmarshal(d.Nodes[0].Ext[beadsmith.Format], &ext); err != nil || len(ext.Beads) != 3 {
		t.Errorf("%d beads are kept, %v", len(ext.Beads), err)
	}
}
