package executor

import (
	"encoding/json"
	"slices"
	"testing"
)

// seedWords is what each format has, as its text lists it.
var seedWords = map[Vocabulary][]string{
	WordsIssue:     {"open", "in_progress", "closed", "blocked", "deferred", "pinned", "hooked"},
	WordsBead:      {"running", "awaiting_approval", "approved", "rejected", "skipped"},
	WordsTask:      {"idle", "running", "paused", "awaiting_approval", "completed", "failed"},
	WordsRalphBead: {"pending", "in_progress", "completed", "failed", "blocked"},
	WordsShepherd:  {"open", "in_progress", "blocked", "closed"},
	WordsExecution: {"completed", "failed", "timeout"},
	WordsRun:       {"pending", "running", "completed", "failed", "cancelled", "stalled"},
}

func TestWordsAreTotalBothWays(t *testing.T) { // K1, S0-70, S1-15..19, S1-64..69, S3-22, S4-12..15
	if len(seedWords) != len(Vocabularies) {
		t.Fatalf("%d vocabularies are listed, %d exist", len(Vocabularies), len(seedWords))
	}
	for _, in := range Vocabularies {
		want := slices.Sorted(slices.Values(seedWords[in]))
		if got := Words(in); !slices.Equal(got, want) {
			t.Errorf("%s: words %v, want %v", in, got, want)
		}
		for _, w := range want { // every word means something
			_, node := NodeMeaning(in, w)
			_, attempt := AttemptMeaning(in, w)
			if node == attempt {
				t.Errorf("%s %q means a node: %v, an attempt: %v", in, w, node, attempt)
			}
		}
		if _, ok := nodeWords[in]; ok {
			for s := range nodeStatuses {
				for _, wait := range []NodeView{{For: ForHuman, Cause: CauseApproval}, {For: ForHuman, Cause: CausePaused}, {For: ForTimer}, {For: ForLimit}, {For: ForBudget}} {
					v := wait
					v.Status = s
					if w := v.Word(in); !slices.Contains(want, w) {
						t.Errorf("%s: %s for %s (%s) is %q, which is no word of it", in, s, v.For, v.Cause, w)
					}
				}
			}
			continue
		}
		for s := AttemptRunning; s < attemptStatuses; s++ {
			going := in == WordsExecution && s == AttemptRunning // it is recorded when it has ended
			if w := s.Word(in); !slices.Contains(want, w) && !going {
				t.Errorf("%s: %s is %q, which is no word of it", in, s, w)
			}
		}
	}
}

// TestWordsThatLoseSomething lists the words that do not come back as they
// were: a change here is a change of what users read in docs.
func TestWordsThatLoseSomething(t *testing.T) { // K1 "a lossy cell is listed and tested"
	lossy := map[Vocabulary][]string{
		WordsIssue:     {"ready", "waiting", "skipped", "cancelled"},
		WordsBead:      {"pending", "ready", "cancelled"},
		WordsTask:      {"ready", "skipped", "cancelled"},
		WordsRalphBead: {"ready", "skipped", "cancelled"},
		WordsShepherd:  {"ready", "blocked", "skipped", "cancelled"},
	}
	for in, words := range nodeWords {
		var got []string
		for s := range nodeStatuses {
			if back, _ := NodeMeaning(in, words[s]); back != s {
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
		{NodeView{Status: Blocked, Reason: "the 3 attempts used up"}, "iterations"},
		{NodeView{Status: Blocked, BlockedBy: ByBudget}, "budget"},
		{NodeView{Status: Waiting, For: ForBudget}, "budget"},
		{NodeView{Status: Blocked, BlockedBy: ByStop}, "stop"},
		{NodeView{Status: Cancelled}, "cancelled"},
		{NodeView{Status: Waiting, For: ForHuman}, ""},
		{NodeView{Status: Done}, ""},
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
	if _, ok := r.Scrum(n.id, false); ok {
		t.Error("it has not ended, and there is a result")
	}
	n.status, n.reason = Blocked, "gate g said stop"
	n.logs = []AttemptLog{
		{Number: 1, Status: AttemptFailed, Gates: []GateJudged{{Gate: "g", Verdict: Fail, Message: "first"}, {Gate: "h", Verdict: Pass}}},
		{Number: 2, Status: AttemptStopped, Outcome: Outcome{Fatal: true}, Gates: []GateJudged{{Gate: "g", Verdict: Stop, Message: "second", Details: "sha256:d"}}},
	}
	got, _ := r.Scrum(n.id, true)
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
