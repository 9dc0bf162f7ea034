package machine_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// What waits because something was wrong is tried again by a run that it is selected for, and
// left alone by a run of others.
func TestWhatIsNotSelectedIsNotTriedAgain(t *testing.T) { // execution §2 (--only)
	s := newStage(t, []string{"1.1", "1.2"})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent && e.Node == "bd-1-1" {
			return executor.EffectFailed{Class: executor.FailConfig, Detail: "no such program"}
		}
		return nil
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseConfig, "no such program")
	turns := s.turns()
	s.answer = nil
	s.begin(func(r *executor.RunStarted) { r.Only = []ir.NodeID{"bd-1-2"} })
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseConfig, "no such program")
	if got := s.turns(); got != turns {
		t.Errorf("%d turns more", got-turns)
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
}

// A blocked sprint whose gates changed is only judged again; one that is to run again runs.
func TestWhatIsToRunAgainRunsThoughItsGatesChanged(t *testing.T) { // execution §2 (--rerun, only digest.judge)
	for _, again := range []bool{false, true} {
		s := newScript(t, []string{"1.1"}, gatesOf("bad"), step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
		s.answer = saysGate("bad", executor.Fail)
		s.begin()
		s.end()
		s.is("1.1", executor.Blocked, "", "")
		before := s.turns()
		s.change(executortest.Epic([]string{"1.1"}, gatesOf("lint"), step(func(s *ir.Step) { s.Limits.Attempts = 1 })))
		s.begin(func(r *executor.RunStarted) {
			if again {
				r.Rerun = []ir.NodeID{"bd-1-1"}
			}
		})
		s.end()
		s.is("1.1", executor.Done, "", "")
		if got := s.turns() - before; got > 0 != again {
			t.Errorf("to run again: %v; %d turns", again, got)
		}
	}
}

// What a person handed in for a blocked sprint while nobody ran is judged by the next run.
func TestWhatWasHandedInMeanwhileIsJudged(t *testing.T) { // execution §5 "a person's own fix"
	s := newStage(t, []string{"1.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "")
	before := s.turns()
	s.ok("1.1", executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly})
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	if got := s.turns() - before; got != 0 {
		t.Errorf("%d turns of agents", got)
	}
}
