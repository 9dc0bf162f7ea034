package machine_test

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// stands lets a run begin with the integration branch at a commit.
func stands(commit string) func(*executor.RunStarted) {
	return func(r *executor.RunStarted) { r.Head = commit }
}

// sumAt is where the script's last sum was published.
func (s *script) sumAt() string {
	s.t.Helper()
	for i := len(s.events) - 1; i >= 0; i-- {
		if p, ok := s.events[i].Body.(executor.Published); ok && s.events[i].Node == executor.Integration {
			return p.Result.Commit
		}
	}
	s.t.Fatal("there is no sum")
	return ""
}

// theirs lets the sum find commits of others on its branch, until it may move it from there.
func theirs(e executor.Effect) executor.Body {
	if e.Kind == executor.EffectPublish && e.Node == executor.Integration && e.Old != "theirs" {
		return foreign()
	}
	return nil
}

func TestIntegrationBranch(t *testing.T) { // execution §5
	for name, run := range map[string]func(t *testing.T) *script{
		"the pull request of the plan when results have landed": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"}, mode("branch", "plan"))
			s.answer = heads("h0", "h0")
			s.play(0)
			s.play(0, stands(s.view("integration").Result.Commit)) // nothing new
			return s
		},
		"a base that was looked up before another landed": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1", "1.2"}, mode("branch", "plan"), step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
			s.begin()
			s.answer = first(heads("h0", "h0"), verdicts(map[string][]executor.Verdict{"check": {executor.Pass, executor.Pass, executor.Stop}}))
			var late executor.Effect
			for s.view("1.1").Status != executor.Done {
				todo := s.run.Todo(s.now)
				for _, e := range todo.Record {
					s.put(e)
				}
				if len(todo.Record) > 0 {
					continue
				}
				for _, e := range todo.Start {
					s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration}})
					if e.Node == "bd-1-2" {
						late = e
						continue
					}
					s.flying = append(s.flying, e)
				}
				if len(s.flying) > 0 {
					e := s.flying[0]
					s.flying = s.flying[1:]
					s.report(e)
				}
			}
			s.flying = append(s.flying, late)
			s.forget()
			s.goOn(0)
			return s
		},
		"commits of others on a branch that would not change": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, func(e *ir.Epic) { e.Epic.Integration.Gates = []string{"check"} })
			s.play(0)
			at := s.sumAt()
			s.answer = theirs
			s.forget()
			s.play(0, stands(at)) // as ralph left it
			s.play(0, stands("theirs"))
			s.say("integration", executor.Decision{Verb: executor.Approve})
			s.play(0, stands("theirs"))
			return s
		},
		"a branch that would not change is rebuilt": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"})
			s.play(0)
			s.answer = theirs
			s.forget()
			s.play(0, stands("theirs"))
			s.say("integration", executor.Decision{Verb: executor.RetryNode})
			s.play(0, stands("theirs"))
			return s
		},
		"what ralph published as it ended is not another's": func(t *testing.T) *script {
			s := newScript(t, []string{"1.1"}, func(e *ir.Epic) {
				e.Epic.Integration.ConflictAgent, e.Epic.Integration.Gates = "dev", []string{"check"}
			})
			s.answer = sumFails(1)
			s.begin()
			s.until(func(e executor.Effect) bool {
				return e.Kind == executor.EffectPublish && e.Node == executor.Integration
			})
			moved := s.flying[0].Commit
			s.forget()
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectPublish && e.Node == executor.Integration && e.Old != moved && e.Commit != moved {
					return foreign()
				}
				return nil
			}
			s.play(time.Minute, stands(moved))
			return s
		},
	} {
		t.Run(name, func(t *testing.T) { run(t).golden(name) })
	}
}
