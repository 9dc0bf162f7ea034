package machine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// withSessions lets agents tell their session while they work: the one that they
// go on with, else the next of these names.
func withSessions(s *script, names ...string) {
	s.tells = func(e executor.Effect) []executor.Body {
		if e.Kind != executor.EffectAgent {
			return nil
		}
		told := executor.AgentSession{Session: e.Session, Agent: e.Agent, Turn: fmt.Sprintf("agent-%d", e.Iteration)}
		if e.Session == "" {
			if len(names) == 0 {
				return nil
			}
			told.Session, told.Fresh, names = names[0], true, names[1:]
		}
		return []executor.Body{told}
	}
}

// taken is a turn that ended because a person wrote in its session.
func taken(s *script, times int, said string) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		if e.Kind != executor.EffectAgent || times == 0 {
			return nil
		}
		times--
		s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.HumanSpoke{Session: e.Session, Said: s.now, Text: said}})
		return executor.AgentEnded{End: executor.EndTakenOver}
	}
}

func onMessage(what string) func(*ir.Epic) {
	return func(e *ir.Epic) { e.Run.HITL.OnHumanMessage = what }
}

func resuming(e *ir.Epic) { e.Nodes[0].Steps[0].Session = "resume" }

// TestSessionRules plays what sessions go through. execution §3 "nothing of value
// is thrown away", §4, §6; K25, S4-79, S4-102
func TestSessionRules(t *testing.T) {
	for name, run := range map[string]func(t *testing.T) *script{
		"a cut turn goes on in its session": func(t *testing.T) *script { // S2-44, S0-60
			s := newScript(t, []string{"1.1"})
			withSessions(s, "one")
			s.crashes = 2
			s.play(0)
			return s
		},
		"a cut turn without a session begins once more": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			withSessions(s)
			s.crashes = 1
			s.play(0)
			return s
		},
		"a cut turn whose worktree is gone begins once more": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			withSessions(s, "one", "two")
			s.crashes = 1
			s.answer = func(e executor.Effect) executor.Body {
				if e.AsIs {
					return executor.Prepared{Anew: true, Saved: "refs/saved"}
				}
				return nil
			}
			s.play(0)
			return s
		},
		"a second turn that is cut goes on as the second": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, resuming)
			withSessions(s, "one")
			s.answer = onKind(executor.EffectAgent, ended("partial"), fails(executor.FailCrash))
			s.play(day)
			return s
		},
		"an outage and a limit keep the session": func(t *testing.T) *script { // execution §4: the same session goes on
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.RunnerRetries = 0 }))
			withSessions(s, "one")
			s.answer = onKind(executor.EffectAgent, fails(executor.FailTransient), executor.EffectFailed{Class: executor.FailLimit, Detail: "429", Until: s.now.Add(time.Hour)})
			s.play(day)
			return s
		},
		"what is configured wrongly in the middle of a turn keeps the session": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			withSessions(s, "one")
			s.answer = onKind(executor.EffectAgent, fails(executor.FailConfig))
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.RetryNode})
			s.goOn(0)
			return s
		},
		"a turn that was cut is discarded": func(t *testing.T) *script { // execution §5 --discard
			s := newScript(t, []string{"1.1"})
			withSessions(s, "one", "two")
			s.answer = onKind(executor.EffectAgent, fails(executor.FailConfig))
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.RetryNode, How: executor.Discard})
			s.goOn(0)
			return s
		},
		"a lost session begins anew and counts nothing": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.RunnerRetries, s.Limits.Attempts = 0, 1 }))
			withSessions(s, "one", "two")
			s.crashes = 1
			s.answer = onKind(executor.EffectAgent, nil, fails(executor.FailSession))
			s.play(0)
			return s
		},
		"a program that cannot resume does not begin for ever": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, resuming, step(func(s *ir.Step) { s.Limits.RunnerRetries, s.Limits.Attempts = 1, 2 }))
			withSessions(s, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l")
			s.answer = func(e executor.Effect) executor.Body {
				switch {
				case e.Kind != executor.EffectAgent || e.Node != "bd-1-1":
					return nil
				case e.Session != "":
					return fails(executor.FailSession)
				}
				return ended("partial")
			}
			s.play(day)
			return s
		},
		"a session of the attempt before that is lost": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, resuming)
			withSessions(s, "one", "two")
			s.answer = first(verdicts(map[string][]executor.Verdict{"check": {executor.Fail, executor.Pass}}), onKind(executor.EffectAgent, ended("success"), fails(executor.FailSession)))
			s.play(0)
			return s
		},
		"the reminder is in the same session, also when it is cut": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			withSessions(s, "one")
			s.answer = onKind(executor.EffectAgent, ended("", func(a *executor.AgentEnded) { a.Outcome.Invalid = "no JSON" }), fails(executor.FailCrash))
			s.play(day)
			return s
		},
		"iterations are fresh, or in the same session": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) { e.Nodes[1].Steps[0].Session = "resume" })
			withSessions(s, "one", "two", "three")
			s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {ended("partial")}, "bd-1-2": {ended("partial")}})
			s.play(0)
			return s
		},
		"an answer goes on in the session that asked": func(t *testing.T) *script { // execution §5: question
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.OnFailure = "reset" }))
			withSessions(s, "one")
			s.answer = onKind(executor.EffectAgent, asks("blue or red?"))
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.RetryNode, Message: "blue"})
			s.goOn(0)
			return s
		},
		"an agent that stands in has a session of its own": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, resuming, fallback)
			withSessions(s, "one", "two")
			s.answer = onKind(executor.EffectAgent, fails(executor.FailConfig))
			s.play(0)
			return s
		},
		"a person has the session until they say so": func(t *testing.T) *script { // S4-68
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.Iterations, s.Limits.Attempts = 1, 1 }))
			withSessions(s, "one")
			s.answer = taken(s, 1, "use bcrypt")
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.Resume})
			s.goOn(0)
			return s
		},
		"a person who had the session approves": func(t *testing.T) *script { // S4-68
			s := newScript(t, []string{"1.1"})
			withSessions(s, "one")
			s.answer = taken(s, 1, "use bcrypt")
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.Approve})
			s.goOn(0)
			return s
		},
		"a person who had the session asks for another attempt": func(t *testing.T) *script { // S4-68
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.Attempts, s.OnFailure = 1, "reset" }))
			withSessions(s, "one")
			s.answer = taken(s, 1, "use bcrypt")
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.RetryNode, Message: "with a test"})
			s.goOn(0)
			return s
		},
		"a person who had the session hands the worktree in": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			withSessions(s, "one")
			s.answer = taken(s, 1, "use bcrypt")
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly})
			s.goOn(0)
			return s
		},
		"what a person had is gone on with after an end of ralph": func(t *testing.T) *script { // S4-68, S2-44
			s := newScript(t, []string{"1.1"})
			withSessions(s, "one")
			s.answer = taken(s, 1, "use bcrypt")
			s.play(0)
			s.begin()
			s.say("1.1", executor.Decision{Verb: executor.Resume})
			s.crashes = 1
			s.goOn(0)
			return s
		},
		"a turn in which a person spoke is cut": func(t *testing.T) *script { // S4-68
			s := newScript(t, []string{"1.1"})
			withSessions(s, "one")
			told := s.tells
			s.tells = func(e executor.Effect) []executor.Body {
				if out := told(e); e.Session == "" && len(out) > 0 {
					return append(out, executor.HumanSpoke{Session: "one", Said: s.now, Text: "stop"})
				} else {
					return out
				}
			}
			s.answer = onKind(executor.EffectAgent, fails(executor.FailCrash))
			s.play(day)
			s.say("1.1", executor.Decision{Verb: executor.Resume})
			s.goOn(0)
			return s
		},
		"a person's words are a review": func(t *testing.T) *script { // S4-69
			s := newScript(t, []string{"1.1"}, onMessage("review"), step(func(s *ir.Step) { s.Limits.Attempts, s.OnFailure = 1, "reset" }))
			withSessions(s, "one", "two")
			s.answer = taken(s, 1, "use bcrypt")
			s.play(0)
			return s
		},
		"a person's words mean what the node's policy says": func(t *testing.T) *script { // S4-27
			s := newScript(t, []string{"1.1"}, onMessage("pause"), step(func(s *ir.Step) { s.Limits.Attempts, s.OnFailure = 1, "reset" }), func(e *ir.Epic) {
				e.Nodes[0].HITL = &ir.NodeHITL{OnHumanMessage: "review"}
			})
			withSessions(s, "one", "two")
			s.answer = taken(s, 1, "use bcrypt")
			s.play(0)
			return s
		},
		"a session goes on when the person is gone": func(t *testing.T) *script { // S4-70
			s := newScript(t, []string{"1.1"}, onMessage("cooldown"), step(func(s *ir.Step) { s.Limits.Iterations, s.Limits.Attempts = 1, 1 }))
			withSessions(s, "one")
			s.answer = taken(s, 2, "use bcrypt")
			s.play(0)
			return s
		},
		"a person in the session of a gate's agent decides about the gate": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, withGates("parallel", qa("qa")))
			s.tells = func(e executor.Effect) []executor.Body {
				if e.Kind != executor.EffectGate || len(s.view("1.1").Attempts[0].Spoken) > 0 {
					return nil
				}
				return []executor.Body{executor.HumanSpoke{Session: "q", Said: s.now, Text: "that is fine", Gate: e.Gate}}
			}
			s.answer = verdicts(map[string][]executor.Verdict{"qa": {executor.ErrorJudged, executor.Pass}})
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.RetryNode})
			s.goOn(0)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := run(t)
			s.replay()
			s.golden(name)
		})
	}
}
