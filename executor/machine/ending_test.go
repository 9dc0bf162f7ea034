package machine_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestHowARunEnds(t *testing.T) { // execution §10; S1-65..69, S1-81, S4-144
	fail := func(s *stage) { // 1.1 uses up its attempts
		s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	}
	asks11 := func(s *stage) { s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("blue?")}}) }
	only := func(key ir.NodeID) func(*executor.RunStarted) {
		return func(r *executor.RunStarted) { r.Only = []ir.NodeID{key} }
	}
	atAgent := func(e executor.Effect) bool { return e.Kind == executor.EffectAgent && e.Node == "bd-1-1" }
	for name, c := range map[string]struct {
		answer      func(*stage)
		only        func(*executor.RunStarted)
		stop        func(executor.Effect) bool
		meanwhile   func(*stage)
		interrupted bool
		outcome     executor.RunOutcome
		reason      string
	}{
		"all is done":                         {outcome: executor.RunDone},
		"one is blocked, the other done":      {answer: fail, outcome: executor.RunBlocked},
		"one is skipped":                      {answer: asks11, meanwhile: func(s *stage) { s.ok("1.1", executor.Decision{Verb: executor.Skip}); s.until(nil) }, outcome: executor.RunDone},
		"one is cancelled":                    {answer: asks11, meanwhile: func(s *stage) { s.ok("1.1", executor.Decision{Verb: executor.Cancel}) }, outcome: executor.RunBlocked},
		"one asks":                            {answer: asks11, outcome: executor.RunWaiting},
		"only what is done was asked for":     {answer: fail, only: only("bd-2-1"), outcome: executor.RunDone},
		"only what is blocked was asked for":  {answer: fail, only: only("bd-1-1"), outcome: executor.RunBlocked},
		"somebody interrupts it":              {stop: atAgent, interrupted: true, outcome: executor.RunInterrupted},
		"somebody interrupts it when blocked": {answer: fail, interrupted: true, outcome: executor.RunInterrupted},
		"it is cut": {
			stop:      atAgent,
			meanwhile: func(s *stage) { s.ok("", executor.Decision{Verb: executor.Cancel}); s.until(nil) },
			outcome:   executor.RunBlocked, reason: "cancelled by ann",
		},
		"it is paused": {
			stop:      atAgent,
			meanwhile: func(s *stage) { s.ok("", executor.Decision{Verb: executor.Pause}); s.until(nil) },
			outcome:   executor.RunWaiting, reason: "the run is held: paused by ann",
		},
		"it is paused, and something is blocked": {
			answer:    fail,
			meanwhile: func(s *stage) { s.ok("", executor.Decision{Verb: executor.Pause}) },
			outcome:   executor.RunBlocked,
		},
		"somebody tampered with it": {
			meanwhile: func(s *stage) { s.sight(setting("", "/evil")) },
			outcome:   executor.RunTampered, reason: "tampered with: core.hooksPath in .git/config",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1", "1.2: 1.1", "2.1"})
			if c.answer != nil {
				c.answer(s)
			}
			if c.only != nil {
				s.begin(c.only)
			} else {
				s.begin()
			}
			s.until(c.stop)
			if c.meanwhile != nil {
				c.meanwhile(s)
			}
			got := s.run.Summary().Ending(c.interrupted)
			if got.Outcome != c.outcome || got.Reason != c.reason || got.Interrupted != c.interrupted {
				t.Errorf("got %s, %q, interrupted %v; want %s, %q\n%s", got.Outcome, got.Reason, got.Interrupted, c.outcome, c.reason, executortest.Statuses(s.run))
			}
		})
	}
}
