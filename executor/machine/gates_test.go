package machine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// gateEffects lists the effects of a gate that began, in order.
func gateEffects(s *stage, gate string) func(executor.Effect) []executor.Effect {
	var out []executor.Effect
	return func(e executor.Effect) []executor.Effect {
		if e.Kind == executor.EffectGate && e.Gate == gate {
			out = append(out, e)
		}
		return out
	}
}

// A gate is told what it judges, where the step began, and what that was made on: also
// when a success is judged again whose base has the same tree under another name.
func TestAGateIsToldWhatItJudges(t *testing.T) { // execution §6 (gates)
	s := newScript(t, []string{"1.1"})
	var last executor.Effect
	list := gateEffects(s.stage, "check")
	s.answer = func(e executor.Effect) executor.Body {
		if all := list(e); len(all) > 0 && e.Node == "bd-1-1" {
			last = all[len(all)-1]
		}
		return nil
	}
	s.begin()
	s.end()
	made := s.view("1.1").Result.Commit
	if last.Start != "base" || last.Base != "base" || last.Commit != made {
		t.Errorf("it judges %q from %q on %q, want %q from base on base", last.Commit, last.Start, last.Base, made)
	}
	s.change(mend([]string{"1.1"}, "two"))
	s.begin(func(r *executor.RunStarted) { r.Base.Commit = "like-base" })
	s.end()
	if last.Start != "like-base" || last.Base != "base" || last.Commit != made {
		t.Errorf("again it judges %q from %q on %q, want %q from like-base on base", last.Commit, last.Start, last.Base, made)
	}
	if got := s.turns(); got != 1 {
		t.Errorf("%d turns", got)
	}
}

// A sprint's step is judged by all its gates, whatever it is called.
func TestAStepThatIsCalledAsTheSums(t *testing.T) {
	s := newStage(t, []string{"1.1"}, step(func(s *ir.Step) { s.Name, s.Next = "integrate", "integrate" }))
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	if got := s.judgings("bd-1-1", "check"); got != 1 {
		t.Errorf("its gate judged %d times", got)
	}
}

// A verdict on a gate that is not asked for is refused: an unknown one, and one that has
// its verdict.
func TestAVerdictThatNobodyAskedForIsRefused(t *testing.T) {
	s := newStage(t, []string{"1.1"}, withGates("parallel", cmd("unit"), ir.Gate{Why: "boss", Kind: "human", Approvers: []string{"ann"}}))
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Gate == "unit" })
	s.land()
	for _, gate := range []string{"nope", "unit"} {
		s.replay()
		b := executortest.Verdict(gate, executor.Pass)
		b.By = "ann"
		if err := s.run.Apply(executor.Event{Seq: s.run.Seq() + 1, At: s.now, Node: "bd-1-1", Step: "implement", Attempt: 1, Body: b}); err == nil {
			t.Errorf("gate %s was judged", gate)
		}
	}
}

// A person's words in the session of a gate's agent are about the turn in which they were
// written. After it, an agent that gives no verdict is asked once more.
func TestWordsToAGatesAgentAreOfItsTurn(t *testing.T) { // execution §6 (people in sessions)
	for name, c := range map[string]struct {
		answers []executor.Body // of the gate, the first spoken to
		asks    int             // how often people are asked
	}{
		"it gives no verdict": {[]executor.Body{executortest.Verdict("qa", executor.ErrorJudged), executortest.Verdict("qa", executor.ErrorJudged)}, 1},
		"its runner fails":    {[]executor.Body{fails(executor.FailTransient), executortest.Verdict("qa", executor.ErrorJudged)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, withGates("parallel", qa("qa")))
			s.tells = func(e executor.Effect) []executor.Body {
				if e.Kind != executor.EffectGate || len(s.view("1.1").Attempts[0].Spoken) > 0 {
					return nil
				}
				return []executor.Body{executor.HumanSpoke{Session: "q", Said: s.now, Text: "that is fine", Gate: e.Gate}}
			}
			s.answer = onKind(executor.EffectGate, c.answers...)
			s.begin()
			asked := 0
			for range 3 {
				s.until(nil)
				if s.view("1.1").Status != executor.Waiting {
					break
				}
				asked++
				s.ok("1.1", retry)
			}
			s.is("1.1", executor.Done, "", "")
			if asked != c.asks {
				t.Errorf("people were asked %d times, want %d", asked, c.asks)
			}
		})
	}
}

// What a gate's agent said that is no verdict is on record with who said it, and where.
func TestWhatIsNoVerdictIsOnRecord(t *testing.T) { // execution §4 (gate error)
	s := newStage(t, []string{"1.1"}, withGates("parallel", cmd("unit"), qa("qa")))
	none := executortest.Verdict("qa", executor.ErrorJudged)
	none.Message, none.Agent, none.Session = "I cannot say", "qa", "q1"
	next := []executor.Body{none}
	s.answer = func(e executor.Effect) executor.Body {
		if e.Gate != "qa" || len(next) == 0 {
			return nil
		}
		b := next[0]
		next = next[1:]
		return b
	}
	s.begin()
	s.end()
	a := s.view("1.1").Attempts[0]
	if len(a.Erred) != 1 || a.Erred[0].Why != "I cannot say" || a.Erred[0].Agent != "qa" || a.Erred[0].Session != "q1" || a.Erred[0].Gate != "qa" || a.Erred[0].At.IsZero() {
		t.Errorf("got %+v", a.Erred)
	}
	if len(a.Sessions) != 1 || a.Sessions[0].Session != "q1" || a.Sessions[0].Agent != "qa" || a.Sessions[0].Gate != "qa" || a.Sessions[0].At.IsZero() {
		t.Errorf("the sessions are %+v", a.Sessions)
	}
}

// Workers that are lost are counted in a row, which another failure ends.
func TestAnotherFailureOfAGateEndsTheRowOfLostWorkers(t *testing.T) { // execution §4
	s := newStage(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.RunnerRetries, s.Retry.InitialMS = 1, 1000 }))
	s.answer = onKind(executor.EffectGate, fails(executor.FailLost), fails(executor.FailTransient), fails(executor.FailLost))
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
}

// That nobody decided is a verdict like another: it ran no tests, and fails each time for the
// same reason.
func TestNobodysVerdict(t *testing.T) { // execution §4: human gate, timeout
	s := newStage(t, []string{"1.1"}, approval)
	s.begin(func(r *executor.RunStarted) { r.Wait = true })
	s.until(func(executor.Effect) bool { return attempts(s, "1.1") > 1 })
	g := s.view("1.1").Attempts[0].Gates
	i := slices.IndexFunc(g, func(g executor.GateJudged) bool { return g.Gate == "lead" })
	if i < 0 || g[i].Tests != "skip" || g[i].Signature != "lead" || g[i].Verdict != executor.Fail {
		t.Errorf("got %+v", g)
	}
}

// All gates that have to be seen failing are, before the agent begins; one that cannot be
// judged is tried again, and then shown to people.
func TestSeveralGatesAreSeenFailing(t *testing.T) { // execution §3 (red first)
	red := func(name string) ir.Gate { g := cmd(name); g.RedFirst = true; return g }
	says := func(gate string, v executor.Verdict, message string) executor.GateJudged {
		return executor.GateJudged{Gate: gate, Red: true, Verdict: v, Message: message}
	}
	for name, c := range map[string]struct {
		retries int
		wait    executor.NodeWaiting // the first
	}{
		"tried again": {5, executor.NodeWaiting{For: executor.ForTimer, Detail: "b: no such file"}},
		"shown":       {0, executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseWorkspace, Gate: "b", Detail: "b: no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, withGates("parallel", red("a"), red("b")), step(func(s *ir.Step) {
				s.Limits.RunnerRetries, s.Retry = c.retries, ir.Retry{Backoff: "fixed", InitialMS: 1000}
			}))
			s.answer = onKind(executor.EffectRed, says("a", executor.Fail, ""), says("b", executor.ErrorJudged, "no such file"), says("b", executor.Fail, ""))
			s.begin()
			s.until(nil)
			if s.view("1.1").Status == executor.Waiting {
				s.ok("1.1", retry)
				s.until(nil)
			}
			s.is("1.1", executor.Done, "", "")
			var kinds []executor.EffectKind
			var waits []executor.NodeWaiting
			for _, e := range s.events {
				switch b := e.Body.(type) {
				case executor.EffectStarted:
					if e.Node == "bd-1-1" && (b.Kind == executor.EffectRed || b.Kind == executor.EffectAgent) {
						kinds = append(kinds, b.Kind)
					}
				case executor.NodeWaiting:
					b.Until = time.Time{}
					waits = append(waits, b)
				}
			}
			if want := []executor.EffectKind{executor.EffectRed, executor.EffectRed, executor.EffectRed, executor.EffectAgent}; !slices.Equal(kinds, want) {
				t.Errorf("%v began, want %v", kinds, want)
			}
			if len(waits) != 1 || waits[0].For != c.wait.For || waits[0].Cause != c.wait.Cause || waits[0].Gate != c.wait.Gate || waits[0].Detail != c.wait.Detail {
				t.Errorf("it waited %+v, want %+v", waits, c.wait)
			}
		})
	}
}
