package machine_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// An attempt that waits for the world is open: what a person says with the retry that ends
// the wait is for its next turn.
func TestTheOpenAttemptIsToldWhatThePersonSaid(t *testing.T) { // execution §5 retry; L1-03
	const words = "use the other library"
	agent := func(n int, c executor.FailureClass) func() func(executor.Effect) executor.Body {
		return func() func(executor.Effect) executor.Body { return onKind(executor.EffectAgent, times(n, fails(c))...) }
	}
	prepare := func(n int, c executor.FailureClass) func() func(executor.Effect) executor.Body {
		return func() func(executor.Effect) executor.Body {
			return onKind(executor.EffectPrepare, times(n, fails(c))...)
		}
	}
	for name, c := range map[string]struct {
		trouble func() func(executor.Effect) executor.Body
		wait    executor.WaitFor
		cause   executor.Cause
	}{
		"a rate limit":                            {agent(1, executor.FailLimit), executor.ForLimit, ""},
		"an outage":                               {agent(3, executor.FailTransient), executor.ForLimit, ""},
		"an outage that lasts":                    {agent(100, executor.FailTransient), executor.ForHuman, executor.CauseRunner},
		"an agent that is configured wrongly":     {agent(1, executor.FailConfig), executor.ForHuman, executor.CauseConfig},
		"a worktree that is configured wrongly":   {prepare(1, executor.FailConfig), executor.ForHuman, executor.CauseConfig},
		"a worktree that cannot be made just now": {prepare(3, executor.FailTransient), executor.ForHuman, executor.CauseWorkspace},
	} {
		for _, verdict := range []executor.Verdict{executor.Pass, executor.Fail} {
			t.Run(name+", then "+string(verdict), func(t *testing.T) {
				s := newStage(t, []string{"1.1", "2.1"})
				trouble := c.trouble()
				s.answer = func(e executor.Effect) executor.Body {
					if e.Node != "bd-1-1" {
						return nil
					}
					return trouble(e)
				}
				s.begin()
				waits := func() bool { v := s.view("1.1"); return v.For == c.wait && v.Cause == c.cause }
				if c.wait == executor.ForHuman {
					s.until(nil)
				}
				for k := 0; k < 9 && !waits(); k++ {
					s.until(func(e executor.Effect) bool { return e.Node == "bd-2-1" && e.Kind == executor.EffectAgent }) // 2.1 stays at work
					if !waits() {
						s.now = s.run.Todo(s.now).Wake
					}
				}
				if !waits() {
					t.Fatalf("it does not wait: %+v", s.view("1.1"))
				}
				s.ok("1.1", executor.Decision{Verb: executor.RetryNode, Message: words})

				s.answer = verdicts(map[string][]executor.Verdict{"check": {verdict}})
				prompt := s.prompted("1.1")
				if v := s.view("1.1"); len(v.Attempts) != 1 || strings.Count(prompt, "ann says:") != 1 || !strings.Contains(prompt, words) {
					t.Fatalf("attempt %d is not told once what ann said:\n%s", len(v.Attempts), prompt)
				}
				s.replay()
				if again := string(s.run.Node("bd-1-1").Prompt()); again != prompt {
					t.Errorf("replayed, it is told\n%s\nnot\n%s", again, prompt)
				}
				s.begin() // ralph was killed while the agent worked
				s.answer = verdicts(map[string][]executor.Verdict{"check": {verdict}})
				if again := s.prompted("1.1"); strings.Count(again, "ann says:") != 1 {
					t.Errorf("when the turn begins again, it is told\n%s", again)
				}
				if verdict == executor.Pass {
					s.until(nil)
					s.is("1.1", executor.Done, "", "")
					return
				}
				s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent && e.Attempt == 2 })
				if next := string(s.run.Node("bd-1-1").Prompt()); strings.Count(next, "ann says:") != 1 {
					t.Errorf("the next attempt is told\n%s", next)
				}
			})
		}
	}
}
