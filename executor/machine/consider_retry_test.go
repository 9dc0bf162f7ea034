package machine_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// prompted is the prompt of the agent that works on a sprint next.
func (s *stage) prompted(key string) string {
	s.t.Helper()
	id := ir.NodeID("bd-" + strings.ReplaceAll(key, ".", "-"))
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent && e.Node == id })
	return string(s.run.Node(id).Prompt())
}

func TestARetryTellsTheAgentWhatThePersonSaid(t *testing.T) { // execution §5 retry; L1-03
	words := executor.Decision{Verb: executor.RetryNode, Message: "use the other library"}
	for name, bring := range map[string]func(*stage){
		"blocked by failures": func(s *stage) {
			s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
			s.begin()
			s.until(nil)
			s.is("1.1", executor.Blocked, "", "3 attempts")
		},
		"blocked by a stop": func(s *stage) {
			s.answer = verdicts(map[string][]executor.Verdict{"check": {executor.Stop, executor.Pass}})
			s.begin()
			s.until(nil)
			s.is("1.1", executor.Blocked, "", "said stop")
		},
		"cancelled": func(s *stage) {
			s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("blue?")}})
			s.begin()
			s.until(nil)
			s.ok("1.1", executor.Decision{Verb: executor.Cancel})
			s.until(nil)
			s.is("1.1", executor.Cancelled, "", "")
		},
		"skipped": func(s *stage) {
			s.begin()
			s.ok("1.1", executor.Decision{Verb: executor.Skip})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"})
			bring(s)
			s.ok("1.1", words)
			if p := s.prompted("1.1"); !strings.Contains(p, "use the other library") {
				t.Errorf("the prompt does not hold what ann said:\n%s", p)
			}
			s.until(nil)
			s.is("1.1", executor.Done, "", "")
		})
	}
}

func TestARetryOfAStoppedStepGoesWhereAFailureGoes(t *testing.T) { // execution §5; S0-57, S4-92
	s := newStage(t, []string{"1.1"}, threeSteps, func(e *ir.Epic) {
		e.Gates["look"] = ir.Gate{Kind: "command", Run: "true", From: "policy", OnFailure: "stop"}
		e.Nodes[0].Steps[2].Gates = []string{"look"}
	})
	s.answer = verdicts(map[string][]executor.Verdict{"look": {executor.Fail, executor.Pass}})
	s.begin()
	s.until(nil)
	s.is("1.1", executor.Blocked, "", "said stop")
	s.ok("1.1", retry)
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	if got, want := s.trail(), "design implement review implement review"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestARetryThatComesTooSoonOrTwice(t *testing.T) { // execution §5
	s := newStage(t, []string{"1.1", "2.1"}, step(func(s *ir.Step) { s.Retry = ir.Retry{Backoff: "fixed", InitialMS: 3600_000} }))
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed()}})
	s.no("1.1", retry, "nothing to retry")
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Node == "bd-2-1" && e.Kind == executor.EffectAgent })
	s.is("1.1", executor.Waiting, "", "")
	s.no("1.1", retry, "it continues by itself")
	s.no("2.1", retry, "nothing to retry") // it runs
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	s.no("1.1", retry, "nothing to retry")
}

func TestASkipIsTakenBack(t *testing.T) { // execution §5 retry; S1-19
	for _, begun := range []bool{false, true} {
		s := newStage(t, []string{"1.1", "1.2: 1.1"})
		s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("blue?")}})
		s.begin()
		s.until(nil)
		s.ok("1.1", executor.Decision{Verb: executor.Skip})
		if begun { // 1.2 works without it
			s.until(func(e executor.Effect) bool { return e.Node == "bd-1-2" && e.Kind == executor.EffectAgent })
		}
		s.ok("1.1", retry)
		if begun {
			s.no("1.1", retry, "1.1 is reopened already")
			s.end()
			s.is("1.2", executor.Done, "", "")
			s.begin()
		} else if v := s.view("1.2"); v.Status != executor.Pending {
			t.Errorf("1.2 is %s although 1.1 has to be done first", v.Status)
		}
		s.end()
		s.is("1.1", executor.Done, "", "")
		s.is("1.2", executor.Done, "", "")
		var first executor.Result
		for _, e := range s.events {
			if b, ok := e.Body.(executor.NodeStarted); ok && e.Node == "bd-1-2" {
				first = b.Inputs[0]
			}
		}
		if first.Node != "bd-1-1" {
			t.Errorf("begun %v: 1.2 started at last from %+v, want from the result of 1.1", begun, first)
		}
	}
}

// A retry of a gate that gave no verdict brings a new allowance, as every other retry.
func TestARetryOfAGateBeginsANewAllowance(t *testing.T) { // execution §3: a new allowance also begins with retry
	s := newStage(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.Attempts = 2 }))
	s.answer = verdicts(map[string][]executor.Verdict{"check": {
		executor.Fail, executor.ErrorJudged, executor.ErrorJudged, executor.Fail, executor.Pass,
	}})
	s.begin()
	s.until(nil)
	s.is("1.1", executor.Waiting, executor.CauseGate, "check")
	s.ok("1.1", executor.Decision{Verb: executor.RetryNode})
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
}

// What failed and passes again in between is another matter than what fails alike again.
func TestTheBreakerSeesWhatALaterStepFindsAgainAndAgain(t *testing.T) { // execution §4: the breaker
	s := newStage(t, []string{"1.1"}, twoSteps, func(e *ir.Epic) {
		for i := range e.Nodes[0].Steps {
			e.Nodes[0].Steps[i].Limits.Attempts, e.Nodes[0].Steps[i].Limits.Breaker = 6, 2
		}
	})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate && e.Gate == "look" {
			return executor.GateJudged{Gate: "look", Verdict: executor.Fail, Signature: "always"}
		}
		return nil
	}
	s.begin()
	s.until(nil)
	if v := s.view("1.1"); v.Status != executor.Blocked || len(v.Attempts) != 4 {
		t.Errorf("it is %s after %d attempts (%s), want two of each step", v.Status, len(v.Attempts), v.Reason)
	}
}

// on_failure = "reset" holds for what a person rejects, too.
func TestARejectedAttemptIsResetWhereThePolicySaysSo(t *testing.T) { // execution §3: reset
	for on, same := range map[string]bool{"reset": false, "keep": true} {
		s := newStage(t, []string{"1.1"}, gatesOf("unit", "ok"), step(func(s *ir.Step) { s.OnFailure = on }))
		s.begin()
		s.until(nil)
		s.is("1.1", executor.Waiting, executor.CauseApproval, "ok asks for approval")
		s.ok("1.1", executor.Decision{Verb: executor.Reject, Message: "not so"})
		s.until(nil)
		if a := s.view("1.1").Attempts; len(a) != 2 || (a[1].From == a[0].Commit) != same || (a[1].From == a[0].Start) == same {
			t.Errorf("%s: it begins at %s; the first began at %s and left %s", on, a[1].From, a[0].Start, a[0].Commit)
		}
	}
}

// What an agent that was cut left in its worktree is no person's work.
func TestARetryAfterACancelIsNotAboutAPersonsEdits(t *testing.T) { // execution §5: retry
	s := newStage(t, []string{"1.1"})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	s.ok("1.1", executor.Decision{Verb: executor.Cancel})
	s.until(nil)
	s.is("1.1", executor.Cancelled, "", "")
	look, err := s.run.Decisions().Weigh("bd-1-1", executor.Decision{Verb: executor.RetryNode, By: "ann"}, s.now)
	if err != nil || look {
		t.Errorf("its worktree is looked at: %v, %v", look, err)
	}
}
