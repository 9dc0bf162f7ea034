package machine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// What is on record of an attempt is the same when its text has changed since: who
// worked, with what, for how long, what it used, and how it was judged.
// S0-53..82, S3-16..21
func TestOldAttemptsKeepWhatTheyWere(t *testing.T) {
	s := newStage(t, []string{"1.1"}, approval)
	tokens, usd := int64(1200), int64(600_000)
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind != executor.EffectAgent {
			return nil
		}
		return executor.AgentEnded{
			End: executor.EndExited, Agent: "dev", Model: "large", Session: "one", Millis: 28_000, Usage: executor.Usage{Tokens: &tokens, USDMicro: &usd},
		}
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseApproval, "")
	was := s.view("1.1").Attempts[0]
	if was.Agent != "dev" || was.Millis != 28_000 || was.Turn == "" {
		t.Fatalf("before: %+v", was)
	}
	s.epic.Nodes[0].Digest.Work, s.epic.Digest = "other", "other"
	s.now = s.now.Add(time.Hour)
	s.begin()
	s.end()
	list := s.view("1.1").Attempts
	if len(list) != 2 {
		t.Fatalf("%d attempts, want 2", len(list))
	}
	is := list[0]
	if is.Agent != was.Agent || is.Model != was.Model || is.Session != was.Session || is.Millis != was.Millis || is.Turn != was.Turn || is.Turns != was.Turns ||
		is.Usage.Tokens == nil || *is.Usage.Tokens != tokens || *is.Usage.USDMicro != usd || !is.Started.Equal(was.Started) || len(is.Gates) != len(was.Gates) {
		t.Errorf("afterwards:\n%+v\nwant\n%+v", is, was)
	}
	if is.Status != executor.AttemptCancelled || !strings.Contains(is.Reason, "started again") || is.Ended.Sub(is.Started) > time.Hour/2 {
		t.Errorf("what was open is %s (%s), from %s to %s", is.Status, is.Reason, is.Started, is.Ended)
	}
	if list[1].Status != executor.AttemptRunning {
		t.Errorf("the present one is %s", list[1].Status)
	}
}

func TestSkippedSinceItWasSkipped(t *testing.T) { // S3-12
	s := newStage(t, []string{"1.1", "1.2"})
	s.ok("1.1", executor.Decision{Verb: executor.Skip, At: s.now})
	at := s.now
	s.now = s.now.Add(time.Hour)
	s.begin()
	s.end()
	if v := s.view("1.1"); v.Status != executor.Skipped || !v.Since.Equal(at) {
		t.Errorf("%s since %s, want %s", v.Status, v.Since, at)
	}
}

// Why a sprint that could start does not is what holds it, not a place that nobody has.
func TestWhatCouldStartSaysWhyItDoesNot(t *testing.T) { // execution §5 "apply ends when"
	s := newStage(t, []string{"1.1", "1.2"}, func(e *ir.Epic) { e.Run.Concurrency.Nodes = 1 })
	one := func(b *executor.RunStarted) { b.Slots = 1 }
	s.begin(one)
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	s.is("1.2", executor.Ready, "", "waits for a free slot")
	s.put(executor.Event{Body: executor.RunDraining{Reason: "cancelled by ann"}})
	s.is("1.2", executor.Ready, "", "nothing new starts: cancelled by ann")
	s.put(executor.Event{Body: executor.RunEnded{Interrupted: true}})
	s.is("1.2", executor.Ready, "", "ralph apply begins it")
}

func TestWhatNobodyWorksOnIsNotRunning(t *testing.T) { // execution §5
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	s.is("1.2", executor.Pending, "", "needs 1.1 (running)")
	machine.Desert(s.run)
	s.is("1.2", executor.Pending, "", "needs 1.1 (interrupted)")
}

// What a sprint and an attempt took is the time at work: who answers the next morning
// makes neither longer.
func TestWaitingIsNoWork(t *testing.T) { // execution §5 "A waiting node holds no slot"
	s := newStage(t, []string{"1.1"})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			s.now = s.now.Add(time.Minute)
			if e.Attempt == 1 {
				return asks("which?")
			}
		}
		return nil
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseQuestion, "which?")
	s.now = s.now.Add(10 * time.Hour)
	s.ok("1.1", executor.Decision{Verb: executor.RetryNode, Message: "that one"})
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	v := s.view("1.1")
	if v.Worked >= time.Hour || v.Worked < 2*time.Minute {
		t.Errorf("it worked %s, want some two minutes", v.Worked)
	}
	if a := v.Attempts[0]; a.Ended.Sub(a.Started) < 10*time.Hour || a.Work >= time.Hour || a.Work < time.Minute {
		t.Errorf("its first attempt worked %s of %s", a.Work, a.Ended.Sub(a.Started))
	}
}
