package machine_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// heldNode is a node that waits before its second turn, as the run's budget is used up.
func heldNode(t *testing.T) *stage {
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Run.OnExceed = "pause"
		e.Run.Budget.Tokens = 100
	})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{
		"bd-1-1": {used(num(120), nil, "failed"), used(num(5), nil, "success")},
	})
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseHeld, "120 of 100 tokens")
	return s
}

// A hold that ends lets go what waited for it, whatever ends it.
func TestWhatEndsAHoldLetsGo(t *testing.T) { // execution §5
	t.Run("a red base instead of a budget, and a new run", func(t *testing.T) {
		s := heldNode(t)
		s.begin()
		s.put(executor.Event{Body: executor.RunHeld{For: executor.ForBase, Detail: "red"}})
		s.ok("", executor.Decision{Verb: executor.Resume, Budget: ir.Budget{Tokens: 100}})
		s.put(executor.Event{Body: executor.RunEnded{Counts: s.run.Summary().Counts()}})
		s.begin()
		if v := s.view("1.1"); v.Cause == executor.CauseHeld {
			t.Errorf("the run is not held, and it waits for that: offered %v", v.Ways)
		}
		s.end()
		s.is("1.1", executor.Done, "", "")
	})
	t.Run("nothing that needs a budget is left", func(t *testing.T) {
		s := heldNode(t)
		s.begin()
		s.epic.Nodes[0].Steps[0].Name, s.epic.Digest = "other", "other" // as it is on record fits no more
		s.fresh()
		for _, e := range s.events {
			if err := s.run.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		s.put(executor.Event{Body: executor.RunEnded{Counts: s.run.Summary().Counts()}})
		for _, way := range s.view("1.1").Ways {
			if way.Verb == executor.Resume {
				t.Errorf("%v is offered of %s, and no run is held: %+v", way, "1.1", s.run.Overview().Held)
			}
		}
	})
}

// A changed epic that no apply has begun yet: nobody has left anything out.
func TestWhatIsOnRecordOfAnotherEpicSelectsNothing(t *testing.T) {
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	s.begin()
	s.epic.Digest = "other"
	s.fresh()
	for _, e := range s.events {
		if err := s.run.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range s.run.Views() {
		if strings.Contains(v.Reason, "--only") {
			t.Errorf("%s: %s", v.Key, v.Reason)
		}
	}
}
