package worker

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// What people do with an issue stops its run, also where the labels of a wait stand at it
// still: a gate was just decided, and its run goes on.
func TestAnIssueThatSomebodyTookStopsItsRun(t *testing.T) { // S4-59
	t.Parallel()
	const mine, asks = `{"ralph_worker":"mine"}`, "phase:human_review"
	w := &Worker{Actor: "ralph", labels: bdcodec.LabelsOf(ir.Run{})}
	r := &Run{claim: &record.Claim{Issue: "bd-a", Token: "mine"}, file: filepath.Join(t.TempDir(), "epic.json")}
	for _, c := range []struct {
		status, token string
		labels        []string
		want          string
	}{
		{"in_progress", mine, []string{"phase:implement"}, ""},
		{"in_progress", mine, []string{asks}, ""},
		{"blocked", mine, []string{asks}, ""},
		{"blocked", mine, []string{"phase:implement"}, "taken away"},
		{"closed", mine, []string{"phase:implement"}, "closed"},
		{"closed", mine, []string{asks}, "closed"},
		{"open", mine, []string{asks}, "taken away"},
		{"deferred", mine, []string{asks}, "taken away"},
		{"blocked", mine, []string{asks, bdcodec.ExcludedLabel}, "excluded"},
		{"in_progress", `{"ralph_worker":"another's"}`, nil, "taken away"},
		{"in_progress", `{}`, nil, "taken away"},
	} {
		i := bd.Issue{ID: "bd-a", Status: c.status, Assignee: "ralph", Labels: c.labels, Metadata: json.RawMessage(c.token)}
		if got := w.movedTo(t.Context(), r, i); got != c.want {
			t.Errorf("%s %q of %s: %q, want %q", c.status, c.labels, c.token, got, c.want)
		}
	}
	for status, want := range map[string]string{"in_progress": "taken away", "blocked": ""} { // one that waits may be somebody's to decide
		i := bd.Issue{ID: "bd-a", Status: status, Assignee: "ada", Labels: []string{asks}, Metadata: json.RawMessage(mine)}
		if got := w.movedTo(t.Context(), r, i); got != want {
			t.Errorf("%s, of ada: %q, want %q", status, got, want)
		}
	}
	if got := w.movedTo(t.Context(), r, bd.Issue{}); got != "deleted" {
		t.Errorf("one that is not there: %q", got)
	}
}

// A worker under another actor than that of the lost claim says so; it blames no change in
// bd that nobody made.
func TestWhyARecoveredIssueIsNotTakenOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ token, assignee, want string }{
		{"old", "ada", "is not taken over: it is assigned to ada"},
		{"another's", "ada", "is not taken over: it was changed in bd since its run was recovered"},
		{"another's", "ralph", "is not taken over: it was changed in bd since its run was recovered"},
	} {
		dir := t.TempDir()
		l, err := journal.Acquire(dir, run.WhoAmI())
		if err != nil {
			t.Fatal(err)
		}
		w := &Worker{Actor: "ralph", Told: map[string]string{}, Say: Voice{nobody{}}}
		claim := &record.Claim{Issue: "bd-a", Token: "new", Takes: "old", State: record.ClaimRecovered, Dir: dir, Locked: l}
		i := bd.Issue{ID: "bd-a", Status: "in_progress", Assignee: c.assignee, Metadata: json.RawMessage(`{"ralph_worker":"` + c.token + `"}`)}
		took, err := w.takeOver(t.Context(), claim, i)
		if took || err != nil || w.Told["bd-a"] != c.want || claim.State != record.ClaimOver {
			t.Errorf("%+v: %v, %v, %q", c, took, err, w.Told["bd-a"])
		}
	}
}

type nobody struct{}

func (nobody) Line(string, string) {}
func (nobody) Fail(string)         {}
