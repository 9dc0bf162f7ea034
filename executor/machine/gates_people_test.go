package machine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// approval adds a human gate behind the others of the first node.
func approval(e *ir.Epic) {
	e.Gates["lead"] = ir.Gate{Kind: "human", Approvers: []string{"ann", "bob"}, OnTimeout: "fail", OnFailure: "retry", TimeoutMS: (48 * time.Hour).Milliseconds(), ProtectNew: true}
	e.Nodes[0].Steps[0].Gates = []string{"check", "lead"}
}

func attempts(s *stage, key string) int { return len(s.view(key).Attempts) }

func TestAHumanGateIsApproved(t *testing.T) { // execution §5 "human gate", "Approval of a node binds to"; S0-57, S1-16, S1-17, S4-95..98
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, approval)
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseApproval, "lead")
	v := s.view("1.1")
	if v.Gate != "lead" || strings.Join(v.Approvers, " ") != "ann bob" || v.Until.IsZero() {
		t.Errorf("gate %q, approvers %v, until %s", v.Gate, v.Approvers, v.Until)
	}
	if w := v.Word(executor.WordsBead); w != "awaiting_approval" {
		t.Errorf("its bead is %q", w)
	}
	approve := executor.Decision{Verb: executor.Approve}
	s.no("1.1", executor.Decision{Verb: executor.Approve, By: "eve"}, "may not approve")
	s.no("1.1", executor.Decision{Verb: executor.Approve, Gate: "check"}, "different gate")
	s.no("1.1", executor.Decision{Verb: executor.Approve, Result: "t999"}, "different result")
	s.no("1.1", executor.Decision{Verb: executor.Approve, Base: "t999"}, "different base")
	s.no("1.1", executor.Decision{Verb: executor.Approve, How: executor.Override, Message: "x"}, "could not be judged")
	s.no("1.1", retry, "retry does not end this wait")
	s.ok("1.1", approve)
	d := s.view("1.1").Decisions[0]
	if d.Gate != "lead" || d.Digest != ir.GateDigest(s.epic, "lead") || d.Result == "" || d.Base != "tree-base" || d.User != "unix" {
		t.Errorf("bound to %+v", d)
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Done, "", "")
	if g := s.view("1.1").Attempts[0].Gates; g[len(g)-1].By != "ann" || g[len(g)-1].Verdict != executor.Pass {
		t.Errorf("gates %+v", g)
	}
}

func TestAHumanGateRejects(t *testing.T) { // execution §5: "next attempt, costs none, resets the breaker"; S1-18, S4-99; S4-100
	s := newStage(t, []string{"1.1"}, approval, func(e *ir.Epic) {
		e.Nodes[0].Steps[0].Limits.Attempts = 1
		e.Nodes[0].Limits.StepLimits = e.Nodes[0].Steps[0].Limits
	})
	s.begin()
	for i := range 4 { // more often than there are attempts
		s.until(nil)
		s.is("1.1", executor.Waiting, executor.CauseApproval, "lead")
		if got := attempts(s, "1.1"); got != i+1 {
			t.Fatalf("%d attempts, want %d", got, i+1)
		}
		s.no("1.1", executor.Decision{Verb: executor.Reject}, "-m TEXT")
		s.no("1.1", executor.Decision{Verb: executor.Reject, By: "eve", Message: "no"}, "may not reject")
		s.ok("1.1", executor.Decision{Verb: executor.Reject, By: "bob", Message: "name it otherwise"})
		s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
		if p := string(s.run.Node("bd-1-1").Prompt()); !strings.Contains(p, "name it otherwise") || !strings.Contains(p, "bob") {
			t.Fatalf("the prompt does not say what bob wants:\n%s", p)
		}
		last := s.view("1.1").Attempts[i]
		if g := last.Gates[len(last.Gates)-1]; last.Status != executor.AttemptFailed || g.Gate != "lead" || g.By != "bob" || g.Verdict != executor.Fail {
			t.Errorf("attempt %s, last gate %+v", last.Status, g)
		}
	}
	s.until(nil)
	s.ok("1.1", executor.Decision{Verb: executor.Approve})
	s.end()
	s.is("1.1", executor.Done, "", "")
}

func TestAnApprovalOfSomethingElseDoesNotCount(t *testing.T) { // execution §5 "Approval of a node binds to"
	for name, c := range map[string]struct {
		change func(*ir.Epic)
		counts bool
	}{
		"nothing changed":            {func(*ir.Epic) {}, true},
		"another gate changed":       {func(e *ir.Epic) { g := e.Gates["check"]; g.Run = "false"; e.Gates["check"] = g }, true},
		"the gate changed":           {func(e *ir.Epic) { g := e.Gates["lead"]; g.Approvers = []string{"bob"}; e.Gates["lead"] = g }, false},
		"the work, so the result is": {func(e *ir.Epic) { e.Nodes[0].Prompt = []string{"Do something else."} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, approval)
			s.begin()
			s.end()
			s.ok("1.1", executor.Decision{Verb: executor.Approve})
			s.epic = executortest.Epic([]string{"1.1"}, approval, c.change)
			s.epic.Digest = "sha256:2"
			s.fresh()
			for _, e := range s.events {
				if err := s.run.Apply(e); err != nil {
					t.Fatal(err)
				}
			}
			s.begin()
			s.end()
			want := executor.Waiting
			if c.counts {
				want = executor.Done
			}
			if v := s.view("1.1"); v.Status != want {
				t.Errorf("it is %s: %s; want %s", v.Status, v.Reason, want)
			}
		})
	}
}

func TestNobodyDecidesInTime(t *testing.T) { // execution §4: human gate, timeout
	s := newStage(t, []string{"1.1"}, approval, func(e *ir.Epic) { g := e.Gates["lead"]; g.OnTimeout = "stop"; e.Gates["lead"] = g })
	s.begin(func(r *executor.RunStarted) { r.Wait = true })
	s.until(func(executor.Effect) bool { return s.view("1.1").Status == executor.Blocked })
	s.is("1.1", executor.Blocked, "", "nobody decided in 48h")
}

func TestAGateThatCannotBeJudgedWaits(t *testing.T) { // execution §4, §5: gate error; K15
	for name, c := range map[string]struct {
		say  executor.Decision
		want int // attempts
	}{
		"retried":    {retry, 1},
		"rejected":   {executor.Decision{Verb: executor.Reject, Message: "it hangs: mend it"}, 2},
		"overridden": {executor.Decision{Verb: executor.Approve, How: executor.Override, Message: "the server is down, I looked myself"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"})
			verdict := executor.ErrorJudged
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectGate && e.Node == "bd-1-1" {
					return executortest.Verdict(e.Gate, verdict)
				}
				return nil
			}
			s.begin()
			s.end()
			s.is("1.1", executor.Waiting, executor.CauseGate, "check")
			s.no("1.1", executor.Decision{Verb: executor.Approve}, "no verdict")
			s.no("1.1", executor.Decision{Verb: executor.Approve, How: executor.Override}, "-m TEXT")
			s.ok("1.1", c.say)
			if c.say.Verb != executor.Approve {
				verdict = executor.Pass
			}
			s.begin()
			s.end()
			s.is("1.1", executor.Done, "", "")
			if got := attempts(s, "1.1"); got != c.want {
				t.Errorf("%d attempts, want %d", got, c.want)
			}
			if g := s.view("1.1").Attempts[0].Gates; name == "overridden" && (len(g) != 1 || g[0].By != "ann" || !strings.Contains(g[0].Message, "overridden: the server is down")) {
				t.Errorf("gates %+v", g)
			}
		})
	}
}

func TestAGateThatPassesBeforeAnyWorkIsOverridden(t *testing.T) { // L3-02
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) { g := e.Gates["check"]; g.RedFirst = true; e.Gates["check"] = g })
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectRed {
			j := executortest.Verdict(e.Gate, executor.Pass)
			j.Red = true
			return j
		}
		return nil
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseGate, "passed before any work")
	s.no("1.1", executor.Decision{Verb: executor.Reject, Message: "x"}, "no work to reject yet")
	s.ok("1.1", executor.Decision{Verb: executor.Approve, How: executor.Override, Message: "it guards what is there"})
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
}

func TestAConflictIsResolvedByAPerson(t *testing.T) { // execution §5: conflict
	s := newStage(t, []string{"1.1", "1.2", "2.1: 1.1 1.2"}, func(e *ir.Epic) {
		a := e.Agents["dev"]
		a.Access = "read"
		e.Agents["dev"] = a
	})
	problems := []string{"unresolved conflict markers in a.txt"}
	s.answer = func(e executor.Effect) executor.Body {
		if e.Node != "bd-2-1" {
			return nil
		}
		switch {
		case e.Kind == executor.EffectBase:
			return executor.EffectFailed{Class: executor.FailConflict, Detail: "they do not merge", Paths: []string{"a.txt"}}
		case e.Kind == executor.EffectAgent && e.Merge:
			return failed()
		case e.Kind == executor.EffectCollect && e.Merge && e.Person:
			return executor.Collected{Result: executor.Tree{Commit: "merged", Tree: "merged"}, Problems: problems}
		}
		return nil
	}
	s.begin()
	s.end()
	s.is("2.1", executor.Waiting, executor.CauseConflict, "a.txt")
	s.ok("2.1", executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly})
	s.end()
	s.is("2.1", executor.Waiting, executor.CauseConflict, "not resolved yet")
	problems = nil
	s.ok("2.1", executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly})
	s.begin()
	s.end()
	s.is("2.1", executor.Done, "", "")
}

func TestTheSumsConflictIsResolvedByAPerson(t *testing.T) { // execution §5: conflict, "the sum"
	s := newStage(t, []string{"1.1", "1.2"})
	var collected []executor.Effect
	s.answer = func(e executor.Effect) executor.Body {
		switch {
		case e.Node != executor.Integration:
		case e.Kind == executor.EffectBase:
			return executor.EffectFailed{Class: executor.FailConflict, Detail: "they do not merge", Paths: []string{"a.txt"}}
		case e.Kind == executor.EffectCollect:
			collected = append(collected, e)
			return executor.Collected{Result: executor.Tree{Commit: "merged", Tree: "merged"}}
		}
		return nil
	}
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseConflict, "a.txt")
	n := len(s.events)
	s.begin() // somebody may be at work on it
	s.end()
	for _, e := range s.events[n:] {
		if e.Node == executor.Integration {
			t.Errorf("nobody has said anything, and %s", e.Kind())
		}
	}
	s.ok(executor.Integration, executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly})
	s.begin() // said while nothing ran: the next run takes it up
	s.end()
	s.is(executor.Integration, executor.Done, "", "")
	if len(collected) != 1 || !collected[0].Merge || !collected[0].Person {
		t.Errorf("collected %+v", collected)
	}
}

func TestForeignCommitsAreAcceptedOrReplaced(t *testing.T) { // execution §5 "Foreign commits on top"
	for _, d := range []executor.Decision{{Verb: executor.Approve}, retry} {
		s := newStage(t, []string{"1.1"})
		foreign := true
		var published []executor.Effect
		s.answer = func(e executor.Effect) executor.Body {
			if e.Kind != executor.EffectPublish || e.Node != executor.Integration {
				return nil
			}
			if published = append(published, e); foreign {
				return executor.EffectFailed{Class: executor.FailForeign, Detail: "2 commits are not ralph's", Head: executor.Tree{Commit: "theirs", Tree: "t-theirs"}}
			}
			return nil
		}
		s.begin()
		s.end()
		s.is(executor.Integration, executor.Waiting, executor.CauseForeign, "not ralph's")
		foreign = false
		s.ok(executor.Integration, d)
		s.begin(stands("theirs"))
		s.end()
		s.is(executor.Integration, executor.Done, "", "")
		if last := published[len(published)-1]; last.Old != "theirs" {
			t.Errorf("%s: the branch moves from %q, want from theirs", d.Verb, last.Old)
		}
		var merged bool
		for _, in := range published[len(published)-1].Inputs {
			merged = merged || in.Commit == "theirs"
		}
		if merged != (d.Verb == executor.Approve) {
			t.Errorf("%s: made from %+v", d.Verb, published[len(published)-1].Inputs)
		}
	}
}

func TestAnOldSuccessIsKept(t *testing.T) { // execution §2 "--rerun", §5 "--keep-old"
	keep := executor.Decision{Verb: executor.RetryNode, How: executor.KeepOld}
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	s.begin()
	s.end()
	s.no("1.1", keep, "no earlier success to keep")
	old := s.view("1.1").Result
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.begin(func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-1"} })
	s.end()
	s.is("1.1", executor.Blocked, "", "")
	s.ok("1.1", keep)
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Done, "", "")
	if got := s.view("1.1").Result; got != old {
		t.Errorf("result %v, want the old one %v", got, old)
	}
	if got := attempts(s, "1.2"); got != 1 {
		t.Errorf("1.2 was run %d times, want once", got)
	}
}

func TestTheSumSaysWhatItLeavesOut(t *testing.T) { // execution §5 "the sum"
	s := newStage(t, []string{"1.1", "1.2", "1.3: 1.2", "2.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
	s.begin()
	s.ok("2.1", executor.Decision{Verb: executor.Cancel, Message: "not now"})
	s.end()
	var got []string
	for _, l := range s.run.Integration().Branch(nil).LeftOut {
		got = append(got, string(l.Key)+": "+l.Why)
	}
	want := "1.2: blocked: the 3 attempts of step implement used up; last: the agent reported failure: cannot\n" +
		"1.3: pending: needs 1.2 (blocked)\n2.1: cancelled by ann: not now"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestABlockedSumIsMadeAnew(t *testing.T) { // execution §5: the reserved key integration
	s := newStage(t, []string{"1.1", "1.2"}, func(e *ir.Epic) { e.Epic.Integration.Gates = []string{"check"} })
	verdict := executor.Fail
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate && e.Node == executor.Integration {
			return executortest.Verdict(e.Gate, verdict)
		}
		return nil
	}
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Blocked, "", "check")
	s.is("1.1", executor.Done, "", "") // never its own state
	s.no(executor.Integration, executor.Decision{Verb: executor.Approve}, "nothing to approve")
	s.no(executor.Integration, executor.Decision{Verb: executor.Cancel}, "cannot be cancelled")
	s.no(executor.Integration, executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly}, "no worktree of its own")
	verdict = executor.Pass
	s.ok(executor.Integration, retry)
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Done, "", "")
	if got := attempts(s, "1.1"); got != 1 {
		t.Errorf("1.1 ran %d times", got)
	}
}
