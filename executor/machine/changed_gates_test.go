package machine_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// gatesOf gives the first sprint's first step these gates, all of them commands but "ok",
// which a person answers.
func gatesOf(names ...string) func(*ir.Epic) {
	return func(e *ir.Epic) {
		for _, name := range names {
			e.Gates[name] = ir.Gate{Kind: "command", Run: name, From: "policy", OnFailure: "retry", ProtectNew: true, TimeoutMS: 60_000}
			if name == "ok" {
				e.Gates[name] = ir.Gate{Kind: "human", From: "policy", OnFailure: "retry"}
			}
		}
		e.Nodes[0].Steps[0].Gates, e.Digest = names, "sha256:"+strings.Join(names, "+")
	}
}

// saysGate lets one gate say this, whoever asks it.
func saysGate(gate string, v executor.Verdict) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate && e.Gate == gate {
			return executortest.Verdict(gate, v)
		}
		return nil
	}
}

// A gate that is added, removed or moved is a change of what judges, as one that is edited:
// what was collected is judged again, and no agent begins.
func TestAnotherListOfGatesJudgesWhatWasBlocked(t *testing.T) { // execution §2 (what has no success)
	for name, c := range map[string]struct{ before, after []string }{
		"removed":   {[]string{"unit", "bad"}, []string{"unit"}},
		"in front":  {[]string{"bad"}, []string{"lint", "bad2"}},
		"exchanged": {[]string{"bad", "unit"}, []string{"unit", "good"}},
	} {
		s := newScript(t, []string{"1.1"}, gatesOf(c.before...))
		s.answer = saysGate("bad", executor.Fail)
		s.begin()
		s.end()
		s.is("1.1", executor.Blocked, "", "3 attempts")
		turns := s.turns()
		next := executortest.Epic([]string{"1.1"}, gatesOf(c.after...))
		if got := s.planned(next); !strings.HasPrefix(got, "1.1: judge, its gates changed since it was blocked\n") {
			t.Errorf("%s: planned\n%s", name, got)
		}
		s.change(next)
		s.begin()
		s.end()
		s.is("1.1", executor.Done, "", "")
		if got := s.turns(); got != turns {
			t.Errorf("%s: %d turns of agents more", name, got-turns)
		}
	}
}

func TestAnotherListOfGatesReopensNothingElse(t *testing.T) { // execution §2: not after stop or an outcome; limits change nothing
	stop := func(e *ir.Epic) {
		g := e.Gates["bad"]
		g.OnFailure = "stop"
		e.Gates["bad"] = g
	}
	iterations := func(n int) func(*ir.Epic) {
		return func(e *ir.Epic) {
			e.Nodes[0].Steps[0].Limits.Iterations, e.Digest = n, "sha256:"+strings.Repeat("i", n)
		}
	}
	partial := func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			return ended("partial")
		}
		return nil
	}
	for name, c := range map[string]struct {
		before, after []func(*ir.Epic)
		answer        func(executor.Effect) executor.Body
	}{
		"stop":            {[]func(*ir.Epic){gatesOf("bad"), stop}, []func(*ir.Epic){gatesOf("lint", "bad"), stop}, saysGate("bad", executor.Fail)},
		"more iterations": {[]func(*ir.Epic){gatesOf("bad"), iterations(2)}, []func(*ir.Epic){gatesOf("bad"), iterations(3)}, first(partial, saysGate("bad", executor.Fail))},
		"less iterations": {[]func(*ir.Epic){gatesOf("bad"), iterations(3)}, []func(*ir.Epic){gatesOf("bad"), iterations(2)}, first(partial, saysGate("bad", executor.Fail))},
	} {
		s := newScript(t, []string{"1.1"}, c.before...)
		s.answer = c.answer
		s.begin()
		s.end()
		if v := s.view("1.1"); v.Status != executor.Blocked {
			t.Fatalf("%s: it is %s", name, v.Status)
		}
		turns := s.turns()
		s.change(executortest.Epic([]string{"1.1"}, c.after...))
		s.begin()
		s.end()
		if v := s.view("1.1"); v.Status != executor.Blocked || s.turns() != turns {
			t.Errorf("%s: it is %s, %d turns more", name, v.Status, s.turns()-turns)
		}
		s.answer = nil
		s.ok("1.1", executor.Decision{Verb: executor.RetryNode, By: "ada"}) // its life goes on
		s.begin()
		s.end()
		s.is("1.1", executor.Done, "", "")
		if got := s.turns() - turns; got != 1 {
			t.Errorf("%s: %d turns after a retry", name, got)
		}
	}
}

// What waits for a person keeps what was collected when the list of its gates changes.
func TestAnotherListOfGatesJudgesWhatWaits(t *testing.T) { // execution §2, §3
	s := newScript(t, []string{"1.1"}, gatesOf("unit", "lint", "ok"))
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseApproval, "ok asks for approval")
	commit, turns := s.view("1.1").Attempts[0].Commit, s.turns()
	s.change(executortest.Epic([]string{"1.1"}, gatesOf("unit", "ok")))
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseApproval, "ok asks for approval")
	s.ok("1.1", executor.Decision{Verb: executor.Approve, By: "ada"})
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	if v := s.view("1.1"); s.turns() != turns || v.Attempts[len(v.Attempts)-1].Commit != commit {
		t.Errorf("%d turns more; %+v", s.turns()-turns, v.Attempts)
	}
}

// The sum's gates that judged these files are those of what was joined then: a gate that comes
// with another node judges them, too, though they are the same.
func TestAGateOfANewlyJoinedNodeJudgesTheSameSum(t *testing.T) { // execution §5 (the sum)
	own := func(e *ir.Epic) {
		e.Gates["cache"] = ir.Gate{Kind: "command", Run: "test -f cache.log", From: "policy", OnFailure: "retry", ProtectNew: true, TimeoutMS: 60_000}
		e.Nodes[1].Steps[0].Gates, e.Nodes[1].Steps[0].AllowEmpty = []string{"cache"}, true
		e.Epic.Integration.Gates = []string{"cache", "check"}
	}
	s := newScript(t, []string{"1.1a", "1.1b"}, own)
	refuse := true
	s.answer = func(e executor.Effect) executor.Body {
		switch {
		case e.Kind == executor.EffectGate && e.Gate == "cache" && e.Node == "bd-1-1b" && refuse:
			return executortest.Verdict("cache", executor.Fail)
		case e.Kind == executor.EffectBase && e.Node == executor.Integration:
			return executor.BaseMade{Base: executor.Tree{Commit: "joined", Tree: "same"}}
		}
		return nil
	}
	s.begin()
	s.end()
	s.is("1.1b", executor.Blocked, "", "3 attempts")
	if got := s.judgings(executor.Integration, "cache"); got != 0 {
		t.Errorf("the gate of what is not joined judged the sum %d times", got)
	}
	refuse = false
	s.ok("1.1b", executor.Decision{Verb: executor.RetryNode, By: "ada"})
	s.begin()
	s.end()
	s.is("1.1b", executor.Done, "", "")
	if got := s.judgings(executor.Integration, "cache"); got != 1 {
		t.Errorf("the gate of what was joined judged the sum %d times", got)
	}
	checks := s.judgings(executor.Integration, "check")
	s.begin() // nothing is new
	s.end()
	if got := s.judgings(executor.Integration, "check"); got != checks {
		t.Errorf("judged %d times more", got-checks)
	}
}

// A gate that changes while the node is in a later step judges what its own step left before
// the node is done, and is on record as what judged it.
func TestAGateThatChangedJudgesAnEarlierStep(t *testing.T) { // execution §2 (only digest.judge)
	lines := []string{"1.1"}
	human := func(e *ir.Epic) {
		twoSteps(e)
		e.Gates["ok"] = ir.Gate{Kind: "human", From: "policy", OnFailure: "retry"}
		e.Nodes[0].Steps[1].Gates = []string{"look", "ok"}
	}
	for name, c := range map[string]struct {
		verdict executor.Verdict
		steps   string
	}{
		"passes": {executor.Pass, "implement review implement"},
		"fails":  {executor.Fail, "implement review implement implement"},
	} {
		s := newScript(t, lines, human)
		s.begin()
		s.end()
		s.is("1.1", executor.Waiting, executor.CauseApproval, "ok asks for approval")
		turns := s.turns()
		s.change(mend(lines, "two", human))
		s.answer = func(e executor.Effect) executor.Body {
			if e.Kind == executor.EffectGate && e.Gate == "check" {
				s.answer = nil
				return executortest.Verdict("check", c.verdict)
			}
			return nil
		}
		s.begin()
		s.end()
		s.ok("1.1", executor.Decision{Verb: executor.Approve, By: "ada"})
		s.begin()
		s.end()
		var steps []string
		for _, a := range s.view("1.1").Attempts {
			steps = append(steps, a.Step)
		}
		if got := strings.Join(steps, " "); !strings.HasPrefix(got, c.steps) {
			t.Errorf("%s: attempts of %s, want %s", name, got, c.steps)
		}
		if c.verdict == executor.Pass {
			s.is("1.1", executor.Done, "", "")
			if got := s.turns(); got != turns {
				t.Errorf("%d turns more", got-turns)
			}
			s.begin() // nothing is left to judge
			s.end()
			if got := s.judgings("bd-1-1", "check"); got != 2 {
				t.Errorf("judged %d times", got)
			}
		} else if got := s.turns(); got == turns {
			t.Error("no agent mended it")
		}
	}
}

// What the plan calls done is done, also where it was begun and came to nothing.
func TestATickedSprintIsDoneAlthoughItIsBlocked(t *testing.T) { // execution §2: done counts for nodes without a recorded success
	lines := []string{"1.1", "1.2: 1.1", "1.3"}
	s := newScript(t, lines)
	s.answer = func(e executor.Effect) executor.Body {
		switch {
		case e.Kind == executor.EffectAgent && e.Node == "bd-1-3":
			return asks("blue?")
		case e.Kind == executor.EffectGate && e.Node == "bd-1-1":
			return executortest.Verdict(e.Gate, executor.Fail)
		}
		return nil
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "3 attempts")
	s.is("1.3", executor.Waiting, executor.CauseQuestion, "blue?")
	turns := s.turns()
	s.change(executortest.Epic(lines, func(e *ir.Epic) { e.Nodes[0].Done, e.Nodes[2].Done, e.Digest = true, true, "sha256:ticked" }))
	ticked := s.run.Summary().Ticked()
	if len(ticked) != 2 {
		t.Fatalf("ticked: %v", ticked)
	}
	tick := func(r *executor.RunStarted) { r.Ticked = ticked }
	if got := s.planned(s.epic, tick); !strings.HasPrefix(got, "1.1: done") || !strings.Contains(got, "1.2: run") {
		t.Errorf("planned\n%s", got)
	}
	s.answer = nil
	s.begin(tick)
	s.end()
	for _, key := range []string{"1.1", "1.2", "1.3"} {
		s.is(key, executor.Done, "", "")
	}
	if got := s.turns() - turns; got != 1 {
		t.Errorf("%d turns of agents, want that of 1.2", got)
	}
}

// What a gate protects now is checked on what is on record, before that is judged again.
func TestAGateThatProtectsNowChecksWhatItJudgesAgain(t *testing.T) { // execution §2 (only digest.judge), §3 (protect)
	for _, breaks := range []bool{false, true} {
		s := newScript(t, []string{"1.1"})
		s.begin()
		s.end()
		turns := s.turns()
		s.change(mend([]string{"1.1"}, "true", func(e *ir.Epic) {
			g := e.Gates["check"]
			g.Protect = []string{"tests/**"}
			e.Gates["check"] = g
		}))
		var looked []executor.Effect
		s.answer = func(e executor.Effect) executor.Body {
			if e.Kind != executor.EffectCollect || !e.Judged {
				return nil
			}
			looked = append(looked, e)
			c := executor.Collected{Result: executor.Tree{Commit: e.Commit, Tree: "7ea"}}
			if breaks {
				c.Problems = []string{"gate check protects what was changed: tests/a"}
			}
			return c
		}
		s.begin()
		s.end()
		s.is("1.1", executor.Done, "", "")
		a := s.view("1.1").Attempts
		if len(looked) != 1 || looked[0].Commit != a[0].Commit || looked[0].Base == "" {
			t.Fatalf("checked %+v", looked)
		}
		if !breaks && s.turns() != turns || breaks && (s.turns() != turns+1 || a[1].Status != executor.AttemptFailed || len(a[1].Gates) > 0) {
			t.Errorf("%v: %d turns more, attempts %+v", breaks, s.turns()-turns, a)
		}
	}
}

// ralph may die between a pass and its record: gates that are others by then have not judged
// it, and do so when the next run looks at it.
func TestAGateThatChangedBeforeAPassWasRecordedJudgesIt(t *testing.T) { // execution §2 (only digest.judge), §9
	s := newScript(t, []string{"1.1"})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectPublish && e.Node == "bd-1-1" })
	s.change(mend([]string{"1.1"}, "two"))
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	if got := s.planned(s.epic); !strings.HasPrefix(got, "1.1: judge") {
		t.Errorf("planned\n%s", got)
	}
	turns := s.turns()
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	if got := s.judgings("bd-1-1", "check"); got != 2 || s.turns() != turns {
		t.Errorf("judged %d times, %d turns more", got, s.turns()-turns)
	}
}

// The journal of an earlier release has verdicts on the sum of gates that are spared now.
func TestAVerdictOfAGateThatIsSparedNowIsRead(t *testing.T) { // execution §5 (the sum); 13: old journals load
	s := newScript(t, []string{"1.1a", "1.1b"}, func(e *ir.Epic) {
		e.Gates["cache"] = ir.Gate{Kind: "command", Run: "true", From: "policy", OnFailure: "retry", ProtectNew: true, TimeoutMS: 60_000}
		e.Nodes[1].Steps[0].Gates = []string{"cache"}
		e.Epic.Integration.Gates = []string{"cache", "check"}
	})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate && e.Node == "bd-1-1b" {
			return executortest.Verdict(e.Gate, executor.Fail)
		}
		return nil
	}
	s.begin()
	s.until(func(e executor.Effect) bool {
		return e.Node == executor.Integration && e.Kind == executor.EffectPrepare
	})
	prepare := s.flying[0]
	s.flying = nil
	s.report(prepare)
	sum := executor.Event{Node: executor.Integration, Step: prepare.Step, Attempt: prepare.Attempt}
	for _, b := range []executor.Body{executor.EffectStarted{Kind: executor.EffectGate, Gate: "cache"}, executortest.Verdict("cache", executor.Pass)} {
		sum.Body = b
		s.put(sum) // it fails the test that it is refused
	}
	s.end()
	if got := s.view(executor.Integration).Status; got != executor.Done {
		t.Errorf("the sum is %s", got)
	}
}

// Earlier releases began anew what other gates or limits leave where it is: their journals load.
func TestALifeThatAnEarlierReleaseBeganAnewIsRead(t *testing.T) { // execution §2; old journals load
	for name, v := range map[string]executor.Verdict{"blocked by a stop": executor.Stop, "judged again": executor.Fail} {
		s := newScript(t, []string{"1.1"}, gatesOf("bad"), step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
		s.answer = saysGate("bad", v)
		s.begin()
		s.end()
		s.is("1.1", executor.Blocked, "", "")
		s.change(executortest.Epic([]string{"1.1"}, gatesOf("lint", "unit"), step(func(s *ir.Step) { s.Limits.Attempts = 1 })))
		s.begin()
		n := s.epic.Nodes[0]
		s.put(executor.Event{Node: n.ID, Body: executor.NodeStarted{Key: n.Key, Work: n.Digest.Work, Judge: n.Digest.Judge, Inputs: []executor.Result{{Node: "base", Tree: s.run.Bases().Base()}}}})
		s.answer = nil
		s.end()
		if got := s.view("1.1"); got.Status != executor.Done || s.turns() != 2 {
			t.Errorf("%s: it is %s after %d turns", name, got.Status, s.turns())
		}
	}
}
