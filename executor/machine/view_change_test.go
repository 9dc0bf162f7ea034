package machine_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// What people look at before they approve is what the approval is bound to, and stays
// what was approved; when the text changes, what there was is still to be seen.
// execution §5 (Approval)
func TestWhatIsLookedAtIsWhatIsApproved(t *testing.T) {
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, approval)
	if c := s.run.Node("bd-1-1").Change(); c != (machine.Change{}) {
		t.Errorf("before anything ran: %+v", c)
	}
	s.begin()
	s.end()
	c := s.run.Node("bd-1-1").Change()
	s.ok("1.1", executor.Decision{Verb: executor.Approve})
	d := s.view("1.1").Decisions[0]
	if c.From.Tree != d.Base || c.To.Tree != d.Result || c.Bound.Gate != "lead" || c.Bound.Digest != d.Digest || c.Bound.Base != d.Base || c.Bound.Result != d.Result {
		t.Errorf("looked at %+v, approved %+v", c, d)
	}
	if c.Step != "implement" || c.Attempt != 1 {
		t.Errorf("it is said to be of %s #%d", c.Step, c.Attempt)
	}
	s.begin()
	s.end()
	was := c
	if c = s.run.Node("bd-1-1").Change(); c.From != was.From || c.To.Commit != was.To.Commit || c.Bound.Gate != "" {
		t.Errorf("when it is done: %+v, want that of %+v", c, was)
	}
	if c := s.run.Node("bd-1-2").Change(); c.From.Tree != s.view("1.1").Result.Tree || c.To != s.view("1.2").Result {
		t.Errorf("what needs it: %+v", c)
	}
	if c := s.run.Node(executor.Integration).Change(); c.From.Tree != "tree-base" || c.To != s.view(executor.Integration).Result {
		t.Errorf("the sum: %+v", c)
	}

	s.epic.Nodes[0].Digest.Work, s.epic.Digest = "other", "other"
	s.replay()
	if c = s.run.Node("bd-1-1").Change(); c.From.Commit != was.From.Commit || c.To.Commit != was.To.Commit {
		t.Errorf("when its text has changed: %+v, want that of %+v", c, was)
	}
}

func TestAGateNodeIsLookedAtFromThePinnedBase(t *testing.T) { // execution §3 "Kind gate"
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		approval(e)
		e.Nodes[0].Steps[0].Gates = []string{"check"}
		e.Nodes[1].Kind = ir.GateKind
		e.Nodes[1].Steps[0].Agent, e.Nodes[1].Steps[0].Access, e.Nodes[1].Steps[0].Gates = "", "read", []string{"lead"}
	})
	s.begin()
	s.end()
	s.is("1.2", executor.Waiting, executor.CauseApproval, "lead")
	if c := s.run.Node("bd-1-2").Change(); c.From.Tree != "tree-base" || c.To != s.view("1.1").Result || c.Bound.Base != c.To.Tree {
		t.Errorf("%+v", c)
	}
}
