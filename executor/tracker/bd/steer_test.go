package bd

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

// gated is an epic whose one node waits for ann or bob when its other gate passed.
func gated(e *ir.Epic) {
	e.Gates["people"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann", "bob"}, OnTimeout: "fail", OnFailure: "retry"}
	e.Nodes[0].Steps[0].Gates = []string{"check", "people"}
}

// person does something in bd.
func (s *scene) person(who string, args ...string) {
	s.t.Helper()
	s.fake.Do(s.dir, who, args...)
}

// status is a node's status.
func (s *scene) status(id ir.NodeID) string {
	v, _ := s.run.View(id)
	return v.Status.String()
}

func (s *scene) heard(words string) bool {
	return slices.ContainsFunc(s.said, func(l string) bool { return strings.Contains(l, words) })
}

// An agent that writes into bd under the name that it was given passes no gate, not
// even one that anybody may approve, and neither does a label of nobody.
func TestAnAgentDoesNotApproveInBd(t *testing.T) { // execution §5
	s := newScene(t, []string{"1.1"}, func(e *ir.Epic) {
		gated(e)
		g := e.Gates["people"]
		g.Approvers = nil
		e.Gates["people"] = g
	})
	s.open()
	s.begin()
	s.play(nil)
	s.settle(false)
	s.person(AgentActor, "label", "add", "bd-1-1", "human:approved")
	s.later(time.Minute)
	s.later(time.Minute)
	if got := s.status("bd-1-1"); got != "waiting" || s.labels("bd-1-1", "human:") != "" || !s.heard("agents and gates decide nothing") {
		t.Fatalf("it is %s with %q: %q", got, s.labels("bd-1-1", "human:"), s.said)
	}
	s.person(AgentActor, "update", "bd-1-1", "--status", "deferred")
	s.later(time.Minute)
	s.play(nil)
	if v, _ := s.run.View("bd-1-1"); v.Paused != "" || v.Status != executor.Waiting {
		t.Fatalf("an agent's change of the status decided: %s, paused by %q", v.Status, v.Paused)
	}
	s.person("ann", "label", "add", "bd-1-1", "human:approved")
	s.later(time.Minute)
	s.play(nil)
	if got := s.status("bd-1-1"); got != "done" {
		t.Errorf("a person's word: %s", got)
	}
}

func TestALabelApprovesWhatWasAsked(t *testing.T) { // S4-95..100
	s := newScene(t, []string{"1.1"}, gated)
	s.person("ann", "label", "add", "bd-1-1", "human:approved") // before anything was asked
	s.open()
	s.begin()
	s.play(nil)
	s.settle(false)
	if b := s.bead("bd-1-1"); b.Status != "blocked" || s.labels("bd-1-1", "needs:") != "needs:human_approval" || s.labels("bd-1-1", "phase:") != "phase:human_review" || s.labels("bd-1-1", "human:") != "" {
		t.Fatalf("at the gate it is %s with %q", b.Status, b.Labels)
	}
	question := ""
	for _, c := range s.bead("bd-1-1").Comments {
		if strings.HasPrefix(c.Text, "[APPROVAL NEEDED]") {
			question = c.Text
		}
	}
	if !strings.Contains(question, ir.GateDigest(s.epic, "people")) || !strings.Contains(question, "bd label add bd-1-1 human:approved") {
		t.Errorf("the question is %q", question)
	}
	s.later(time.Minute)
	if got := s.status("bd-1-1"); got != "waiting" {
		t.Fatalf("what was said before the question decided: %s", got)
	}
	s.person("cat", "label", "add", "bd-1-1", "human:approved")
	s.later(time.Minute)
	s.later(time.Minute)
	if got := s.status("bd-1-1"); got != "waiting" || s.labels("bd-1-1", "human:") != "" || !s.heard("cat (bd) may not approve") {
		t.Fatalf("somebody who may not: %s, %q, %q", got, s.labels("bd-1-1", "human:"), s.said)
	}
	if !strings.Contains(s.texts("bd-1-1"), "[not taken] [task:bd-1-1] human:approved by cat: cat (bd) may not approve gate people of 1.1; its approvers: ") {
		t.Errorf("cat was not told: %s", s.texts("bd-1-1"))
	}
	s.person("ann", "label", "add", "bd-1-1", "human:approved")
	s.later(time.Minute)
	s.play(nil)
	s.ended()
	s.settle(true)
	if b := s.bead("bd-1-1"); b.Status != "closed" || s.labels("bd-1-1", "human:")+s.labels("bd-1-1", "needs:")+s.labels("bd-1-1", "phase:") != "" {
		t.Errorf("in the end it is %s with %q", b.Status, b.Labels)
	}
	if !strings.Contains(s.texts("bd-1-1"), "[decided] [task:bd-1-1] ann (bd) approved gate people") {
		t.Errorf("comments: %s", s.texts("bd-1-1"))
	}
}

func TestChangesRequestedSinceTheQuestionAreTheFeedback(t *testing.T) { // S4-99
	s := newScene(t, []string{"1.1"}, gated)
	s.imported(`{"id":"bd-1-1","title":"1.1","status":"open","issue_type":"beads-ralph-work","comments":[{"author":"bob","text":"an old remark","created_at":"2026-01-01T00:00:00Z"}]}`)
	s.open()
	s.begin()
	s.play(nil)
	s.settle(false)
	s.person("bob", "comments", "add", "bd-1-1", "name the units")
	s.person("bob", "label", "add", "bd-1-1", "human:changes_requested")
	s.later(time.Minute)
	s.play(nil)
	v, _ := s.run.View("bd-1-1")
	if len(v.Attempts) != 2 || v.Status != executor.Waiting {
		t.Fatalf("it is %s after %d attempts, want another one that waits again; %q", v.Status, len(v.Attempts), s.said)
	}
	if d := v.Decisions[len(v.Decisions)-1]; d.Verb != executor.Reject || d.Message != "name the units" || d.By != "bob (bd)" || d.Digest == "" {
		t.Errorf("decided: %+v", d)
	}
	s.settle(false)
	if l := s.labels("bd-1-1", "human:"); l != "" || strings.Count(s.texts("bd-1-1"), "[APPROVAL NEEDED]") != 2 {
		t.Errorf("labels %q, comments %s", l, s.texts("bd-1-1"))
	}
}

func TestTheFirstDecisionWinsWhereverItComesFrom(t *testing.T) {
	s := newScene(t, []string{"1.1"}, gated)
	s.open()
	s.begin()
	s.play(nil)
	s.settle(false)
	s.inbox = append(s.inbox, executor.Letter{Node: "bd-1-1", Decision: executor.Decision{ID: "cli", Verb: executor.Approve, By: "bob", User: "bob"}})
	s.person("ann", "label", "add", "bd-1-1", "human:changes_requested")
	s.later(time.Minute) // both arrive: that of the command line stood first
	s.play(nil)
	s.later(time.Minute)
	s.ended()
	s.settle(true)
	if got := s.status("bd-1-1"); got != "done" {
		t.Fatalf("it is %s", got)
	}
	if text := s.texts("bd-1-1"); !strings.Contains(text, "[not taken] [task:bd-1-1] human:changes_requested by ann") || s.labels("bd-1-1", "human:") != "" {
		t.Errorf("ann was not told: %s", text)
	}
}

func TestAnApprovalGivenWhileRalphWasAwayCounts(t *testing.T) {
	s := newScene(t, []string{"1.1"}, gated)
	s.open()
	s.begin()
	s.play(nil)
	s.ended()
	s.settle(true)
	if _, err := s.m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.m = nil
	s.person("ann", "label", "add", "bd-1-1", "human:approved")
	s.open() // looks before it begins
	if len(s.inbox) != 1 || s.inbox[0].Decision.Verb != executor.Approve || s.inbox[0].Decision.By != "ann (bd)" {
		t.Fatalf("inbox %+v; %q", s.inbox, s.said)
	}
}

func TestWithoutApprovalsLabelsDecideNothing(t *testing.T) {
	s := newScene(t, []string{"1.1"}, gated, func(e *ir.Epic) { e.Run.Tracker.Approvals = false })
	s.open()
	s.begin()
	s.play(nil)
	s.settle(false)
	s.person("ann", "label", "add", "bd-1-1", "human:approved")
	s.later(time.Minute)
	if s.status("bd-1-1") != "waiting" || s.labels("bd-1-1", "human:") != "human:approved" {
		t.Errorf("it is %s with %q", s.status("bd-1-1"), s.labels("bd-1-1", "human:"))
	}
}

func TestWhatPeopleDoToABeadSteersItsNode(t *testing.T) { // K33, S4-16
	s := newScene(t, []string{"1.1", "1.2", "1.3"})
	s.hold = func(e executor.Effect) bool { return e.Kind == executor.EffectAgent }
	s.open()
	s.person("ann", "close", "bd-1-1", "--reason", "not needed")
	s.person("ann", "label", "add", "bd-1-2", "ashep:excluded")
	s.person("bob", "update", "bd-1-3", "--status", "blocked")
	s.later(time.Minute) // before a run: everything is still to begin
	s.begin()
	s.play(nil)
	s.settle(false)
	if got := s.status("bd-1-1"); got != "skipped" || !s.heard("closed in bd by ann: skip 1.1") {
		t.Errorf("closed by a person, it is %s; %q", got, s.said)
	}
	for _, id := range []ir.NodeID{"bd-1-2", "bd-1-3"} {
		if v, _ := s.run.View(id); v.Paused == "" || v.Status == executor.Running {
			t.Errorf("%s is %s, paused by %q; %q", id, v.Status, v.Paused, s.said)
		}
		if b := s.bead(string(id)); b.Status != "blocked" {
			t.Errorf("%s is %s in bd", id, b.Status)
		}
	}
	s.person("ann", "label", "remove", "bd-1-2", "ashep:excluded")
	s.person("bob", "update", "bd-1-3", "--status", "open")
	s.later(time.Minute)
	s.play(nil)
	s.settle(false)
	for _, id := range []ir.NodeID{"bd-1-2", "bd-1-3"} {
		if v, _ := s.run.View(id); v.Paused != "" || v.Status != executor.Running || s.bead(string(id)).Status != "in_progress" {
			t.Errorf("undone, %s is %s (paused by %q) and %s in bd; %q", id, v.Status, v.Paused, s.bead(string(id)).Status, s.said)
		}
	}
	s.person("ann", "reopen", "bd-1-1")
	s.later(time.Minute)
	if v, _ := s.run.View("bd-1-1"); len(v.Decisions) == 0 || v.Decisions[len(v.Decisions)-1].Verb != executor.RetryNode {
		t.Errorf("reopened: %+v; %q", v.Decisions, s.said)
	}
}

func TestALostClaimIsSaidAndTheNodeGoesOn(t *testing.T) {
	s := newScene(t, []string{"1.1"})
	s.open()
	s.person("zoe", "update", "bd-1-1", "--status", "in_progress", "--assignee", "zoe")
	s.begin()
	s.play(func() { s.settle(false) })
	s.ended()
	s.settle(true)
	b := s.bead("bd-1-1")
	if s.status("bd-1-1") != "done" || !s.heard("bd-1-1 was claimed in bd by zoe") || b.Assignee != "zoe" || b.Status != "in_progress" {
		t.Errorf("the node is %s, the bead %s of %s; %q", s.status("bd-1-1"), b.Status, b.Assignee, s.said)
	}
	if len(b.Comments) != 2 { // of the attempt, and that it is not closed
		t.Errorf("%d comments", len(b.Comments))
	}
	unsent, err := s.m.Close(t.Context())
	if err != nil || len(unsent) != 0 {
		t.Errorf("unsent: %q, %v", unsent, err)
	}
}

func TestNothingMoreIsWrittenToABeadThatIsTakenForAnother(t *testing.T) { // beads: trap 3
	s := newScene(t, []string{"1.1", "1.2"})
	s.open()
	s.fake.Faults(bdtest.Fault{On: "update", With: "bd-1-1", Do: bdtest.WrongID})
	s.begin()
	s.play(nil)
	s.ended()
	s.settle(true)
	writes := 0
	for _, c := range s.of("bd-1-1") {
		if c != "list" {
			writes++
		}
	}
	if writes != 1 || !s.heard("bd took bd-1-1 for") || s.bead("bd-1-2").Status != "closed" {
		t.Errorf("%d writes; the other is %s; %q", writes, s.bead("bd-1-2").Status, s.said)
	}
}

func TestWhatBdRefusesIsNotTriedForEver(t *testing.T) {
	s := newScene(t, []string{"1.1", "1.2"})
	s.open()
	s.fake.Faults(bdtest.Fault{On: "update", With: "bd-1-1", Do: bdtest.Refuse, Text: "Error: no, thank you"})
	s.begin()
	s.play(nil)
	s.ended()
	for range 20 {
		s.settle(true)
		s.now = s.now.Add(time.Minute)
	}
	if n := len(s.of("bd-1-1")); n > 12 || !s.heard("no, thank you") || s.bead("bd-1-2").Status != "closed" {
		t.Errorf("%d calls; the other is %s; %q", n, s.bead("bd-1-2").Status, s.said)
	}
}

func TestOnlyWhatThePolicyNamesIsMirrored(t *testing.T) {
	s := newScene(t, []string{"1.1"}, func(e *ir.Epic) { e.Run.Tracker.Mirror = []string{MirrorComments} })
	s.open()
	s.begin()
	s.play(nil)
	s.ended()
	s.settle(true)
	b := s.bead("bd-1-1")
	if b.Status != "open" || len(b.Comments) != 1 || s.labels("bd-epic", "mode:") != "" {
		t.Errorf("it is %s with %d comments, the epic %q", b.Status, len(b.Comments), s.labels("bd-epic", "mode:"))
	}
}

func TestALabelThatHasDecidedDoesNotStandInTheWayOfTheNextQuestion(t *testing.T) {
	s := newScene(t, []string{"1.1"}, gated)
	s.open()
	s.begin()
	s.play(nil)
	s.settle(false)
	s.person("ann", "comments", "add", "bd-1-1", "better, please")
	s.person("ann", "label", "add", "bd-1-1", "human:changes_requested")
	s.later(time.Minute)
	s.play(nil)     // it asks again before bd was told that it went on
	for range 100 { // the beads are looked at after every single call
		s.now = s.now.Add(time.Minute)
		s.m.step(t.Context(), false)
		s.m.step(t.Context(), false)
	}
	if l := s.labels("bd-1-1", "human:"); l != "" || len(s.inbox) != 0 {
		t.Fatalf("the label of the first question stays (%q), or decides again: %+v", l, s.inbox)
	}
	s.person("ann", "label", "add", "bd-1-1", "human:approved")
	s.later(time.Minute)
	s.play(nil)
	if got := s.status("bd-1-1"); got != "done" {
		t.Errorf("it is %s; %q", got, s.said)
	}
}

// Also where neither comments nor labels are mirrored a label answers the question that
// was put before it, and no other.
func TestALabelDecidesAboutItsQuestionWhateverIsMirrored(t *testing.T) {
	s := newScene(t, []string{"1.1"}, gated, func(e *ir.Epic) { e.Run.Tracker.Mirror = []string{MirrorStatus} })
	s.person("ann", "label", "add", "bd-1-1", "human:approved")
	s.open()
	s.begin()
	s.play(nil)
	s.settle(false)
	s.later(time.Minute)
	if got := s.status("bd-1-1"); got != "waiting" || s.labels("bd-1-1", "human:") != "" {
		t.Fatalf("a label from before the question: %s, %q", got, s.labels("bd-1-1", "human:"))
	}
	s.person("ann", "label", "add", "bd-1-1", "human:approved")
	s.later(time.Minute)
	s.play(nil)
	s.ended()
	s.settle(true)
	if b := s.bead("bd-1-1"); b.Status != "closed" || s.labels("bd-1-1", "phase:") != "" {
		t.Errorf("approved, it is %s with %q", b.Status, b.Labels)
	}
}

// A bead that was given to somebody who has not begun is taken, and that is said.
func TestAnAssigneeIsNotTakenAwayInSilence(t *testing.T) {
	s := newScene(t, []string{"1.1"})
	s.person("ann", "update", "bd-1-1", "--assignee", "ann")
	s.open()
	s.begin()
	s.play(func() { s.settle(false) })
	s.ended()
	s.settle(true)
	if b := s.bead("bd-1-1"); b.Status != "closed" || !s.heard("bd-1-1 was assigned to ann") {
		t.Errorf("it is %s of %s; it says %q", b.Status, b.Assignee, s.said)
	}
}

// bd keeps whole seconds, lists what happened within one in no order, and gives the
// comments of a burst times that run ahead. Who did what, and before or behind which
// question, is found all the same.
func TestWhatHappensWithinOneSecondIsToldApart(t *testing.T) { // S4-95..100, K33
	for name, story := range map[string]func(*testing.T){
		"an approval":      TestALabelApprovesWhatWasAsked,
		"changes":          TestChangesRequestedSinceTheQuestionAreTheFeedback,
		"while away":       TestAnApprovalGivenWhileRalphWasAwayCounts,
		"an agent":         TestAnAgentDoesNotApproveInBd,
		"statuses":         TestWhatPeopleDoToABeadSteersItsNode,
		"two questions":    TestALabelThatHasDecidedDoesNotStandInTheWayOfTheNextQuestion,
		"the first wins":   TestTheFirstDecisionWinsWhereverItComesFrom,
		"nothing mirrored": TestALabelDecidesAboutItsQuestionWhateverIsMirrored,
	} {
		t.Run(name, story)
	}
}

// An agent neither leaves a node to people nor takes it from them: it goes on when a
// person takes the label away.
func TestAnAgentDoesNotExcludeInBd(t *testing.T) { // S4-16, execution §5
	s := newScene(t, []string{"1.1"})
	s.hold = func(e executor.Effect) bool { return e.Kind == executor.EffectAgent }
	s.open()
	s.begin()
	s.play(nil)
	paused := func() string { v, _ := s.run.View("bd-1-1"); return v.Paused }
	s.person(AgentActor, "label", "add", "bd-1-1", "ashep:excluded")
	s.later(time.Minute)
	if who := paused(); who != "" {
		t.Errorf("an agent's label paused it, by %q", who)
	}
	s.later(time.Minute)
	if l, n := s.labels("bd-1-1", "ashep:"), strings.Count(s.texts("bd-1-1"), "[not taken]"); l != "" || n != 1 {
		t.Errorf("it has %q, and that this does not count is said %d times", l, n)
	}
	s.person("bob", "label", "add", "bd-1-1", "ashep:excluded")
	s.later(time.Minute)
	s.person(AgentActor, "label", "remove", "bd-1-1", "ashep:excluded")
	s.later(time.Minute)
	if who := paused(); who != "bob (bd)" {
		t.Errorf("an agent took the label away: it is paused by %q", who)
	}
}

// A pause at the terminal is ended there, also if its reason reads like that of a
// pause by the label, and somebody once had the label on. S4-16
func TestAPauseIsThatOfTheLabelOnlyIfItCameFromBd(t *testing.T) {
	s := newScene(t, []string{"1.1"})
	s.hold = func(e executor.Effect) bool { return e.Kind == executor.EffectAgent }
	s.person("ann", "label", "add", "bd-1-1", "ashep:excluded")
	s.person("ann", "label", "remove", "bd-1-1", "ashep:excluded")
	s.open()
	s.begin()
	s.play(nil)
	s.inbox = append(s.inbox, executor.Letter{Node: "bd-1-1", Decision: executor.Decision{ID: "cli", Verb: executor.Pause, By: "bob", User: "bob", Message: "ashep:excluded in bd, I think"}})
	s.later(0)
	s.later(time.Minute)
	s.later(time.Minute)
	if v, _ := s.run.View("bd-1-1"); v.Paused != "bob" {
		t.Errorf("it is %s, paused by %q; %q", v.Status, v.Paused, s.said)
	}
}
