//go:build unix

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
)

// toldEvent is a line of --events beadsmith.
type toldEvent struct {
	Event, At string
	Node      ir.Key
	Task      ir.NodeID
	Payload   json.RawMessage
}

// told reads what was told; dagUpdated is left out of the words about a node.
func told(t *testing.T, out string) (all []toldEvent, words []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var e toldEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.At == "" {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, e)
		if e.Event == beadsmith.DAGUpdated {
			continue
		}
		if e.Node == "" || e.Task == "" {
			t.Errorf("about which task is %s", line)
		}
		words = append(words, strings.TrimSpace(string(e.Node)+" "+e.Event+" "+number(e)))
	}
	return all, words
}

// number is the bead that an event is about, "" if none.
func number(e toldEvent) string {
	var b struct{ BeadNumber json.Number }
	if json.Unmarshal(e.Payload, &b) == nil {
		return b.BeadNumber.String()
	}
	return string(e.Payload)
}

// payload returns the payload of the n-th event of a name.
func payload(t *testing.T, all []toldEvent, name string, n int, into any) {
	t.Helper()
	for _, e := range all {
		if e.Event == name {
			if n--; n == 0 {
				if err := json.Unmarshal(e.Payload, into); err != nil {
					t.Fatalf("%s: %s: %v", name, e.Payload, err)
				}
				return
			}
		}
	}
	t.Fatalf("there is no such %s in %+v", name, all)
}

func sameWords(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("it was told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The tests of the first bead fail, the second is approved; what can be done in the
// graph follows.
func TestARunIsToldAsBeads(t *testing.T) { // S1-55..58, S1-60..62, S1-70..72, S1-75..77, S1-82
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run = `test "$RALPH_NODE" = 1.2 || grep fixed out-1.1.txt || { echo "it is not fixed"; exit 1; }`
		e.Gates["check"] = g
		e.Nodes[0].Limits.Budget.Tokens = 5000
		e.Nodes[0].Goal = "Write it"
	}))
	a := r.run(exit.Done, "--events", "beadsmith")
	all, words := told(t, a.out.String())
	sameWords(t, words,
		"1.1 taskStarted", "1.1 beadStarted 1", "1.1 beadComplete 1", "1.1 beadRejected 1", "1.1 beadStarted 2", "1.1 beadComplete 2", "1.1 beadApproved 2", "1.1 taskCompleted",
		"1.2 taskStarted", "1.2 beadStarted 1", "1.2 beadComplete 1", "1.2 beadApproved 1", "1.2 taskCompleted")
	var def beadsmith.TaskDefinition
	payload(t, all, "taskStarted", 1, &def)
	if def.ID != "bd-1-1" || def.Description != "Write it" || def.WorkspaceRoot != r.dir || *def.TokenBudget != 5000 || len(def.SuccessCriteria) != 1 {
		t.Errorf("the task is %+v", def)
	}
	var first, second beadsmith.BeadResult
	payload(t, all, "beadComplete", 1, &first)
	payload(t, all, "beadComplete", 2, &second)
	if len(first.FilesChanged) != 1 || first.FilesChanged[0] != "out-1.1.txt" || first.CommitHash == "" || first.TokensUsed != nil || !first.Success || first.IsDone ||
		len(first.TestResults) != 1 || first.TestResults[0].Passed || !second.TestResults[0].Passed {
		t.Errorf("the results are %+v, %+v", first, second)
	}
	var rejection beadsmith.Rejection
	payload(t, all, "beadRejected", 1, &rejection)
	if !strings.Contains(rejection.Feedback, "it is not fixed") {
		t.Errorf("the feedback is %q", rejection.Feedback)
	}
	var sum beadsmith.TaskSummary
	payload(t, all, "taskCompleted", 1, &sum)
	if sum.BeadCount != 2 || !sum.Success || sum.Status != "completed" || sum.CompletedAt == "" || sum.TotalTokensUsed != nil {
		t.Errorf("the summary is %+v", sum)
	}
	var graphs []string
	for _, e := range all {
		if e.Event == "dagUpdated" {
			graphs = append(graphs, string(e.Payload))
		}
	}
	if len(graphs) < 3 || !strings.Contains(graphs[len(graphs)-1], `"settled":2`) || !strings.Contains(strings.Join(graphs, "\n"), `"running":["1.1"],"waiting":[],"blocked":[],"pending":1`) {
		t.Errorf("the graphs are\n%s", strings.Join(graphs, "\n"))
	}
	if !strings.Contains(a.err.String(), "2 of 2 sprints done") {
		t.Errorf("the account says %s", &a.err)
	}
	// Nothing is told twice.
	if _, words = told(t, r.run(exit.Done, "--events", "beadsmith").out.String()); len(words) > 0 {
		t.Errorf("again: %q", words)
	}
}

// A person rejects with words and approves; what is told goes on with the run.
func TestAPersonsWordsAreToldAsReviews(t *testing.T) { // S1-16, S1-67, S1-74..76
	t.Parallel()
	r := newApplyRepo(t, humanEpic())
	all, words := told(t, r.run(exit.Waiting, "--events", "beadsmith").out.String())
	sameWords(t, words, "1.1 taskStarted", "1.1 beadStarted 1", "1.1 beadComplete 1", "1.1 awaitingApproval 1")
	var result beadsmith.BeadResult
	payload(t, all, "awaitingApproval", 1, &result)
	if !result.Success || len(result.Errors) > 0 {
		t.Errorf("it waits with %+v", result)
	}
	r.ralph(exit.Done, "reject", "1.1", "--as", "ada", "-m", "too small")
	all, words = told(t, r.run(exit.Waiting, "--events", "beadsmith").out.String())
	sameWords(t, words, "1.1 beadRejected 1", "1.1 beadStarted 2", "1.1 beadComplete 2", "1.1 awaitingApproval 2")
	var rejection beadsmith.Rejection
	payload(t, all, "beadRejected", 1, &rejection)
	if !strings.Contains(rejection.Feedback, "too small") {
		t.Errorf("the feedback is %q", rejection.Feedback)
	}
	r.ralph(exit.Done, "approve", "1.1", "--as", "ada")
	_, words = told(t, r.run(exit.Done, "--events", "beadsmith").out.String())
	sameWords(t, words, "1.1 beadApproved 2", "1.1 taskCompleted",
		"1.2 taskStarted", "1.2 beadStarted 1", "1.2 beadComplete 1", "1.2 beadApproved 1", "1.2 taskCompleted")
}

// A question is a wait for a person, and says what it is about; work of a person's
// own is waited for without one.
func TestQuestionsAndManualWorkAreTold(t *testing.T) { // S1-67, S1-74
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
		run := e.Runners["sh"]
		run.Run = []string{"sh", "-c", `echo '{"result": "partial", "needs_human": true, "summary": "red or blue?"}' > $RALPH_OUTCOME; echo x > x`}
		e.Runners["sh"] = run
		e.Nodes[1].Kind = ir.Manual
		s := &e.Nodes[1].Steps[0]
		s.Agent, s.Gates, s.AllowEmpty, s.Limits = "", nil, true, ir.StepLimits{}
	}))
	all, words := told(t, r.run(exit.Waiting, "--events", "beadsmith").out.String())
	results := map[ir.Key]beadsmith.BeadResult{}
	for _, e := range all {
		if e.Event == beadsmith.AwaitingApproval {
			var result beadsmith.BeadResult
			if err := json.Unmarshal(e.Payload, &result); err != nil {
				t.Fatal(err)
			}
			results[e.Node] = result
		}
	}
	if q := results["1.1"]; q.BeadNumber != 1 || q.Success || len(q.Errors) == 0 || !strings.Contains(q.Errors[len(q.Errors)-1], "red or blue?") {
		t.Errorf("the question is told as %+v", q)
	}
	if m, asked := results["1.2"]; !asked || m.BeadNumber != 1 || len(m.Errors) > 0 {
		t.Errorf("manual work is told as %+v, %q", m, words)
	}
}

// What fails for good says why in one word; errors are told apart from a no.
func TestFailuresAreTold(t *testing.T) { // S1-69, S1-73, S1-78
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run, g.OnFailure = "false", "stop"
		e.Gates["check"] = g
		run := e.Runners["sh"]
		run.Run = []string{"sh", "-c", `test $RALPH_NODE = 1.1 && ./agent.sh || { echo '{"result": "failed", "errors": ["no idea"]}' > $RALPH_OUTCOME; }`}
		e.Runners["sh"] = run
		e.Run.Concurrency.Nodes = 1
		e.Nodes[1].Steps[0].Limits.Attempts = 1
	}))
	all, words := told(t, r.run(exit.NotDone, "--events", "beadsmith").out.String())
	sameWords(t, words, "1.1 taskStarted", "1.1 beadStarted 1", "1.1 beadComplete 1", "1.1 beadRejected 1", "1.1 taskFailed",
		"1.2 taskStarted", "1.2 beadStarted 1", "1.2 beadError 1", "1.2 beadComplete 1", "1.2 beadRejected 1", "1.2 taskFailed")
	var why beadsmith.Problem
	var failed beadsmith.BeadError
	if payload(t, all, "taskFailed", 1, &why); why.Code != "stop" || why.Message == "" {
		t.Errorf("1.1 failed with %+v", why)
	}
	if payload(t, all, "taskFailed", 2, &why); why.Code != "iterations" {
		t.Errorf("1.2 failed with %+v", why)
	}
	if payload(t, all, "beadError", 1, &failed); !strings.HasPrefix(failed.Error.Message, "no idea\n") {
		t.Errorf("the error is %+v", failed)
	}
}

// People pause, resume, skip and cancel while a run is at work.
func TestPausesAndEndsByPeopleAreTold(t *testing.T) { // S1-66, S1-77, S1-79..81, L1-03
	t.Parallel()
	r := newApplyRepo(t, humanEpic(func(e *ir.Epic) {
		e.Gates["look"] = ir.Gate{Kind: "human", OnFailure: "retry", Approvers: []string{"ada"}, From: "policy"}
		e.Nodes[1].After = nil
		e.Nodes[1].Steps[0].Gates = []string{"check", "look"}
	}))
	a := r.start("--wait", "--events", "beadsmith")
	r.until("1.1", "waiting")
	r.until("1.2", "waiting")
	r.ralph(exit.Done, "pause", "1.1")
	r.ralph(exit.Done, "resume", "1.1")
	r.ralph(exit.Done, "skip", "1.1", "-m", "not now")
	r.ralph(exit.Done, "cancel", "1.2", "-m", "never")
	if code := a.wait(); code != exit.NotDone {
		t.Fatalf("exit %d: %s", code, &a.err)
	}
	all, words := told(t, a.out.String())
	var of1, of2 []string
	for _, w := range words {
		if rest, ok := strings.CutPrefix(w, "1.1 "); ok {
			of1 = append(of1, rest)
		} else {
			of2 = append(of2, strings.TrimPrefix(w, "1.2 "))
		}
	}
	sameWords(t, of1, "taskStarted", "beadStarted 1", "beadComplete 1", "awaitingApproval 1", "taskPaused", "taskResumed", "taskCompleted")
	sameWords(t, of2, "taskStarted", "beadStarted 1", "beadComplete 1", "awaitingApproval 1", "taskCancelled")
	var sum beadsmith.TaskSummary
	if payload(t, all, "taskCompleted", 1, &sum); sum.Status != "completed" || !sum.Success {
		t.Errorf("skipped: %+v", sum)
	}
}

// A run that a person cancels cancels the tasks that are open.
func TestARunThatIsCancelledIsTold(t *testing.T) { // S1-81
	t.Parallel()
	r := newApplyRepo(t, humanEpic())
	a := r.start("--wait", "--events", "beadsmith", "--grace", "1s")
	r.until("1.1", "waiting")
	r.ralph(exit.Done, "cancel", "-m", "enough")
	a.wait()
	_, words := told(t, a.out.String())
	sameWords(t, words, "1.1 taskStarted", "1.1 beadStarted 1", "1.1 beadComplete 1", "1.1 awaitingApproval 1", "1.1 taskCancelled")
}
