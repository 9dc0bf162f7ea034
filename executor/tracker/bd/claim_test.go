package bd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

// theIssue is the bead of claimScene.
const theIssue = "bd-1-1"

// claimScene is a run whose one node is an issue of somebody's that a worker has claimed.
func claimScene(t *testing.T, change ...func(*ir.Epic)) *scene {
	t.Helper()
	s := newScene(t, []string{"1.1"}, change...)
	s.worker("mine")
	return s
}

// worker claims the issue as a ralph worker does.
func (s *scene) worker(token string) {
	s.fake.Do(s.dir, s.c.actor, "update", theIssue, "--status", "in_progress", "--assignee", s.c.actor, "--metadata", `{"`+TokenKey+`":"`+token+`"}`)
}

// follow begins the mirror of the issue's run.
func (s *scene) follow() {
	s.t.Helper()
	run, err := machine.New(s.epic)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range s.events {
		if err := run.Apply(e); err != nil {
			s.t.Fatal(err)
		}
	}
	open := func(context.Context) (*Client, error) {
		if s.away > 0 {
			s.away--
			return nil, errors.New("bd is away")
		}
		return s.c, nil
	}
	s.m, err = NewMirror(Outbox{
		Open: open, Epic: s.epic, Run: run, State: s.state, Now: func() time.Time { s.now = s.now.Add(s.tick); return s.now },
		Metadata: func(*ir.Node) (map[string]json.RawMessage, error) { return IssueMetadata(s.epic, run) },
		Report:   func(format string, args ...any) { s.said = append(s.said, fmt.Sprintf(format, args...)) },
		Claim: &Claim{Token: "mine", Notes: s.notes, End: func() (Stand, bool) {
			switch v, _ := run.View(theIssue); v.Status {
			case executor.Done:
				return Stand{Status: "closed", Why: "done by ralph"}, true
			case executor.Blocked:
				return Stand{Status: "blocked", Says: "blocked: " + v.Reason}, true
			}
			return Stand{}, false
		}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.m.Look(context.Background()); err != nil {
		s.said = append(s.said, "look: "+err.Error())
	}
	s.m.all()
}

// Somebody opened an issue, and another worker claimed it, since the mirror looked last.
// Its status is the same, and so is the name of its assignee: how the run of the first one
// ended is not written to it, nor does anything else follow what was written blindly.
func TestAnIssueThatAnotherWorkerHasIsNotClosed(t *testing.T) { // S4-59
	for _, end := range []executor.Verdict{executor.Pass, executor.Stop} {
		t.Run(string(end), func(t *testing.T) {
			s := claimScene(t)
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectGate {
					return executortest.Verdict(e.Gate, end)
				}
				return nil
			}
			s.follow()
			s.begin()
			taken := false
			s.play(func() {
				s.settle(false)
				if v, _ := s.run.View(theIssue); !taken && len(v.Attempts) > 0 {
					taken = true
					s.worker("another's")
					s.now = s.now.Add(recent + time.Second) // less than a look at all beads is away
				}
			})
			s.ended()
			s.settle(true)
			b := s.bead(theIssue)
			if !taken || b.Status != "in_progress" || b.Token() != "another's" || strings.Contains(s.texts(theIssue), "blocked: ") {
				t.Errorf("it is %s of %s; taken %v, comments\n%s", b.Status, b.Token(), taken, s.texts(theIssue))
			}
			if !strings.Contains(strings.Join(s.said, "\n"), "no longer belongs to this worker") {
				t.Errorf("said %q", s.said)
			}
		})
	}
}

// Taken while nothing but its end was left to write, it is looked at before that.
func TestAnIssueIsLookedAtBeforeItsEndIsWritten(t *testing.T) { // S4-59
	s := claimScene(t)
	s.follow()
	s.begin()
	s.play(func() { s.settle(false) })
	s.settle(false)
	s.worker("another's")
	s.now = s.now.Add(recent + time.Second)
	s.fake.Forget()
	s.ended()
	s.settle(true)
	if b := s.bead(theIssue); b.Status != "in_progress" || b.Token() != "another's" {
		t.Errorf("it is %s of %s", b.Status, b.Token())
	}
	if calls := s.of(theIssue); !slices.Equal(calls, []string{"list"}) {
		t.Errorf("bd was called with %q", calls)
	}
}

// A person blocked an issue between its claim and the first look of its run: that stays.
// What waits for a person by its labels is the run's own, and goes on.
func TestWhatAPersonBlockedBeforeTheRunLookedStays(t *testing.T) { // S4-59
	for name, c := range map[string]struct{ label, want string }{"a person's": {"urgent", "blocked"}, "a gate's": {"phase:human_review", "in_progress"}} {
		t.Run(name, func(t *testing.T) {
			s := claimScene(t)
			s.fake.Do(s.dir, "ada", "update", theIssue, "--status", "blocked", "--add-label", c.label)
			s.follow()
			s.begin()
			s.hold = func(e executor.Effect) bool { return e.Kind == executor.EffectAgent }
			s.play(func() { s.settle(false) })
			if b := s.bead(theIssue); b.Status != c.want {
				t.Errorf("it is %s, want %s; said %q", b.Status, c.want, s.said)
			}
		})
	}
}

// bd is away when the run of an issue begins: it is opened again, and told what it missed.
func TestTheRunOfAnIssueBeginsWhileBdIsAway(t *testing.T) { // S4-59
	s := claimScene(t)
	s.away = 3
	s.follow()
	s.begin()
	s.play(nil)
	for range 5 {
		s.later(time.Minute)
	}
	s.ended()
	s.settle(true)
	if b := s.bead(theIssue); b.Status != "closed" || s.away != 0 || !strings.Contains(s.texts(theIssue), "[iter:1]") {
		t.Errorf("it is %s; said %q, comments\n%s", b.Status, s.said, s.texts(theIssue))
	}
}

// A person claims an issue while a worker's run goes on: it stays theirs.
func TestAnIssueThatAPersonClaimedStaysTheirs(t *testing.T) { // S4-59
	s := claimScene(t)
	s.follow()
	s.begin()
	s.play(func() { s.settle(false) })
	s.settle(false)
	s.fake.Do(s.dir, "ada", "update", theIssue, "--assignee", "ada", "--force")
	s.now = s.now.Add(recent + time.Second)
	s.ended()
	s.settle(true)
	if b := s.bead(theIssue); b.Status != "in_progress" || b.Assignee != "ada" || !strings.Contains(strings.Join(s.said, "\n"), "was claimed in bd by ada") {
		t.Errorf("it is %s of %s; said %q", b.Status, b.Assignee, s.said)
	}
}

// Another worker took the issue since the mirror looked last: not one comment, label or key
// of the first one's run reaches it, though status and assignee are the same.
func TestNothingIsWrittenToAnIssueThatAnotherWorkerHas(t *testing.T) { // S4-59
	s := claimScene(t)
	s.answer = failsOnce
	s.follow()
	s.begin()
	taken := false
	s.play(func() {
		if v, _ := s.run.View(theIssue); !taken && len(v.Attempts) > 1 {
			taken = true
			s.worker("another's")
			s.now = s.now.Add(recent + time.Second) // less than a look at all beads is away
			s.fake.Forget()
		}
		s.settle(false)
	})
	s.ended()
	s.settle(true)
	if calls := slices.Compact(s.of(theIssue)); !taken || !slices.Equal(calls, []string{"list"}) {
		t.Errorf("taken %v; bd was called with %q", taken, calls)
	}
}

// A person took the issue in the very moment of a write: the guards of bd refuse it.
func TestAWriteThatCrossesAPersonsIsRefused(t *testing.T) { // S4-59
	s := claimScene(t)
	s.answer = failsOnce
	s.follow()
	s.begin()
	taken, kept, said := false, "", ""
	s.play(func() {
		if v, _ := s.run.View(theIssue); !taken && len(v.Attempts) > 1 {
			taken = true
			s.fake.Do(s.dir, "ada", "update", theIssue, "--assignee", "ada", "--force")
			kept, said = string(s.bead(theIssue).Metadata), s.texts(theIssue)
		}
		s.settle(false)
	})
	s.ended()
	s.settle(true)
	b := s.bead(theIssue)
	if !taken || b.Assignee != "ada" || b.Status != "in_progress" || string(b.Metadata) != kept || s.texts(theIssue) != said {
		t.Errorf("taken %v; it is %s of %s; its metadata is as it was: %v; comments\n%s", taken, b.Status, b.Assignee, string(b.Metadata) == kept, s.texts(theIssue))
	}
}

// Each call of bd takes longer than its answer is trusted: the issue is told everything all
// the same, and comments no more often.
func TestAnIssueIsToldEverythingBySlowBd(t *testing.T) { // S4-59
	s := claimScene(t)
	s.tick = recent + time.Second
	s.answer = failsOnce
	s.follow()
	s.begin()
	s.play(func() { s.settle(false) })
	s.ended()
	s.settle(true)
	if b := s.bead(theIssue); b.Status != "closed" || len(b.Comments) != 2 {
		t.Errorf("it is %s; said %q, comments\n%s", b.Status, s.said, s.texts(theIssue))
	}
}

// bd wrote a comment and was killed before it said so. When it answers again the issue is
// looked at, and what is in it already is not written once more with what came since.
func TestACommentWhoseEndWasNotSeenIsWrittenOnce(t *testing.T) { // S4-59
	s := claimScene(t)
	s.answer = failsOnce
	s.fake.Faults(bdtest.Fault{On: "comments add", Nth: 1, Do: bdtest.Answer})
	s.follow()
	s.begin()
	s.play(func() { s.settle(false) }) // the second comment comes while the first is unknown
	s.tick = recent + time.Second
	s.later(time.Minute)
	s.ended()
	s.settle(true)
	said := s.texts(theIssue)
	if strings.Count(said, "[iter:1]") != 1 || strings.Count(said, "[iter:2]") != 1 {
		t.Errorf("comments\n%s", said)
	}
}

// failsOnce lets the gates of the first attempt fail.
func failsOnce(e executor.Effect) executor.Body {
	if e.Kind == executor.EffectGate && e.Attempt == 1 {
		return executortest.Verdict(e.Gate, executor.Fail)
	}
	return nil
}

// What the worker found when it claimed the issue is a comment of the mirror, once, also
// where a mirror before said it and was killed.
func TestWhatTheWorkerFoundIsSaidOnce(t *testing.T) { // S4-59
	s := claimScene(t)
	s.notes = []string{"bd-9 has no result"}
	s.follow()
	s.begin()
	s.settle(false)
	s.follow()
	s.begin()
	s.settle(false)
	if said := s.texts(theIssue); strings.Count(said, s.notes[0]) != 1 {
		t.Errorf("comments\n%s", said)
	}
}

// Why no worker takes an issue is said in it once, and not at all once somebody has it.
func TestWhyNoWorkerTakesAnIssueIsSaidOnce(t *testing.T) { // S4-12
	s := newScene(t, []string{"1.1"})
	ctx := context.Background()
	seen := s.bead(theIssue)
	for range 2 {
		if err := NotTaken(ctx, s.c, seen, "it has no title"); err != nil {
			t.Fatal(err)
		}
	}
	s.worker("another's")
	if err := NotTaken(ctx, s.c, seen, "it has no description"); err != nil {
		t.Fatal(err)
	}
	if said := s.texts(theIssue); said != "ralph does not run this: it has no title" {
		t.Errorf("comments\n%s", said)
	}
}
