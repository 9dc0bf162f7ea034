package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// approved gives a sprint a gate that a person answers.
func approved(node int) func(*ir.Epic) {
	return func(e *ir.Epic) {
		e.Gates["ok"] = ir.Gate{Kind: "human", From: "policy", OnFailure: "retry"}
		e.Nodes[node].Steps[0].Gates = []string{"ok"}
	}
}

// collects lets each attempt of 1.1 collect these files, as another commit.
func collects(tree string) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		switch {
		case e.Node != "bd-1-1":
			return nil
		case e.Kind == executor.EffectCollect:
			return executor.Collected{Result: executor.Tree{Commit: fmt.Sprint("c-", e.Attempt), Tree: tree}, Files: 1}
		case e.Kind == executor.EffectPublish:
			return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: tree}}
		}
		return nil
	}
}

// redOnce lets gate lint fail the first time.
func redOnce() func(executor.Effect) executor.Body {
	red := saysGate("lint", executor.Fail)
	return func(e executor.Effect) executor.Body {
		b := red(e)
		if b != nil {
			red = func(executor.Effect) executor.Body { return nil }
		}
		return b
	}
}

// What a sprint needs is judged again, or runs again: the sprint that waits goes on where it
// was if that comes out the same, and begins anew if it does not.
func TestAWaitingNodeGoesOnIfWhatItNeedsComesOutTheSame(t *testing.T) { // execution §2, §3
	keys := []string{"1.1", "1.2: 1.1"}
	for name, c := range map[string]struct {
		begin  func(*executor.RunStarted)
		gates  []string
		answer func(executor.Effect) executor.Body
		turns  int  // of agents more
		wakes  bool // the life goes on
	}{
		"judged again":          {gates: []string{"unit", "lint"}, wakes: true},
		"judged again, and red": {gates: []string{"unit", "lint"}, answer: first(redOnce(), collects("another")), turns: 2},
		"run again, the same": {gates: []string{"unit"}, turns: 1, wakes: true, begin: func(e *executor.RunStarted) {
			e.Rerun = []ir.NodeID{"bd-1-1"}
		}},
		"both run again": {gates: []string{"unit"}, turns: 2, begin: func(e *executor.RunStarted) {
			e.Rerun = []ir.NodeID{"bd-1-1", "bd-1-2"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, keys, gatesOf("unit"), approved(1))
			s.answer = collects("the same")
			s.begin()
			s.end()
			s.is("1.2", executor.Waiting, executor.CauseApproval, "ok asks for approval")
			before, turns := s.view("1.2"), s.turns()
			s.change(executortest.Epic(keys, gatesOf(c.gates...), approved(1)))
			s.answer = collects("the same")
			if c.answer != nil {
				s.answer = first(c.answer, s.answer)
			}
			if c.begin == nil {
				c.begin = func(*executor.RunStarted) {}
			}
			s.begin(c.begin)
			if v := s.view("1.2"); v.Status != executor.Pending {
				t.Errorf("it is %s while what it needs runs", v.Status)
			}
			s.end()
			s.is("1.2", executor.Waiting, executor.CauseApproval, "ok asks for approval")
			if got := s.turns() - turns; got != c.turns {
				t.Errorf("%d turns more, not %d", got, c.turns)
			}
			if goesOn := len(s.view("1.2").Attempts) == len(before.Attempts); goesOn != c.wakes {
				t.Errorf("its life goes on: %t; %+v", goesOn, s.view("1.2").Attempts)
			}
			s.ok("1.2", executor.Decision{Verb: executor.Approve, By: "ada"})
			s.begin()
			s.end()
			s.is("1.2", executor.Done, "", "")
		})
	}
}

// A life that one epic kept for later goes on under another: the journal is read with either.
func TestALifeThatSleptUnderAnotherEpicIsRead(t *testing.T) { // execution §1, §2
	keys := []string{"1.1", "1.2: 1.1"}
	epic := func(gates ...string) *ir.Epic { return executortest.Epic(keys, gatesOf(gates...), approved(1)) }
	s := newScript(t, keys, gatesOf("unit"), approved(1))
	s.answer = collects("the same")
	s.begin()
	s.end()
	turns := s.turns()
	if got := s.planned(epic("unit", "lint")); !strings.Contains(got, "1.2: may re-run, goes on where it was if 1.1 comes out the same\n") {
		t.Errorf("planned\n%s", got)
	}
	for _, gates := range []string{"lint", "vet"} { // the first of these runs is cut at once
		s.change(epic("unit", gates))
		s.begin()
	}
	s.end()
	s.is("1.2", executor.Waiting, executor.CauseApproval, "ok asks for approval")
	s.ok("1.2", executor.Decision{Verb: executor.Approve, By: "ada"})
	for _, gates := range []string{"vet", "lint", "vet", "lint"} {
		s.change(epic("unit", gates))
		s.begin()
		s.end()
		s.is("1.2", executor.Done, "", "")
	}
	if got := s.turns() - turns; got != 0 {
		t.Errorf("%d turns more", got)
	}
}

// A life that sleeps is over when its sprint is to run again.
func TestALifeThatSleepsIsForgottenByARerun(t *testing.T) { // execution §2
	keys := []string{"1.1", "1.2: 1.1"}
	s := newScript(t, keys, gatesOf("unit"), approved(1))
	s.answer = collects("the same")
	s.begin()
	s.end()
	turns := s.turns()
	s.change(executortest.Epic(keys, gatesOf("unit", "lint"), approved(1)))
	s.begin() // cut: it sleeps
	if v := s.view("1.2"); v.Status != executor.Pending {
		t.Fatalf("it is %s", v.Status)
	}
	s.begin(func(e *executor.RunStarted) { e.Rerun = []ir.NodeID{"bd-1-2"} })
	s.end()
	s.is("1.2", executor.Waiting, executor.CauseApproval, "ok asks for approval")
	if got := s.turns() - turns; got != 1 {
		t.Errorf("%d turns more, not 1", got)
	}
}
