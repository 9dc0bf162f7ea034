package machine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

var (
	handIn = executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly}
	cancel = executor.Decision{Verb: executor.Cancel}
	force  = executor.Decision{Verb: executor.Skip, How: executor.Forced}
	pause  = executor.Decision{Verb: executor.Pause}
	resume = executor.Decision{Verb: executor.Resume}
)

// asking is a stage on which 1.1 waits for an answer.
func asking(t *testing.T, lines []string, change ...func(*ir.Epic)) *stage {
	t.Helper()
	s := newStage(t, lines, change...)
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("blue or red?")}})
	s.begin()
	s.until(nil)
	s.is("1.1", executor.Waiting, executor.CauseQuestion, "blue or red?")
	return s
}

// What does not apply is refused, and nothing changes.
func TestWhatDoesNotApplyIsRefused(t *testing.T) { // execution §5
	one := []string{"1.1"}
	for name, c := range map[string]struct {
		bring func(*testing.T) *stage
		key   string
		d     executor.Decision
		words string
	}{
		"a budget with another verb": {
			func(t *testing.T) *stage { return asking(t, one) },
			"1.1",
			executor.Decision{Verb: executor.RetryNode, Budget: ir.Budget{Tokens: 1}, Message: "x"},
			"retry cannot add to a budget",
		},
		"a skip while the result is published": {published, "1.1", force, "is being published right now"},
		"a cancel then":                        {published, "1.1", cancel, "is being published right now"},
		"a retry of what waits for a time": {
			func(t *testing.T) *stage {
				s := newStage(t, []string{"1.1", "2.1"}, step(func(s *ir.Step) { s.Retry = ir.Retry{Backoff: "fixed", InitialMS: 3600_000} }))
				s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed()}})
				s.begin()
				s.until(func(e executor.Effect) bool { return e.Node == "bd-2-1" && e.Kind == executor.EffectAgent })
				s.is("1.1", executor.Waiting, "", "")
				return s
			},
			"1.1", retry, "1.1 is waiting for a timer",
		},
		"a node that waits as the whole run is held": {
			func(t *testing.T) *stage { s := heldNode(t); s.begin(); return s },
			"1.1", resume, "waits because the whole run is held",
		},
		"a retry of what another epic.json changed": {
			func(t *testing.T) *stage {
				s := asking(t, one)
				s.under(executortest.Epic(one, func(e *ir.Epic) { e.Nodes[0].Prompt = []string{"Do another thing."} }))
				return s
			},
			"1.1",
			executor.Decision{Verb: executor.RetryNode, Message: "red"},
			"epic.json has changed it",
		},
		"handing in what was built on other results": {
			func(t *testing.T) *stage {
				s := newStage(t, []string{"1.1", "1.2: 1.1"})
				s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
				s.begin()
				s.end()
				s.is("1.2", executor.Blocked, "", "3 attempts")
				s.begin(func(e *executor.RunStarted) { e.Rerun = []ir.NodeID{"bd-1-1"} })
				return s
			},
			"1.2", handIn, "its inputs have changed since it was blocked",
		},
		"handing in where nobody has worked": {
			func(t *testing.T) *stage {
				s := newStage(t, one, func(e *ir.Epic) { e.Nodes[0].Limits.Deadline = "1970-01-01T00:00:01Z" })
				s.begin()
				s.until(nil)
				s.is("1.1", executor.Waiting, executor.CauseDeadline, "")
				return s
			},
			"1.1", handIn, "there is no attempt to continue from",
		},
		"an earlier success of what has none":   {func(t *testing.T) *stage { return asking(t, one) }, "1.1", keepOld, "no earlier success"},
		"an earlier success of what is done":    {finished, "1.1", keepOld, "no earlier success"},
		"an earlier success of what is skipped": {func(t *testing.T) *stage { s := again(t); s.ok("1.1", force); return s }, "1.1", keepOld, "no earlier success"},
		"an earlier sum": {
			func(t *testing.T) *stage {
				s := finished(t)
				s.is(executor.Integration, executor.Done, "", "")
				s.under(executortest.Epic(one, func(e *ir.Epic) { e.Nodes[0].Prompt = []string{"Do another thing."} }))
				return s
			},
			executor.Integration, keepOld, "no earlier success",
		},
		"an earlier success of what runs": {again, "1.1", keepOld, "no earlier success"},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.bring(t)
			before := executortest.Statuses(s.run)
			s.no(c.key, c.d, c.words)
			if after := executortest.Statuses(s.run); after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// under reads the journal with another epic.json, as a command that is no apply does.
func (s *stage) under(epic *ir.Epic) {
	s.t.Helper()
	s.epic = epic
	s.fresh()
	for _, e := range s.events {
		if err := s.run.Apply(e); err != nil {
			s.t.Fatal(err)
		}
	}
}

// published is a stage on which the result of 1.1 is being published.
func published(t *testing.T) *stage {
	s := newStage(t, []string{"1.1"})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Node == "bd-1-1" && e.Kind == executor.EffectPublish })
	return s
}

func finished(t *testing.T) *stage {
	s := newStage(t, []string{"1.1"})
	s.begin()
	s.end()
	return s
}

// again is a stage on which the agent of 1.1 works, which was done before.
func again(t *testing.T) *stage {
	s := finished(t)
	s.begin(func(e *executor.RunStarted) { e.Rerun = []ir.NodeID{"bd-1-1"} })
	s.until(func(e executor.Effect) bool { return e.Node == "bd-1-1" && e.Kind == executor.EffectAgent })
	return s
}

// A refusal says what can be decided instead.
func TestARefusalNamesTheWays(t *testing.T) { // execution §5
	s := asking(t, []string{"1.1", "2.1: 1.1"})
	hint := func(key string, d executor.Decision) string {
		no, ok := errors.AsType[*executor.Refused](s.say(key, d))
		if !ok {
			t.Fatalf("%s is not refused", d.Verb)
		}
		return no.Hint
	}
	for key, want := range map[string]string{"1.1": "ralph retry 1.1 -m TEXT", "2.1": "ralph skip 2.1"} {
		if got := hint(key, retry); !strings.Contains(got, want) {
			t.Errorf("the hint for %s lacks %s: %q", key, want, got)
		}
	}
}

// Cancelling ends a pause; what was cancelled and reopened can be retried later as any other.
func TestWhatIsCancelledBeginsAnewInFull(t *testing.T) { // execution §5: cancel, pause
	s := newStage(t, []string{"1.1", "2.1"})
	s.ok("1.1", cancel)
	s.ok("1.1", retry)
	s.is("1.1", executor.Pending, "", "")
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("blue?")}})
	s.begin()
	s.ok("2.1", pause)
	s.ok("2.1", cancel)
	s.ok("2.1", retry)
	s.end()
	s.is("2.1", executor.Done, "", "")
	s.is("1.1", executor.Waiting, executor.CauseQuestion, "")
	s.ok("1.1", cancel)
	s.ok("1.1", retry)
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.no("1.1", retry, "there is nothing to retry")
}

// What is taken back from being skipped is waited for, beside what else is needed.
func TestWhatIsNoLongerSkippedIsWaitedFor(t *testing.T) { // execution §3, §5; S1-19
	s := newStage(t, []string{"1.1", "2.1", "3.1: 1.1 2.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("blue?"), asks("still blue?")}, "bd-2-1": {asks("red?")}})
	s.begin()
	s.until(nil)
	s.ok("1.1", executor.Decision{Verb: executor.Skip})
	s.ok("1.1", retry)
	s.ok("2.1", executor.Decision{Verb: executor.RetryNode, Message: "red"})
	s.until(nil)
	s.is("2.1", executor.Done, "", "")
	s.is("1.1", executor.Waiting, executor.CauseQuestion, "still blue?")
	s.is("3.1", executor.Pending, "", "needs 1.1")
}

// A sprint that is resumed while the run goes on begins in it.
func TestWhatIsResumedBeginsAtOnce(t *testing.T) { // execution §5: pause
	s := newStage(t, []string{"1.1", "2.1: 1.1"})
	s.ok("2.1", pause)
	s.begin()
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	s.is("2.1", executor.Pending, "", "paused by ann")
	s.ok("2.1", resume)
	s.until(nil)
	s.is("2.1", executor.Done, "", "")
}

// An answer brings a new allowance, also after attempts that failed.
func TestAnAnswerBringsANewAllowance(t *testing.T) { // execution §3 "new allowance", §5
	s := newStage(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.Attempts = 2 }))
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), asks("blue?"), failed(), executortest.Success()}})
	s.begin()
	s.until(nil)
	s.is("1.1", executor.Waiting, executor.CauseQuestion, "blue?")
	s.ok("1.1", executor.Decision{Verb: executor.RetryNode, Message: "blue"})
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	if got := len(s.view("1.1").Attempts); got != 4 {
		t.Errorf("%d attempts, want 4", got)
	}
}

// What a person rejects tells the next attempt why, and nothing else ends the wait.
func TestARejectionIsTold(t *testing.T) { // execution §5: reject; L1-03
	s := newScript(t, []string{"1.1"}, gatesOf("unit"), approved(0))
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseApproval, "ok asks for approval")
	s.ok("1.1", executor.Decision{Verb: executor.Reject, Message: "the button is green"})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	if p := string(s.run.Node("bd-1-1").Prompt()); strings.Count(p, "the button is green") == 0 {
		t.Errorf("the prompt does not hold it:\n%s", p)
	}
}

// A blocked sprint goes on where it was, but from other results it begins anew.
func TestABlockedSprintBeginsAnewFromOtherResults(t *testing.T) { // execution §2, §5: retry
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	s.is("1.2", executor.Blocked, "", "3 attempts")
	old := s.view("1.1").Result.Commit
	s.begin(func(e *executor.RunStarted) { e.Rerun = []ir.NodeID{"bd-1-1"} })
	s.until(nil)
	s.is("1.2", executor.Blocked, "", "3 attempts")
	s.ok("1.2", retry)
	s.until(nil)
	s.is("1.2", executor.Done, "", "")
	var from string
	for _, e := range s.events {
		if b, ok := e.Body.(executor.NodeStarted); ok && e.Node == "bd-1-2" {
			from = b.Inputs[0].Commit
		}
	}
	if now := s.view("1.1").Result.Commit; from != now || now == old {
		t.Errorf("1.2 was done from %s; 1.1 has %s, and had %s", from, now, old)
	}
}

// A person who took the session over goes on, gives it back, or has it judged.
func TestATakeoverEndsByAPerson(t *testing.T) { // execution §3 sessions, §5
	taken := executor.AgentEnded{End: executor.EndTakenOver, Session: "s1"}
	for name, c := range map[string]struct {
		d        executor.Decision
		attempts int
		turns    int // of agents, after it
	}{
		"resumed":      {resume, 1, 1},
		"instructed":   {executor.Decision{Verb: executor.RetryNode, Message: "make it blue"}, 2, 1},
		"as it stands": {executor.Decision{Verb: executor.Approve}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
			s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {taken}})
			s.begin()
			s.until(nil)
			s.is("1.1", executor.Waiting, executor.CauseTakeover, "")
			s.no("1.1", retry, "another attempt needs instructions")
			before := s.turns()
			s.ok("1.1", c.d)
			s.until(nil)
			s.is("1.1", executor.Done, "", "")
			if got := len(s.view("1.1").Attempts); got != c.attempts {
				t.Errorf("%d attempts, want %d", got, c.attempts)
			}
			if got := s.turns() - before; got != c.turns {
				t.Errorf("%d turns more, want %d", got, c.turns)
			}
		})
	}
}

// What was handed in on results that are others now is judged, or given up, by a person.
func TestWhatWasHandedInOnOtherResultsWaits(t *testing.T) { // execution §5: retry --gates-only
	for name, c := range map[string]struct {
		d     executor.Decision
		turns int
	}{
		"judged":   {handIn, 0},
		"given up": {executor.Decision{Verb: executor.RetryNode, How: executor.Discard}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1", "1.2: 1.1"})
			s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
			s.begin()
			s.end()
			s.ok("1.2", handIn)
			s.begin(func(e *executor.RunStarted) { e.Rerun = []ir.NodeID{"bd-1-1"} })
			s.until(nil)
			s.is("1.2", executor.Waiting, executor.CauseHandedIn, "")
			s.no("1.2", retry, s.view("1.2").Reason)
			before := s.turns()
			s.ok("1.2", c.d)
			s.until(nil)
			s.is("1.2", executor.Done, "", "")
			if got := s.turns() - before; got != c.turns {
				t.Errorf("%d turns more, want %d", got, c.turns)
			}
		})
	}
}

// Of several earlier successes the one counts that was made from the present results.
func TestKeepOldTakesTheSuccessOfThePresentResults(t *testing.T) { // execution §2 (keep-old)
	lines := []string{"1.1", "1.2: 1.1"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	first := s.view("1.2").Result.Commit
	s.change(other(lines, "two", "1.1"))
	s.begin()
	s.end()
	if s.view("1.2").Result.Commit == first {
		t.Fatal("1.2 was not done again")
	}
	s.change(executortest.Epic(lines))
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
	s.begin(func(e *executor.RunStarted) { e.Rerun = []ir.NodeID{"bd-1-2"} })
	s.end()
	s.is("1.2", executor.Blocked, "", "3 attempts")
	s.ok("1.2", keepOld)
	s.begin()
	s.end()
	s.is("1.2", executor.Done, "", "")
	if got := s.view("1.2").Result.Commit; got != first {
		t.Errorf("it counts with %s, want %s", got, first)
	}
}
