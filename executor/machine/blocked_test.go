package machine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// mend is the epic with another gate.
func mend(lines []string, version string, change ...func(*ir.Epic)) *ir.Epic {
	return executortest.Epic(lines, append(change, func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run = version
		e.Gates["check"], e.Digest = g, "sha256:"+version
	})...)
}

// turns counts the turns of agents.
func (s *stage) turns() (n int) {
	for _, e := range s.events {
		if b, ok := e.Body.(executor.EffectStarted); ok && b.Kind == executor.EffectAgent {
			n++
		}
	}
	return n
}

// checkSays lets gate check of a node say this.
func checkSays(node ir.NodeID, v executor.Verdict) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate && e.Node == node && e.Gate == "check" {
			return executortest.Verdict(e.Gate, v)
		}
		return nil
	}
}

func TestAMendedGateReopensWhatItBlocked(t *testing.T) { // execution §2 (what has no success)
	lines := []string{"1.1", "1.2: 1.1"}
	s := newScript(t, lines)
	s.answer = checkSays("bd-1-1", executor.Fail)
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "3 attempts")
	if by := s.view("1.1").BlockedBy; by != executor.ByGates {
		t.Errorf("it was blocked by %q", by)
	}
	turns := s.turns()

	// Another gate, which fails too: judged once, by nobody else, and blocked again.
	two := mend(lines, "two")
	if got := s.planned(two); !strings.HasPrefix(got, "1.1: judge, its gates changed since it was blocked\n1.2: run\n") {
		t.Errorf("planned\n%s", got)
	}
	s.change(two)
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "gate check failed")
	if got := s.turns() - turns; got != 0 || attempts(s.stage, "1.1") != 4 {
		t.Errorf("%d turns of agents, %d attempts", got, attempts(s.stage, "1.1"))
	}
	s.begin() // the same gates judge nothing twice
	s.end()
	if got := attempts(s.stage, "1.1"); got != 4 {
		t.Errorf("%d attempts", got)
	}

	// A mended one: it goes on.
	s.change(mend(lines, "three"))
	s.answer = nil
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Done, "", "")
	if got := s.turns() - turns; got != 1 {
		t.Errorf("%d turns of agents, want that of 1.2", got)
	}
}

func TestAJudgedAgainBlockOpensNoAllowance(t *testing.T) { // execution §2 (what has no success)
	lines := []string{"1.1"}
	s := newScript(t, lines, twoSteps)
	s.answer = checkSays("bd-1-1", executor.Fail)
	s.begin()
	s.end()
	s.change(mend(lines, "two", twoSteps))
	s.answer = onKind(executor.EffectGate, executortest.Verdict("check", executor.Pass), executortest.Verdict("look", executor.Fail))
	s.begin()
	s.end() // the first step passes, the second goes on, its fail goes to the first
	s.is("1.1", executor.Blocked, "", "used up; last: gate look failed")
	if got := s.turns(); got != 4 {
		t.Errorf("%d turns, want three of implement and one of review", got)
	}
	s.change(mend(lines, "three", twoSteps)) // of the other step: its commit is judged by its gate
	s.answer = nil
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	if got := s.turns(); got != 4 {
		t.Errorf("%d turns", got)
	}
}

func TestWhatAMendedGateDoesNotReopen(t *testing.T) { // execution §2: not after stop, an outcome or a budget
	lines := []string{"1.1"}
	human := func(e *ir.Epic) {
		e.Gates["ok"] = ir.Gate{Kind: "human", TimeoutMS: 1000, OnTimeout: "fail", From: "policy", OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = []string{"check", "ok"}
	}
	budget := func(e *ir.Epic) {
		e.Run.OnExceed, e.Nodes[0].Limits.Budget = "stop", ir.Budget{Tokens: 1}
	}
	many := int64(10)
	for want, c := range map[executor.BlockedBy]struct {
		change func(*ir.Epic)
		answer func(executor.Effect) executor.Body
	}{
		executor.ByStop:   {nil, checkSays("bd-1-1", executor.Stop)},
		executor.ByAgent:  {nil, agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})},
		executor.ByChecks: {nil, onKind(executor.EffectCollect, problem(), problem(), problem())},
		executor.ByPerson: {human, nil},
		executor.ByBudget: {budget, first(checkSays("bd-1-1", executor.Fail), func(e executor.Effect) executor.Body {
			if e.Kind == executor.EffectAgent {
				return ended("success", func(a *executor.AgentEnded) { a.Usage.Tokens = &many })
			}
			return nil
		})},
	} {
		change := []func(*ir.Epic){}
		if c.change != nil {
			change = append(change, c.change)
		}
		s := newScript(t, lines, change...)
		s.answer = c.answer
		s.begin(func(r *executor.RunStarted) { r.Wait = true })
		s.end()
		if v := s.view("1.1"); v.Status != executor.Blocked || v.BlockedBy != want {
			t.Errorf("%s: it is %s by %q (%s)", want, v.Status, v.BlockedBy, v.Reason)
			continue
		}
		before := len(s.view("1.1").Attempts)
		s.change(mend(lines, "two", change...))
		s.begin()
		s.end()
		if v := s.view("1.1"); v.Status != executor.Blocked || len(v.Attempts) != before {
			t.Errorf("%s: mended gates made it %s with %d more attempts", want, v.Status, len(v.Attempts)-before)
		}
	}
}

func problem() executor.Collected {
	return executor.Collected{Result: executor.Tree{Commit: "bad", Tree: "bad"}, Problems: []string{"it changed a protected file"}}
}

func TestAMendedGateOfALanding(t *testing.T) { // execution §2, §5 (mode branch)
	lines := []string{"1.1"}
	once := step(func(s *ir.Step) { s.Limits.Attempts = 1 })
	s := newScript(t, lines, mode("branch", "none"), once)
	fail := true
	s.answer = first(heads("h0"), func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate && e.Step == machine.LandStep && fail {
			return executortest.Verdict(e.Gate, executor.Fail)
		}
		return nil
	})
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "gate check failed")
	for _, version := range []string{"two", "three"} {
		s.change(mend(lines, version, mode("branch", "none"), once))
		s.begin()
		if v := s.view("1.1"); v.Step != "implement" {
			t.Errorf("it stands at step %q, want the last one", v.Step)
		}
		s.end()
		if fail {
			s.is("1.1", executor.Blocked, "", "gate check failed")
		}
		fail = false
	}
	s.is("1.1", executor.Done, "", "")
	if got := s.turns(); got != 1 {
		t.Errorf("%d turns", got)
	}
}

func TestABlockedTextThatChangedIsPending(t *testing.T) { // execution §2 (what has no success)
	lines := []string{"1.1"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	s.change(other(lines, "two", "1.1"))
	s.answer = checkSays("bd-1-1", executor.Fail)
	s.begin()
	s.end()
	if got := s.planned(other(lines, "three", "1.1")); !strings.HasPrefix(got, "1.1: run, changed since it was blocked\n") {
		t.Errorf("planned\n%s", got)
	}
	if got := s.planned(s.epic); !strings.HasPrefix(got, "1.1: blocked, ") {
		t.Errorf("planned\n%s", got)
	}
}

// What journals of earlier releases say in prose alone is read when they are loaded.
func TestAReasonOfAnEarlierReleaseIsUnderstood(t *testing.T) { // execution §2
	for reason, want := range map[string]executor.BlockedBy{
		"the 3 attempts of step implement used up; last: gate check failed: exit 1":              executor.ByGates,
		"the one attempt of step implement used up; last: the agent reported failure: I give up": executor.ByAgent,
		"the same failure 2 times in a row: gate check failed: exit 1":                           executor.ByGates,
		"the 3 attempts of step s used up; last: gate ok failed: nobody decided in 24h0m0s":      executor.ByPerson,
		"gate check said stop: no":                            executor.ByStop,
		"the agent reported a fatal result: all is lost":      executor.ByStop,
		"its budget: 10 of 5 tokens are used":                 executor.ByBudget,
		"the run's budget: $2.00 of $1.00 are spent":          executor.ByBudget,
		"pull request #3: it was closed without being merged": executor.ByPull,
		"something else": "",
	} {
		data, err := json.Marshal(reason)
		if err != nil {
			t.Fatal(err)
		}
		var e executor.Event
		if err := e.UnmarshalJSON([]byte(`{"v":1,"seq":1,"at":1,"kind":"node.blocked","node":"bd-1","data":{"reason":` + string(data) + `}}`)); err != nil {
			t.Fatal(err)
		}
		if got := e.Body.(executor.NodeBlocked).By; got != want {
			t.Errorf("%q: %q, want %q", reason, got, want)
		}
	}
}

// Gates that a node shares with what it needs: that is judged first, then the node.
func TestAMendedGateBehindOneThatIsJudgedAgain(t *testing.T) { // execution §2
	lines := []string{"1.1", "1.2: 1.1", "1.3: 1.2"}
	for name, c := range map[string]struct {
		first  executor.Verdict // of gate check about 1.1, mended
		change func(*script)    // before the next run
		status executor.NodeStatus
	}{
		"it passes": {executor.Pass, nil, executor.Done},
		"ralph dies before 1.1 is judged": {executor.Pass, func(s *script) {
			s.begin()
			s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectGate })
		}, executor.Done},
		"it fails, and what it makes then is another": {executor.Fail, nil, executor.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, lines)
			s.answer = checkSays("bd-1-2", executor.Fail)
			s.begin()
			s.end()
			s.is("1.2", executor.Blocked, "", "3 attempts")
			turns := s.turns()
			two := mend(lines, "two")
			if got := s.planned(two); !strings.HasPrefix(got, "1.1: judge, its gates changed\n1.2: judge, its gates changed since it was blocked; after 1.1\n1.3: run\n") {
				t.Errorf("planned\n%s", got)
			}
			s.change(two)
			s.answer = nil
			if c.change != nil {
				c.change(s)
			}
			said := false
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectGate && e.Node == "bd-1-1" && !said {
					said = true
					return executortest.Verdict(e.Gate, c.first)
				}
				return nil
			}
			s.begin()
			s.end()
			s.is("1.1", executor.Done, "", "")
			s.is("1.2", c.status, "", "")
			if c.status == executor.Done {
				s.is("1.3", executor.Done, "", "")
				if got := s.turns() - turns; got != 1 {
					t.Errorf("%d turns of agents, want that of 1.3", got)
				}
			} else {
				s.is("1.2", c.status, "", "gate check failed")
				s.is("1.3", executor.Pending, "", "needs 1.2 (blocked)")
			}
			s.replay()
		})
	}
}

// An earlier release left such a node blocked, and a person's word about it is on record.
func TestAWordAboutWhatIsToBeJudgedAgain(t *testing.T) { // execution §2
	lines := []string{"1.1", "1.2: 1.1"}
	for _, d := range []executor.Decision{retry, {Verb: executor.RetryNode, How: executor.GatesOnly}, {Verb: executor.Skip}, {Verb: executor.Cancel}} {
		for _, node := range []ir.NodeID{"bd-1-1", "bd-1-2"} {
			s := newScript(t, lines)
			s.answer = checkSays(node, executor.Fail)
			s.begin()
			s.end()
			s.change(mend(lines, "two"))
			s.answer = nil
			before := len(s.events)
			s.begin()
			key := strings.ReplaceAll(strings.TrimPrefix(string(node), "bd-"), "-", ".")
			if node == "bd-1-2" {
				s.end()
				for i, e := range s.events { // 1.2 has not begun yet
					if _, done := e.Body.(executor.NodeDone); done && i > before && e.Node == "bd-1-1" {
						s.events = s.events[:i+1]
						break
					}
				}
				s.lateReplay()
				s.is("1.1", executor.Done, "", "")
				s.is("1.2", executor.Waiting, "", "its gates changed")
			}
			s.ok(key, d)
			s.end()
			if v := s.view(key); d.Verb == executor.RetryNode && v.Status != executor.Done {
				t.Errorf("%s of %s: it is %s: %s", d.Verb, key, v.Status, v.Reason)
			}
			s.replay()
		}
	}
}

// What blocks is what the verdict was found by, whatever else is wrong.
func TestWhatBlocksIsWhatWasFoundFirst(t *testing.T) { // execution §2
	once := step(func(s *ir.Step) { s.Limits.Attempts = 1 })
	end := func(change func(*executor.AgentEnded)) executor.AgentEnded { return ended("success", change) }
	for name, c := range map[string]struct {
		agent    executor.AgentEnded
		problems bool
		goOn     bool // a person has it judged all the same
		gate     executor.Verdict
		want     executor.BlockedBy
	}{
		"its agent failed, and it changed what it may not": {failed(), true, false, executor.Pass, executor.ByAgent},
		"its report is invalid, and it did so":             {end(func(a *executor.AgentEnded) { a.Outcome = executor.Outcome{Invalid: "no JSON"} }), true, false, executor.Pass, executor.ByAgent},
		"its time was over, and it did so":                 {end(func(a *executor.AgentEnded) { a.End = executor.EndTimeout }), true, false, executor.Pass, executor.ByAgent},
		"it did so alone":                                  {ended("success"), true, false, executor.Pass, executor.ByChecks},
		"its gate failed":                                  {ended("success"), false, false, executor.Fail, executor.ByGates},
		"it asked, was to be judged, and its gate failed":  {asks("so?"), false, true, executor.Fail, executor.ByGates},
		"it failed and asked, and its gate failed": {
			end(func(a *executor.AgentEnded) {
				a.Outcome = executor.Outcome{Result: "failed", NeedsHuman: true, Summary: "so?"}
			}), false, true, executor.Fail, executor.ByGates,
		},
	} {
		s := newStage(t, []string{"1.1"}, once)
		s.answer = first(agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {c.agent, c.agent}}), checkSays("bd-1-1", c.gate), func(e executor.Effect) executor.Body {
			if e.Kind == executor.EffectCollect && c.problems {
				return problem()
			}
			return nil
		})
		s.begin(func(r *executor.RunStarted) { r.Wait = true })
		s.until(nil)
		if c.goOn {
			s.is("1.1", executor.Waiting, executor.CauseQuestion, "so?")
			s.ok("1.1", executor.Decision{Verb: executor.Approve})
			s.until(nil)
		}
		if v := s.view("1.1"); v.Status != executor.Blocked || v.BlockedBy != c.want {
			t.Errorf("%s: it is %s by %q (%s), want %q", name, v.Status, v.BlockedBy, v.Reason, c.want)
		}
	}
}

// A node without an agent is not sent back by a closed pull request: it is blocked by that.
func TestAClosedPullRequestBlocksWhatNobodyWouldDoBetter(t *testing.T) { // execution §7
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, mode("wait", "none"), func(e *ir.Epic) {
		n := &e.Nodes[0]
		n.Kind, n.Steps[0].Agent, n.Steps[0].Access = ir.GateKind, "", "read"
	})
	s.answer = onKind(executor.EffectPoll, executor.PullSeen{State: "closed", Comment: "not like this"})
	s.begin(func(r *executor.RunStarted) { r.Wait = true })
	s.until(nil)
	if v := s.view("1.1"); v.Status != executor.Blocked || v.BlockedBy != executor.ByPull || !strings.Contains(v.Reason, "not like this") {
		t.Errorf("it is %s by %q: %s", v.Status, v.BlockedBy, v.Reason)
	}
}

// What is judged again is the commit that was judged, and only where it was asked for.
func TestAMendedGateJudgesWhatWasMade(t *testing.T) { // execution §2
	lines := []string{"1.1", "1.2"}
	s := newScript(t, lines, twoSteps)
	s.answer = checkSays("bd-1-1", executor.Fail)
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "gate check failed")
	logs := s.view("1.1").Attempts
	made := logs[len(logs)-1].Collected.Result.Commit
	for _, version := range []string{"two", "three"} { // the second is of an attempt that only judged
		s.change(mend(lines, version, twoSteps))
		s.begin(func(r *executor.RunStarted) { r.Only = []ir.NodeID{"bd-1-2"} })
		s.end()
		if got := len(s.view("1.1").Attempts); got != len(logs) {
			t.Errorf("%s: %d attempts of what was not asked for, want %d", version, got, len(logs))
		}
		judged := ""
		s.answer = func(e executor.Effect) executor.Body {
			if e.Kind == executor.EffectGate && e.Node == "bd-1-1" {
				judged = e.Commit
				return executortest.Verdict(e.Gate, executor.Fail)
			}
			return nil
		}
		s.begin()
		s.end()
		if logs = s.view("1.1").Attempts; judged != made || made == "" {
			t.Errorf("%s: commit %q is judged, want %q", version, judged, made)
		}
	}
}

// A node whose text changed as well is to be worked on, not only judged, also behind
// one that is judged again.
func TestOtherGatesOfAnotherTextJudgeNothing(t *testing.T) { // execution §2
	lines := []string{"1.1", "1.2: 1.1"}
	s := newScript(t, lines)
	s.answer = checkSays("bd-1-2", executor.Fail)
	s.begin()
	s.end()
	s.is("1.2", executor.Blocked, "", "gate check failed")
	two := mend(lines, "two", func(e *ir.Epic) { e.Nodes[1].Prompt = []string{"Do it otherwise."} })
	if got := s.planned(two); !strings.HasPrefix(got, "1.1: judge, its gates changed\n1.2: run, ") || strings.Contains(got, "1.2: judge") {
		t.Errorf("planned\n%s", got)
	}
	turns := s.turns()
	s.change(two)
	s.answer = nil
	s.begin()
	s.end()
	s.is("1.2", executor.Done, "", "")
	if got := s.turns() - turns; got != 1 {
		t.Errorf("%d turns of agents, want that of 1.2", got)
	}
}
