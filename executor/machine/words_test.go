package machine

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// seedWords is what each format has, as its text lists it.
var seedWords = map[executor.Vocabulary][]string{
	executor.WordsIssue:     {"open", "in_progress", "closed", "blocked", "deferred", "pinned", "hooked"},
	executor.WordsBead:      {"running", "awaiting_approval", "approved", "rejected", "skipped"},
	executor.WordsTask:      {"idle", "running", "paused", "awaiting_approval", "completed", "failed"},
	executor.WordsRalphBead: {"pending", "in_progress", "completed", "failed", "blocked"},
	executor.WordsShepherd:  {"open", "in_progress", "blocked", "closed"},
	executor.WordsExecution: {"completed", "failed", "timeout"},
	executor.WordsRun:       {"pending", "running", "completed", "failed", "cancelled", "stalled"},
}

// readWords are the words that codecs read.
var readWords = map[executor.Vocabulary]foreign.Statuses{
	executor.WordsIssue: foreign.IssueStatuses, executor.WordsTask: foreign.TaskStatuses, executor.WordsRalphBead: foreign.RalphBeadStatuses,
}

// standsAs is what a reader has to take a status for.
func standsAs(s executor.NodeStatus) foreign.Standing {
	switch s {
	case executor.Pending, executor.Ready:
		return foreign.Open
	case executor.Done:
		return foreign.Done
	}
	return foreign.Begun
}

func TestWordsAreTotalBothWays(t *testing.T) { // K1, S0-70, S1-15..19, S1-64..69, S3-22, S4-12..15
	if len(seedWords) != len(Vocabularies) {
		t.Fatalf("%d vocabularies are listed, %d exist", len(Vocabularies), len(seedWords))
	}
	for _, in := range Vocabularies {
		want := seedWords[in]
		if read := readWords[in]; read != nil && !slices.Equal(read.Words(), want) {
			t.Errorf("%s: words %v are read, want %v", in, read.Words(), want)
		}
		if _, ok := nodeWords[in]; ok {
			for s := range executor.NodeStatuses {
				for _, wait := range []NodeView{{For: executor.ForHuman, Cause: executor.CauseApproval}, {For: executor.ForHuman, Cause: executor.CausePaused}, {For: executor.ForTimer}, {For: executor.ForLimit}, {For: executor.ForBudget}} {
					v := wait
					v.Status = s
					if w := v.Word(in); !slices.Contains(want, w) {
						t.Errorf("%s: %s for %s (%s) is %q, which is no word of it", in, s, v.For, v.Cause, w)
					}
				}
			}
			continue
		}
		for s := executor.AttemptRunning; s < executor.AttemptStatuses; s++ {
			going := in == executor.WordsExecution && s == executor.AttemptRunning // it is recorded when it has ended
			if w := s.Word(in); !slices.Contains(want, w) && !going {
				t.Errorf("%s: %s is %q, which is no word of it", in, s, w)
			}
		}
	}
}

// TestWordsThatLoseSomething lists the words that do not come back as they
// were: a change here is a change of what users read in docs.
func TestWordsThatLoseSomething(t *testing.T) { // K1 "a lossy cell is listed and tested"
	lossy := map[executor.Vocabulary][]string{
		executor.WordsIssue:     {"skipped", "cancelled"},
		executor.WordsTask:      {"skipped"},
		executor.WordsRalphBead: {"skipped"},
	}
	for in, read := range readWords {
		var got []string
		for s := range executor.NodeStatuses {
			if read.Read(nodeWords[in][s]) != standsAs(s) {
				got = append(got, s.String())
			}
		}
		if !slices.Equal(got, lossy[in]) {
			t.Errorf("%s loses %v, want %v", in, got, lossy[in])
		}
	}
	for _, c := range []struct {
		view NodeView
		want string
	}{
		{NodeView{Status: executor.Blocked, Reason: "the 3 attempts used up"}, "iterations"},
		{NodeView{Status: executor.Blocked, BlockedBy: executor.ByBudget}, "budget"},
		{NodeView{Status: executor.Waiting, For: executor.ForBudget}, "budget"},
		{NodeView{Status: executor.Blocked, BlockedBy: executor.ByStop}, "stop"},
		{NodeView{Status: executor.Cancelled}, "cancelled"},
		{NodeView{Status: executor.Waiting, For: executor.ForHuman}, ""},
		{NodeView{Status: executor.Done}, ""},
	} { // S1-69
		if got := c.view.FailureCode(); got != c.want {
			t.Errorf("%s %s: code %q, want %q", c.view.Status, c.view.Reason, got, c.want)
		}
	}
}

func TestAScrumResultIsWrittenAtTheEnd(t *testing.T) { // S0-83..92
	r, err := New(chain(1, func(int) bool { return false }))
	if err != nil {
		t.Fatal(err)
	}
	n := r.nodes[0]
	if _, ok := r.Node(n.id).Scrum(false); ok {
		t.Error("it has not ended, and there is a result")
	}
	n.status, n.reason = executor.Blocked, "gate g said stop"
	n.logs = []AttemptLog{
		{Number: 1, Status: executor.AttemptFailed, Gates: []executor.GateJudged{{Gate: "g", Verdict: executor.Fail, Message: "first"}, {Gate: "h", Verdict: executor.Pass}}},
		{Number: 2, Status: executor.AttemptStopped, Outcome: executor.Outcome{Fatal: true}, Gates: []executor.GateJudged{{Gate: "g", Verdict: executor.Stop, Message: "second", Details: "sha256:d"}}},
	}
	got, _ := r.Node(n.id).Scrum(true)
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"bead_id":"bd-0","success":false,"pr_url":"","pr_number":0,"bead_updated":true,"attempt_count":2,` +
		`"qa_results":[{"agent_path":"g","status":"stop","message":"second","gate":"g"},{"agent_path":"h","status":"pass","message":"","gate":"h"}],` +
		`"error":"gate g said stop","fatal":true}`
	if string(b) != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
}
