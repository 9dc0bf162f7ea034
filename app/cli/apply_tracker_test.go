//go:build unix

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

// mirroredRepo is a repository with a beads database of the stand-in, which has its
// epic, and a run is mirrored into it.
func mirroredRepo(t *testing.T, lines []string, change ...func(*ir.Epic)) (*applyRepo, *beads, *bdtest.Fake) {
	t.Helper()
	change = append([]func(*ir.Epic){func(e *ir.Epic) {
		e.Run.Tracker = &ir.Tracker{Kind: "bd", Prefix: "bd", Actor: "ralph", Approvals: true, PollMS: 600_000}
		work := e.Runners["sh"]
		work.Run = []string{"sh", "-c", `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`}
		e.Runners["sh"] = work
	}}, change...)
	r := newApplyRepo(t, executortest.Epic(lines, change...))
	f := bdtest.New(t)
	b := beadsOf(f)
	b.push(t, r)
	return r, b, f
}

// A sprint that was left to people, given back and approved while nobody was at work
// is finished by the next apply, not by the one after it.
func TestOneApplyTakesAllThatWasSaidAboutABead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r, b, f := mirroredRepo(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Gates["people"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann"}, OnTimeout: "fail", OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = []string{"check", "people"}
	})
	b.ralph(t, r, exit.Waiting, "apply")
	f.Do(r.dir, "bob", "label", "add", "bd-1-1", "ashep:excluded")
	if _, said := b.ralph(t, r, exit.Waiting, "apply"); !strings.Contains(said, "labelled ashep:excluded in bd by bob: pause 1.1") {
		t.Fatalf("it does not say that it is paused:\n%s", said)
	}
	f.Do(r.dir, "bob", "label", "remove", "bd-1-1", "ashep:excluded")
	f.Do(r.dir, "ann", "label", "add", "bd-1-1", "human:approved")
	out, said := b.ralph(t, r, exit.Done, "apply")
	if got := string(f.Do(r.dir, "ann", "show", "bd-1-1")); !strings.Contains(got, `"status":"closed"`) {
		t.Errorf("%s\nralph said\n%s%s", got, out, said)
	}
}

// trackerState is what status --json says.
func trackerState(t *testing.T, r *applyRepo, b *beads) (s record.StatusJSON) {
	t.Helper()
	out, _ := b.ralph(t, r, exit.Done, "status", "--json")
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return s
}

// A claim that was lost is told at the end of apply, in status, and at the beads.
func TestALostClaimIsInTheAccountOfTheRun(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r, b, f := mirroredRepo(t, []string{"1.1"})
	f.Do(r.dir, "zoe", "update", "bd-1-1", "--status", "in_progress", "--assignee", "zoe")
	_, said := b.ralph(t, r, exit.Done, "apply")
	const left = "bd-1-1 is done, and stays in_progress in bd: zoe has claimed it there (bd --actor zoe close bd-1-1)"
	if !strings.Contains(said, left) || !strings.Contains(said, "bd-epic stays open in bd") || strings.Contains(said, "is missing updates") {
		t.Errorf("apply says\n%s", said)
	}
	if out, _ := b.ralph(t, r, exit.Done, "status"); !strings.Contains(out, left) {
		t.Errorf("status says\n%s", out)
	}
	if s := trackerState(t, r, b); s.Tracker == nil || len(s.Tracker.Left) != 2 || s.Tracker.Left[0].By != "zoe" || s.Tracker.Unsent == nil || s.Tracker.CommentsUnsent != 0 {
		t.Errorf("status --json: %+v", s.Tracker)
	}
	f.Do(r.dir, "zoe", "close", "bd-1-1")
	if _, said := b.ralph(t, r, exit.Done, "apply"); strings.Contains(said, "zoe") {
		t.Errorf("when she has closed it, apply says\n%s", said)
	}
	if got := string(f.Do(r.dir, "ann", "show", "bd-epic")); !strings.Contains(got, `"status":"closed"`) {
		t.Errorf("the epic: %s", got)
	}
}

// What bd does not have, and what it will never have, stands in status.
func TestStatusSaysWhatTheTrackerDoesNotHave(t *testing.T) { // what bd refuses is reported
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r, b, f := mirroredRepo(t, []string{"1.1"})
	f.Faults(bdtest.Fault{Do: bdtest.Away})
	b.ralph(t, r, exit.Done, "apply")
	s := trackerState(t, r, b).Tracker
	if s == nil || s.Kind != "bd" || s.CommentsUnsent == 0 || s.BeadsUnsent == 0 || len(s.Unsent) != s.BeadsUnsent || len(s.Refused) != 0 {
		t.Errorf("while it was away: %+v", s)
	}
	if out, _ := b.ralph(t, r, exit.Done, "status"); !strings.Contains(out, "bd is missing updates") {
		t.Errorf("status says\n%s", out)
	}
	f.Faults(bdtest.Fault{On: "comments add", With: "bd-1-1", In: "implement #1", Do: bdtest.Refuse, Text: "Error: not these words"})
	b.ralph(t, r, exit.Done, "apply")
	s = trackerState(t, r, b).Tracker
	if s.CommentsUnsent != 0 || s.BeadsUnsent != 0 || len(s.Refused) != 1 || !s.Refused[0].Over || s.Refused[0].ID != "bd-1-1" || !strings.Contains(s.Refused[0].Why, "not these words") {
		t.Errorf("with a comment that it refuses: %+v", s)
	}
	out, _ := b.ralph(t, r, exit.Done, "status")
	if !strings.Contains(out, "bd rejected 1 thing and accepted the others") || !strings.Contains(out, "not these words") || strings.Contains(out, "is missing updates") {
		t.Errorf("status says\n%s", out)
	}
}
