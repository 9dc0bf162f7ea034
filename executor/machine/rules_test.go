package machine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

func cmd(name string) ir.Gate { return ir.Gate{Why: name, Kind: "command", Run: "true"} }

func qa(name string) ir.Gate { return ir.Gate{Why: name, Kind: "agent"} }

// verdicts answers the gates of sprints by name, one verdict after the other; the
// last one stays.
func verdicts(by map[string][]executor.Verdict) func(executor.Effect) executor.Body {
	n := map[string]int{}
	return func(e executor.Effect) executor.Body {
		list := by[e.Gate]
		if e.Kind != executor.EffectGate || len(list) == 0 || e.Node == executor.Integration {
			return nil
		}
		v := list[min(n[e.Gate], len(list)-1)]
		n[e.Gate]++
		return executortest.Verdict(e.Gate, v)
	}
}

// onKind answers effects of one kind, one after the other; then all is as usual.
func onKind(k executor.EffectKind, bodies ...executor.Body) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		if e.Kind != k || len(bodies) == 0 || e.Node == executor.Integration && k != executor.EffectPublish {
			return nil
		}
		b := bodies[0]
		bodies = bodies[1:]
		if f, ok := b.(executor.EffectFailed); ok {
			f.Gate = e.Gate
			b = f
		}
		return b
	}
}

// first asks each in turn.
func first(of ...func(executor.Effect) executor.Body) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		for _, f := range of {
			if b := f(e); b != nil {
				return b
			}
		}
		return nil
	}
}

func ended(result string, change ...func(*executor.AgentEnded)) executor.AgentEnded {
	a := executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: result}}
	for _, c := range change {
		c(&a)
	}
	return a
}

func fails(class executor.FailureClass) executor.EffectFailed {
	return executor.EffectFailed{Class: class, Detail: "it is " + string(class)}
}

func step(change func(*ir.Step)) func(*ir.Epic) {
	return func(e *ir.Epic) { change(&e.Nodes[0].Steps[0]) }
}

func twoSteps(e *ir.Epic) {
	n := &e.Nodes[0]
	review := executortest.Step("review", "look")
	review.Access, review.Next = "read", "implement"
	e.Gates["look"] = ir.Gate{Kind: "command", Run: "true", From: "policy", OnFailure: "retry"}
	n.Steps = append(n.Steps, review)
}

func fallback(e *ir.Epic) {
	e.Runners["other"] = e.Runners["sh"]
	e.Agents["spare"] = ir.Agent{Runner: "other", Access: "write"}
	e.Nodes[0].Steps[0].Fallback = []string{"spare"}
}

const day = 24 * time.Hour

var joined = []string{"1.1", "1.2", "1.3: 1.1 1.2"}

// conflictOf answers a node's first merge with a conflict.
func conflictOf(node ir.NodeID) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectBase && e.Node == node {
			return executor.EffectFailed{Class: executor.FailConflict, Detail: "no", Paths: []string{"a.go"}}
		}
		return nil
	}
}

// onMerge answers what is collected of a merge.
func onMerge(bodies ...executor.Body) func(executor.Effect) executor.Body {
	next := onKind(executor.EffectCollect, bodies...)
	return func(e executor.Effect) executor.Body {
		if !e.Merge {
			return nil
		}
		return next(e)
	}
}

// sumFails lets the sum's gate fail so often.
func sumFails(times int) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate && e.Node == executor.Integration {
			if times--; times >= 0 {
				return executortest.Verdict(e.Gate, executor.Fail)
			}
		}
		return nil
	}
}

func foreign() executor.EffectFailed {
	return executor.EffectFailed{Class: executor.FailForeign, Detail: "somebody pushed", Head: executor.Tree{Commit: "theirs", Tree: "theirs"}}
}

func mode(m, pr string) func(*ir.Epic) {
	return func(e *ir.Epic) { e.Epic.Integration.Mode, e.Epic.Integration.PR = m, pr }
}

// heads answers bases with these heads of the integration branch, in turn.
func heads(of ...string) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		if e.Kind != executor.EffectBase || e.Onto == "" || len(of) == 0 {
			return nil
		}
		h := of[0]
		of = of[1:]
		return executor.BaseMade{Base: executor.Tree{Commit: h, Tree: h}, Head: h}
	}
}

func TestRules(t *testing.T) {
	human := ir.Gate{Why: "boss", Kind: "human", Approvers: []string{"ann"}, TimeoutMS: 60_000, OnTimeout: "fail"}
	for name, run := range map[string]func(t *testing.T) *script{
		// Gates: execution §3, §4.
		"gates side by side, people last": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, withGates("parallel", human, cmd("build"), cmd("test"), qa("qa"), ir.Gate{Why: "blind", Kind: "review"}))
			s.answer = verdicts(map[string][]executor.Verdict{"test": {executor.Fail, executor.Pass}})
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.Approve})
			s.goOn(0)
			return s
		},
		"nobody decides in time": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, withGates("parallel", human), step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
			s.play(day, func(r *executor.RunStarted) { r.Wait = true })
			return s
		},
		"ordered gates end at a fail that does not say continue": func(t *testing.T) *script { // S0-124
			goes := cmd("lint")
			goes.OnFailure = "continue"
			s := newScript(t, []string{"1.1"}, withGates("ordered", goes, cmd("unit"), qa("qa")))
			s.answer = verdicts(map[string][]executor.Verdict{"lint": {executor.Fail, executor.Pass}, "unit": {executor.Pass, executor.Fail, executor.Pass}})
			s.play(0)
			return s
		},
		"a gate that stops blocks": func(t *testing.T) *script {
			stop := cmd("unit")
			stop.OnFailure = "stop"
			s := newScript(t, []string{"1.1", "1.2: 1.1"}, withGates("parallel", stop, cmd("later"), qa("qa")))
			s.answer = verdicts(map[string][]executor.Verdict{"unit": {executor.Fail}})
			s.play(0)
			return s
		},
		"a verdict that is none is asked for once again": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, withGates("parallel", cmd("build"), qa("qa")))
			s.answer = verdicts(map[string][]executor.Verdict{"qa": {executor.ErrorJudged, executor.ErrorJudged, executor.Pass}})
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.RetryNode})
			s.goOn(0)
			return s
		},
		"a gate's runner that fails costs no attempt": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, withGates("parallel", cmd("build")), step(func(s *ir.Step) {
				s.Limits.RunnerRetries, s.Retry = 1, ir.Retry{Backoff: "fixed", InitialMS: 1000}
			}))
			s.answer = onKind(executor.EffectGate, fails(executor.FailTransient), fails(executor.FailTransient))
			s.play(day)
			return s
		},
		"a gate's agent that cannot work is replaced": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, func(e *ir.Epic) { fallback(e); e.Nodes[0].Steps[0].Fallback = nil }, withGates("parallel", ir.Gate{Why: "qa", Kind: "agent", Fallback: []string{"spare"}}))
			s.answer = onKind(executor.EffectGate, fails(executor.FailConfig))
			s.play(0)
			return s
		},
		"a fail beside a gate that gave no verdict": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, withGates("parallel", cmd("unit"), qa("qa")), step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
			s.answer = verdicts(map[string][]executor.Verdict{"qa": {executor.ErrorJudged}, "unit": {executor.Fail}})
			s.play(0)
			return s
		},
		"the breaker counts the same failure in a row": func(t *testing.T) *script { // L2-01, K6
			s := newScript(t, []string{"1.1"}, withGates("parallel", cmd("unit"), qa("qa")), step(func(s *ir.Step) { s.Limits.Attempts, s.Limits.Breaker = 9, 2 }))
			s.answer = verdicts(map[string][]executor.Verdict{
				"unit": {executor.Fail, executor.Pass, executor.Fail, executor.Fail},
				"qa":   {executor.Pass, executor.Fail, executor.ErrorJudged, executor.Pass},
			})
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.RetryNode}) // a new allowance
			s.goOn(0)
			return s
		},
		"red first": func(t *testing.T) *script {
			red := cmd("repro")
			red.RedFirst = true
			s := newScript(t, []string{"1.1"}, withGates("parallel", red, cmd("unit")))
			s.answer = first(
				onKind(executor.EffectRed, executor.GateJudged{Gate: "repro", Red: true, Verdict: executor.Fail, Tests: "fail"}),
				verdicts(map[string][]executor.Verdict{"unit": {executor.Fail, executor.Pass}}),
			)
			s.play(0)
			return s
		},
		"green before any work": func(t *testing.T) *script {
			red := cmd("repro")
			red.RedFirst = true
			s := newScript(t, []string{"1.1"}, withGates("parallel", red))
			s.answer = onKind(executor.EffectRed, executor.GateJudged{Gate: "repro", Red: true, Verdict: executor.Pass, Tests: "pass"})
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.Approve, How: executor.Override, Message: "it is new"})
			s.goOn(0)
			return s
		},
		// Outcomes and failures: execution §4.
		"partial goes on in the same attempt, up to the limit": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.Iterations = 2; s.Session = "resume" }))
			s.answer = onKind(executor.EffectAgent,
				ended("partial", func(a *executor.AgentEnded) { a.Session = "one" }),
				ended("partial", func(a *executor.AgentEnded) { a.Outcome.NextAction = "repeat_phase" }))
			s.play(0)
			return s
		},
		"a promise lets gates begin": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			s.answer = onKind(executor.EffectAgent, ended("", func(a *executor.AgentEnded) { a.Outcome.Promise, a.ExitCode = "DONE", 1 }))
			s.play(0)
			return s
		},
		"an exit that is not zero without an outcome": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
			s.answer = onKind(executor.EffectAgent, ended("", func(a *executor.AgentEnded) { a.ExitCode, a.Tail = 3, "cannot\nfind it" }))
			s.play(0)
			return s
		},
		"a question waits with what was collected": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
			s.answer = onKind(executor.EffectAgent, ended("", func(a *executor.AgentEnded) {
				a.Outcome.NeedsHuman, a.Outcome.Summary, a.Session = true, "which colour?", "one"
			}))
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.RetryNode, Message: "red"})
			s.goOn(0)
			return s
		},
		"a fatal result drains the run": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"}, func(e *ir.Epic) { e.Nodes[1].After = nil })
			s.answer = onKind(executor.EffectAgent, ended("failed", func(a *executor.AgentEnded) { a.Outcome.Fatal, a.Outcome.Summary = true, "the repository is broken" }))
			s.play(0, func(r *executor.RunStarted) { r.Slots = 1 })
			return s
		},
		"a suggestion goes back only where the plan does": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, twoSteps)
			s.answer = onKind(executor.EffectAgent, ended("success"),
				ended("failed", func(a *executor.AgentEnded) { a.Outcome.SuggestedNext = "implement" }), ended("success"),
				ended("failed", func(a *executor.AgentEnded) { a.Outcome.SuggestedNext = "deploy" }))
			s.play(0)
			return s
		},
		"a rate limit with a time parks the runner": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"})
			f := fails(executor.FailLimit)
			f.Until = s.now.Add(3 * time.Hour)
			s.answer = onKind(executor.EffectAgent, f)
			s.play(day, func(r *executor.RunStarted) { r.Slots = 1 })
			return s
		},
		"a rate limit without a time is probed by one": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"})
			s.answer = onKind(executor.EffectAgent, fails(executor.FailLimit), fails(executor.FailLimit), fails(executor.FailLimit))
			s.play(day)
			return s
		},
		"a limit of a week is cut to a day": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			f := fails(executor.FailLimit)
			f.Until = s.now.Add(7 * day)
			s.answer = onKind(executor.EffectAgent, f)
			s.play(time.Hour)
			return s
		},
		"an outage parks the runner and then asks a person": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) {
				s.Limits.RunnerRetries, s.Retry = 1, ir.Retry{Backoff: "fixed", InitialMS: 5*3600_000 + 1800_000}
			}))
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectAgent {
					return fails(executor.FailTransient)
				}
				return nil
			}
			s.play(day)
			return s
		},
		"a crash is tried again and then counts": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.RunnerRetries, s.Limits.Attempts = 1, 2 }))
			s.answer = onKind(executor.EffectAgent, fails(executor.FailCrash), fails(executor.FailCrash))
			s.play(day)
			return s
		},
		"what is configured wrongly waits for a person": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			s.answer = onKind(executor.EffectAgent, fails(executor.FailConfig))
			s.play(0)
			s.play(0)
			return s
		},
		"another agent stands in": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, fallback, step(func(s *ir.Step) { s.Limits.RunnerRetries = 0 }))
			s.answer = first(onKind(executor.EffectAgent, fails(executor.FailTransient)), verdicts(map[string][]executor.Verdict{"check": {executor.Fail, executor.Pass}}))
			s.play(day)
			return s
		},
		"a stall is diagnosed": func(t *testing.T) *script { // S4-67
			s := newScript(t, []string{"1.1"}, func(e *ir.Epic) { e.Agents["doctor"] = ir.Agent{Runner: "sh", Access: "read"} }, step(func(s *ir.Step) {
				s.Stall = ir.Stall{AfterMS: 1, Action: "diagnose", Agent: "doctor"}
				s.Limits.Attempts, s.Limits.RunnerRetries = 2, 1
			}))
			stalled := executor.AgentEnded{End: executor.EndStalled}
			s.answer = first(onKind(executor.EffectAgent, stalled, stalled, stalled),
				onKind(executor.EffectDiagnose, executor.Diagnosed{Action: "retry", Note: "a slow network"}, executor.Diagnosed{Action: "fail", Note: "it waits for input"}, executor.Diagnosed{Action: "?"}))
			s.play(0)
			s.say("1.1", executor.Decision{Verb: executor.Approve})
			s.goOn(0)
			return s
		},
		"a runner takes so many agents a minute": func(t *testing.T) *script { // S4-60
			s := newScript(t, []string{"1.1", "1.2", "1.3"}, func(e *ir.Epic) { r := e.Runners["sh"]; r.RPM = 2; e.Runners["sh"] = r })
			s.play(day)
			return s
		},
		"what waits for its runner's minute holds no slot": func(t *testing.T) *script { // S4-60
			s := newScript(t, []string{"1.1", "1.2", "1.3"}, fallback, func(e *ir.Epic) {
				r := e.Runners["sh"]
				r.RPM = 1
				e.Runners["sh"] = r
				e.Nodes[0].Steps[0].Fallback = nil
				e.Nodes[1].Steps[0].Agent = "spare"
			})
			s.answer = verdicts(map[string][]executor.Verdict{"check": {executor.Fail, executor.Pass}})
			s.play(day, func(r *executor.RunStarted) { r.Slots = 1 })
			return s
		},
		"no node is begun for a runner that is taken": func(t *testing.T) *script { // S4-60
			s := newScript(t, []string{"1.1", "1.2", "1.3"}, fallback, func(e *ir.Epic) {
				r := e.Runners["sh"]
				r.Concurrent = 1
				e.Runners["sh"] = r
				e.Nodes[0].Steps[0].Fallback = nil
				e.Nodes[2].Steps[0].Agent = "spare"
			})
			s.play(0, func(r *executor.RunStarted) { r.Slots = 2 })
			return s
		},
		"a session goes on only in the tree that it left": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Session = "resume" }))
			in := func(h string) func(*executor.AgentEnded) { return func(a *executor.AgentEnded) { a.Session = h } }
			s.answer = first(onKind(executor.EffectAgent, ended("success", in("one")), ended("success", in("two"))),
				verdicts(map[string][]executor.Verdict{"check": {executor.Fail, executor.Pass}}))
			s.play(0)
			return s
		},
		"a reset tree means a fresh session": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, step(func(s *ir.Step) { s.Session, s.OnFailure = "resume", "reset" }))
			s.answer = first(onKind(executor.EffectAgent, ended("success", func(a *executor.AgentEnded) { a.Session = "one" })),
				verdicts(map[string][]executor.Verdict{"check": {executor.Fail, executor.Pass}}))
			s.play(0)
			return s
		},
		// Several dependencies, the sum, branches, pull requests: execution §3, §5.
		"a conflict is the node's first job": func(t *testing.T) *script {
			s := newScript(t, joined)
			s.answer = first(conflictOf("bd-1-3"), onMerge(executor.Collected{Result: executor.Tree{Commit: "bad", Tree: "bad"}, Problems: []string{"markers"}}))
			s.play(0)
			return s
		},
		"a resolution is used again as long as the list is the same": func(t *testing.T) *script {
			s := newScript(t, joined, func(e *ir.Epic) { e.Epic.Integration.Mode = "dag" })
			s.answer = conflictOf("bd-1-3")
			s.play(0)
			s.forget()
			s.play(0, func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-3"} })
			return s
		},
		"a resolution outlives a changed text": func(t *testing.T) *script {
			s := newScript(t, joined)
			s.answer = conflictOf("bd-1-3")
			s.play(0)
			s.change(executortest.Epic(joined, func(e *ir.Epic) { e.Nodes[2].Prompt, e.Digest = []string{"Do it otherwise."}, "sha256:other" }))
			s.play(0)
			return s
		},
		"a resolution counts for other commits of the same trees": func(t *testing.T) *script {
			s := newScript(t, joined)
			n := 0
			same := func(e executor.Effect) executor.Body { // the same files, whoever makes them
				if e.Node == "bd-1-1" && e.Kind == executor.EffectPublish {
					return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: "same"}}
				}
				if e.Kind != executor.EffectCollect || e.Node != "bd-1-1" {
					return nil
				}
				n++
				return executor.Collected{Result: executor.Tree{Commit: fmt.Sprint("made", n), Tree: "same"}}
			}
			s.answer = first(same, conflictOf("bd-1-3"))
			s.play(0)
			s.forget()
			s.answer = first(same, func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectBase && e.Node == "bd-1-3" && e.Resolved == "" {
					return fails(executor.FailConflict)
				}
				return nil
			})
			s.play(0, func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-1", "bd-1-3"} })
			return s
		},
		"a conflict that agents do not resolve goes to a person": func(t *testing.T) *script {
			s := newScript(t, joined)
			bad := executor.Collected{Result: executor.Tree{Commit: "bad", Tree: "bad"}, Problems: []string{"markers"}}
			s.answer = first(conflictOf("bd-1-3"), onMerge(bad, bad, bad, bad))
			s.play(0)
			s.play(0) // a new start leaves it as it lies
			s.say("1.3", executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly})
			s.goOn(0) // not resolved yet
			s.say("1.3", executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly})
			s.goOn(0)
			return s
		},
		"the sum conflicts": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"})
			s.answer = conflictOf(executor.Integration)
			s.play(0)
			return s
		},
		"the sum conflicts, and an agent resolves it": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"}, func(e *ir.Epic) { e.Epic.Integration.ConflictAgent = "dev" })
			s.answer = conflictOf(executor.Integration)
			s.play(0)
			return s
		},
		"what the sum's gates find is mended by an agent": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, func(e *ir.Epic) {
				e.Epic.Integration.ConflictAgent, e.Epic.Integration.Gates = "dev", []string{"check"}
			})
			s.answer = sumFails(1)
			s.play(time.Minute)
			return s
		},
		"what the sum's gates find blocks it alone": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, func(e *ir.Epic) { e.Epic.Integration.Gates = []string{"check"} })
			s.answer = sumFails(1)
			s.play(0)
			s.say("integration", executor.Decision{Verb: executor.RetryNode})
			s.play(0)
			return s
		},
		"the next sum begins at the last": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"})
			blocked := true
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectGate && e.Node == "bd-1-2" && blocked {
					return executortest.Verdict(e.Gate, executor.Stop)
				}
				return nil
			}
			s.play(0)
			blocked = false
			s.say("1.2", executor.Decision{Verb: executor.RetryNode})
			s.play(0)
			return s
		},
		"a gate's result counts once in the sum": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) { e.Nodes[1].Kind = ir.GateKind })
			s.play(0)
			return s
		},
		"a new result replaces the old one in the sum": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"})
			s.play(0)
			s.forget()
			s.play(0, func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-1"} })
			return s
		},
		"the branch does not move while it holds an older result of what is blocked": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"})
			s.play(0)
			s.forget()
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectGate && e.Node == "bd-1-1" {
					return executortest.Verdict(e.Gate, executor.Stop)
				}
				return nil
			}
			s.play(0, func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-1", "bd-1-2"} })
			return s
		},
		"a sprint that is gone leaves the sum": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"})
			s.play(0)
			s.change(executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Digest = "sha256:less" }))
			s.play(0)
			return s
		},
		"foreign commits wait, and are accepted": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			s.answer = onKind(executor.EffectPublish, executor.Published{Result: executor.Tree{Commit: "r1", Tree: "r1"}}, foreign())
			s.play(0)
			s.say("integration", executor.Decision{Verb: executor.Approve})
			s.goOn(0)
			return s
		},
		"foreign commits wait, and are pinned and replaced": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			s.answer = onKind(executor.EffectPublish, executor.Published{Result: executor.Tree{Commit: "r1", Tree: "r1"}}, foreign())
			s.play(0)
			s.say("integration", executor.Decision{Verb: executor.RetryNode})
			s.goOn(0)
			return s
		},
		"nodes land one after the other": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"}, mode("branch", "none"))
			s.answer = heads("h0", "h0")
			s.play(0)
			return s
		},
		"a merge that fails its gates gets one attempt": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"}, mode("branch", "none"))
			n := 0
			s.answer = first(heads("h0", "h0"), func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectGate && e.Step == machine.LandStep {
					if n++; n == 1 {
						return executortest.Verdict(e.Gate, executor.Fail)
					}
				}
				return nil
			})
			s.play(0)
			return s
		},
		"a landing conflicts": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"}, mode("branch", "none"))
			n := 0
			s.answer = first(heads("h0", "h0"), func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectBase && e.Step == machine.LandStep && e.Node == "bd-1-2" {
					if n++; n == 1 {
						return executor.EffectFailed{Class: executor.FailConflict, Detail: "no", Paths: []string{"a.go"}}
					}
				}
				return nil
			})
			s.play(0)
			return s
		},
		"the branch moved meanwhile": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, mode("branch", "none"))
			s.answer = first(heads("h0"), onKind(executor.EffectLand, executor.EffectFailed{Class: executor.FailMoved, Detail: "moved", Head: executor.Tree{Commit: "h1", Tree: "h1"}}))
			s.play(0)
			return s
		},
		"what landed is not run again, wherever the branch stands": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2: 1.1"}, mode("branch", "none"))
			s.answer = heads("h0", "h1")
			s.play(0)
			s.forget()
			s.play(0, func(r *executor.RunStarted) { r.Head = "h9" })
			return s
		},
		"a landing that a crash cut is made anew from the branch as it is": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, mode("branch", "none"))
			s.answer = heads("h0")
			s.begin()
			s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectGate && e.Step == machine.LandStep })
			s.forget()
			s.answer = onKind(executor.EffectLand, executor.EffectFailed{Class: executor.FailMoved, Detail: "moved", Head: executor.Tree{Commit: "h1", Tree: "h1"}})
			s.play(0, func(r *executor.RunStarted) { r.Head = "h1" })
			return s
		},
		"a result on the branch's head lands without being judged twice": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, mode("branch", "none"))
			s.answer = first(heads("h0"), func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectBase && e.Step == machine.LandStep {
					return executor.BaseMade{Base: e.Inputs[1].Tree}
				}
				return nil
			})
			s.play(0)
			return s
		},
		"a pull request is waited for": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2: 1.1"}, mode("wait", "none"))
			s.answer = onKind(executor.EffectPoll, executor.PullSeen{State: "open"}, executor.PullSeen{State: "closed", Comment: "not like this"})
			s.play(0)
			s.play(time.Hour, func(r *executor.RunStarted) { r.Wait = true })
			return s
		},
		"pull requests of nodes": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2: 1.1"}, mode("dag", "node"))
			s.play(0)
			return s
		},
		"the pull request of the plan": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, mode("dag", "plan"))
			s.play(0)
			return s
		},
		// What runs again: execution §1, §2.
		"a lost tail is adopted": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			s.begin()
			s.put(executor.Event{Body: executor.TailLost{After: 1, Found: []executor.Orphan{
				{Node: "bd-1-1", Step: "implement", Attempt: 4, Start: "base", Result: executor.Tree{Commit: "lost", Tree: "lost"}, Seq: 30},
				{Node: "bd-1-1", Step: "implement", Attempt: 3, Start: "base", Result: executor.Tree{Commit: "older", Tree: "older"}, Seq: 20},
				{Node: "bd-1-1", Step: "implement", Attempt: 2, Start: "elsewhere", Result: executor.Tree{Commit: "x", Tree: "x"}, Seq: 10},
			}}})
			s.answer = verdicts(map[string][]executor.Verdict{"check": {executor.Fail, executor.Fail, executor.Pass}})
			s.goOn(0)
			return s
		},
		"an attempt whose end was lost is adopted": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			s.begin()
			s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
			s.replay()
			s.put(executor.Event{Body: executor.TailLost{After: s.run.Seq(), Found: []executor.Orphan{
				{Node: "bd-1-1", Step: "implement", Attempt: 1, Start: "base", Result: executor.Tree{Commit: "lost", Tree: "lost"}, Seq: 9},
			}}})
			s.play(0)
			return s
		},
		"a lost resolution is adopted where it merges the same": func(t *testing.T) *script {
			s := newScript(t, joined)
			s.answer = conflictOf("bd-1-3")
			s.begin()
			s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectBase && e.Node == "bd-1-3" })
			in := s.flying[0].Inputs
			s.replay()
			merge := func(number int, parents ...string) executor.Orphan {
				c := fmt.Sprint("resolved", number)
				return executor.Orphan{Node: "bd-1-3", Step: executor.MergeStep, Attempt: number, Start: in[0].Commit, Merged: parents, Result: executor.Tree{Commit: c, Tree: c}, Seq: 99}
			}
			s.put(executor.Event{Body: executor.TailLost{After: s.run.Seq(), Found: []executor.Orphan{
				merge(1, in[0].Commit, in[1].Commit), merge(2, in[0].Commit, "older"), merge(3, in[0].Commit),
			}}})
			s.forget()
			s.play(0)
			return s
		},
		"a forge that does not answer is asked again": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, mode("wait", "none"))
			s.answer = onKind(executor.EffectPoll, fails(executor.FailTransient))
			s.play(time.Hour, func(r *executor.RunStarted) { r.Wait = true })
			return s
		},
		"only the gates of the step that changed run again": func(t *testing.T) *script {
			three := func(e *ir.Epic) {
				twoSteps(e)
				e.Nodes[0].Steps[1].Access = "write"
			}
			s := newScript(t, []string{"1.1", "1.2: 1.1"}, three)
			s.play(0)
			s.change(executortest.Epic([]string{"1.1", "1.2: 1.1"}, three, func(e *ir.Epic) {
				g := e.Gates["check"]
				g.Run = "true && true"
				e.Gates["first"] = g
				e.Nodes[0].Steps[0].Gates = []string{"first"}
				e.Digest = "sha256:gates"
			}))
			s.play(0)
			return s
		},
		"a changed gate that fails begins a new allowance": func(t *testing.T) *script {
			one := step(func(s *ir.Step) { s.Limits.Attempts = 1 })
			s := newScript(t, []string{"1.1"}, one)
			s.play(0)
			s.change(executortest.Epic([]string{"1.1"}, one, func(e *ir.Epic) {
				g := e.Gates["check"]
				g.Run = "false"
				e.Gates["check"], e.Digest = g, "sha256:gates"
			}))
			s.answer = verdicts(map[string][]executor.Verdict{"check": {executor.Fail, executor.Pass}})
			s.play(0)
			return s
		},
		"done by the base": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2: 1.1"})
			s.answer = onKind(executor.EffectGate, executortest.Verdict("check", executor.Pass), executortest.Verdict("check", executor.Stop))
			s.play(0)
			s.say("1.2", executor.Decision{Verb: executor.RetryNode})
			s.forget()
			rebased := func(r *executor.RunStarted) { r.Base = executor.Tree{Commit: "base2", Tree: "base2"} }
			s.play(0, rebased, func(r *executor.RunStarted) { r.Merged = []ir.NodeID{"bd-1-1"} })
			s.play(0, rebased)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) { run(t).golden(name) })
	}
}

func TestNumbersOfALostTailAreNotGivenAgain(t *testing.T) { // execution §1: the journal counts on above it
	s := newStage(t, []string{"1.1"})
	s.begin()
	lost := executor.Event{Seq: 50, At: s.now, Body: executor.TailLost{After: 1, Found: []executor.Orphan{
		{Node: "bd-1-1", Step: "implement", Attempt: 4, Start: "other", Result: executor.Tree{Commit: "x", Tree: "x"}, Seq: 49},
	}}}
	if err := s.run.Apply(lost); err != nil {
		t.Fatal(err)
	}
	s.events = append(s.events, lost)
	s.end()
	s.is("1.1", executor.Done, "", "")
	if a := s.view("1.1").Attempts; len(a) != 1 || a[0].Number != 5 || a[0].Rejudge {
		t.Errorf("attempts %+v, want one of number 5, which is not of the lost commit: it started elsewhere", a)
	}
	if err := s.run.Apply(executor.Event{Seq: s.run.Seq() + 2, Body: executor.RunEnded{}}); err == nil {
		t.Error("another event may leave a gap")
	}
	if err := s.run.Apply(executor.Event{Seq: s.run.Seq(), Body: executor.TailLost{}}); err == nil {
		t.Error("a lost tail may go back")
	}
}

func TestALostCommitOfOtherWorkIsNotAdopted(t *testing.T) { // execution §1, §3: attempts belong to (digest.work, base identity)
	for work, adopted := range map[string]bool{"other": false, "": true} {
		s := newStage(t, []string{"1.1"})
		s.begin()
		lost := executor.Event{Seq: 50, At: s.now, Body: executor.TailLost{After: 1, Found: []executor.Orphan{
			{Node: "bd-1-1", Step: "implement", Attempt: 4, Start: "base", Result: executor.Tree{Commit: "x", Tree: "x"}, Seq: 49, Work: work},
		}}}
		if err := s.run.Apply(lost); err != nil {
			t.Fatal(err)
		}
		s.events = append(s.events, lost)
		s.end()
		s.is("1.1", executor.Done, "", "")
		if a := s.view("1.1").Attempts; len(a) != 1 || a[0].Rejudge != adopted {
			t.Errorf("made for %q: attempts %+v", work, a)
		}
	}
}
