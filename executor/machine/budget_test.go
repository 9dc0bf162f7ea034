package machine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// used is an agent that says what it cost; nil is unknown.
func used(tokens, micro *int64, result string) executor.AgentEnded {
	return executor.AgentEnded{
		Outcome: executor.Outcome{Result: result, Summary: "s"}, End: executor.EndExited, Millis: 1500,
		Usage: executor.Usage{Tokens: tokens, USDMicro: micro},
	}
}

func num(n int64) *int64 { return &n }

func TestABudgetOfANodePausesIt(t *testing.T) { // execution §4 budget, §5; S1-38, S3-14, S1-69 reason "budget"
	s := newStage(t, []string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Run.OnExceed = "pause"
		e.Nodes[0].Limits.Budget.Tokens = 100
	})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{
		"bd-1-1": {used(num(60), nil, "failed"), used(num(60), nil, "failed"), used(num(5), nil, "success")},
	})
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, "", "120 of 100 tokens")
	s.is("1.2", executor.Done, "", "")
	v := s.view("1.1")
	if v.For != executor.ForBudget || v.Spent.Tokens != 120 || !v.Spent.TokensKnown || v.Spent.USDKnown || v.Spent.Millis != 3000 {
		t.Errorf("for %s, spent %+v", v.For, v.Spent)
	}
	if got := s.run.Overview().Spent; got.Tokens != 120 || got.TokensKnown {
		t.Errorf("the run spent %+v; want 120 tokens and more that nobody said (the agent of 1.2)", got)
	}
	s.no("1.1", executor.Decision{Verb: executor.Resume}, "120 of 100")
	s.no("1.1", executor.Decision{Verb: executor.Resume, Budget: ir.Budget{Tokens: 20}}, "120 of 120")
	s.no("1.1", executor.Decision{Verb: executor.Approve}, "nothing to approve")
	s.ok("1.1", executor.Decision{Verb: executor.Resume, Budget: ir.Budget{Tokens: 50}})
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	if v := s.view("1.1"); v.Budget.Tokens != 150 {
		t.Errorf("budget %+v, want 150 tokens", v.Budget)
	}
}

func TestABudgetOfANodeBlocksWhereItStops(t *testing.T) {
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Run.OnExceed = "stop"
		e.Nodes[0].Limits.Budget.USDMicro = 2_500_000
	})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{
		"bd-1-1": {used(nil, nil, "failed"), used(nil, num(2_500_000), "failed"), used(nil, num(1), "success")},
	})
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "$2.50 of $2.50 are spent, and one turn did not report its usage")
	s.ok("1.1", retry) // a new allowance
	s.end()
	s.is("1.1", executor.Done, "", "")
}

func TestTheBudgetOfTheRunHoldsIt(t *testing.T) { // execution §5 "Budget pause: start nothing, let agents finish"
	s := newStage(t, []string{"1.1", "1.2: 1.1", "2.1"}, func(e *ir.Epic) {
		e.Run.OnExceed = "pause"
		e.Run.Budget.USDMicro = 20_000_000
	}, expect(10_000_000)) // so that both roots run at a time
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			return used(nil, num(20_000_000), "success")
		}
		return nil
	}
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Node == "bd-2-1" && e.Kind == executor.EffectAgent })
	if h := s.run.Overview().Held; h.For != executor.ForBudget || !strings.Contains(h.Detail, "$20.00 of $20.00") {
		t.Fatalf("held %+v", h)
	}
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("2.1", executor.Done, "", "") // its agent was let finish
	s.is("1.2", executor.Ready, "", "the run is held")
	s.begin() // another start does not reset it
	s.end()
	s.is("1.2", executor.Ready, "", "the run is held")
	s.no("", executor.Decision{Verb: executor.Resume}, "$40.00 of $20.00")
	s.ok("", executor.Decision{Verb: executor.Resume, Budget: ir.Budget{USDMicro: 20_000_001}})
	s.begin()
	s.end()
	s.is("1.2", executor.Done, "", "")
}

func TestANewRunHasABudgetOfItsOwn(t *testing.T) {
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Run.OnExceed, e.Run.Budget.Tokens = "pause", 100
	})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			return used(num(90), nil, "success")
		}
		return nil
	}
	for range 3 {
		s.begin(func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-1"} })
		if got := s.run.Overview().Spent.Tokens; got != 0 {
			t.Fatalf("the run begins with %d tokens spent", got)
		}
		s.end()
		s.is("1.1", executor.Done, "", "")
	}
	if got := s.view("1.1").Spent.Tokens; got != 270 {
		t.Errorf("the node spent %d tokens, want 270", got)
	}
	s.begin(func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-1"} })
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectGate })
	s.begin() // killed: what it spent counts on
	if got := s.run.Overview().Spent.Tokens; got != 90 {
		t.Errorf("after a crash %d tokens are spent, want 90", got)
	}
}

func TestWorkingTimeIsNotWaitingTime(t *testing.T) { // S3-14, K24; execution §4 "wall budgets stand still"
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Run.OnExceed = "pause"
		e.Nodes[0].Limits.Budget.WallMS = (10 * time.Minute).Milliseconds()
	})
	reports := agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("?"), failed(), failed()}})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			s.now = s.now.Add(4 * time.Minute)
		}
		return reports(e)
	}
	s.begin()
	s.until(nil)
	s.is("1.1", executor.Waiting, executor.CauseQuestion, "")
	s.now = s.now.Add(48 * time.Hour)
	s.ok("1.1", executor.Decision{Verb: executor.Approve}) // goes on in the same allowance; its gates pass
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectGate })
	if v := s.view("1.1"); v.Status != executor.Running {
		t.Fatalf("it is %s after two days of waiting: %s", v.Status, v.Reason)
	}
	s.end()
	s.is("1.1", executor.Done, "", "")

	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			s.now = s.now.Add(6 * time.Minute)
			return failed()
		}
		return nil
	}
	s.begin(func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-1"} })
	s.end()
	s.is("1.1", executor.Waiting, "", "working time of 10m0s is used up")
	if got := len(s.view("1.1").Attempts); got != 3 {
		t.Errorf("%d attempts, want 3: one, and two of six minutes each", got)
	}
}

func TestWorkingTimeThatIsUsedUpCutsTheAgentWhereItStops(t *testing.T) { // S3-14
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Run.OnExceed = "stop"
		e.Nodes[0].Limits.Budget.WallMS = 60_000
	})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	todo := s.run.Todo(s.now)
	if want := s.now.Add(time.Minute); !todo.Wake.Equal(want) || len(todo.Stop) > 0 {
		t.Fatalf("wake %s, stop %v; want to be asked at %s", todo.Wake, todo.Stop, want)
	}
	s.now = todo.Wake
	if todo = s.run.Todo(s.now); len(todo.Stop) != 1 {
		t.Fatalf("nothing is stopped: %+v", todo)
	}
	s.end()
	s.is("1.1", executor.Blocked, "", "working time of 1m0s is used up")
}

func TestADeadlineThatIsPastBeginsNothing(t *testing.T) { // S3-15
	for _, past := range []string{"1970-01-01T00:10:00Z", "1970-01-01T00:10Z", "1970-01-01T01:10+01:00"} {
		s := newStage(t, []string{"1.1", "1.2", "1.3"}, func(e *ir.Epic) {
			e.Nodes[0].Limits.Deadline = "1970-01-01"
			e.Nodes[1].Limits.Deadline = past
		})
		s.begin()
		s.end()
		s.is("1.1", executor.Done, "", "") // its whole day is meant
		s.is("1.2", executor.Waiting, executor.CauseDeadline, past)
		s.is("1.3", executor.Done, "", "")
		s.ok("1.2", retry)
		s.begin()
		s.end()
		s.is("1.2", executor.Done, "", "")
	}
}

func TestWorkingTimeOfTheRunThatIsUsedUpCutsTheAgentsWhereItStops(t *testing.T) { // S3-14; execution §4 "budget"
	s := newStage(t, []string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Run.OnExceed, e.Run.Budget.WallMS = "stop", 60_000
	})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	todo := s.run.Todo(s.now)
	if want := s.now.Add(time.Minute); !todo.Wake.Equal(want) || len(todo.Stop) > 0 {
		t.Fatalf("wake %s, stop %v; want to be asked at %s", todo.Wake, todo.Stop, want)
	}
	s.now = todo.Wake
	for len(s.run.Todo(s.now).Record) > 0 {
		s.put(s.run.Todo(s.now).Record[0])
	}
	if todo = s.run.Todo(s.now); len(todo.Stop) != 2 {
		t.Fatalf("%d agents are stopped, want both: %+v", len(todo.Stop), todo)
	}
	s.end()
	s.is("1.1", executor.Blocked, "", "working time of 1m0s is used up")
	s.is("1.2", executor.Blocked, "", "working time of 1m0s is used up")
}

// A turn that was cut with ralph, or by it, has cost something that nobody knows: also
// when its session goes on, and when the epic has changed meanwhile.
func TestATurnThatWasCutIsNotFree(t *testing.T) { // execution §4, §5: unknown is never 0
	reviewed := func(e *ir.Epic) {
		withGates("serial", ir.Gate{Why: "look", Kind: "agent"})(e)
		e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", 10_000_000
	}
	for name, c := range map[string]struct {
		cut     executor.EffectKind
		changed bool
		end     executor.Body // of the cut turn; nil: ralph died
	}{
		"an agent":                      {executor.EffectAgent, false, nil},
		"an agent of another text":      {executor.EffectAgent, true, nil},
		"an agent of a gate":            {executor.EffectGate, false, nil},
		"an agent of a gate elsewhere":  {executor.EffectGate, true, nil},
		"an agent, by Ctrl-C":           {executor.EffectAgent, false, executor.EffectFailed{Class: executor.FailInterrupted, Detail: "ralph ended"}},
		"an agent of a gate, by Ctrl-C": {executor.EffectGate, false, executor.EffectFailed{Class: executor.FailInterrupted, Detail: "ralph ended", Gate: "look"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, []string{"1.1"}, reviewed)
			s.answer = func(e executor.Effect) executor.Body {
				switch e.Kind {
				case executor.EffectAgent:
					return used(num(10), num(30_000), "success")
				case executor.EffectGate:
					v := executortest.Verdict(e.Gate, executor.Pass)
					v.Usage = executor.Usage{Tokens: num(1), USDMicro: num(1_000)}
					return v
				}
				return nil
			}
			s.tells = func(e executor.Effect) []executor.Body {
				if e.Kind != executor.EffectAgent {
					return nil
				}
				return []executor.Body{executor.AgentSession{Session: "s1"}}
			}
			s.begin()
			s.until(func(e executor.Effect) bool { return e.Kind == c.cut })
			if e := s.flying[0]; e.Kind == executor.EffectAgent {
				s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.AgentSession{Session: "s1"}})
			}
			if e := s.flying[0]; c.end != nil {
				s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: c.end})
				s.flying = s.flying[1:]
			}
			s.replay()
			machine.Desert(s.run) // as who looks at what is left sees it
			if v := s.view("1.1"); v.Spent.USDKnown || v.Spent.TokensKnown {
				t.Errorf("nobody works on it: its cost is known: %+v", v.Spent)
			}
			s.replay()
			if c.changed {
				s.change(executortest.Epic([]string{"1.1"}, reviewed, func(e *ir.Epic) { e.Digest, e.Nodes[0].Prompt = "sha256:two", []string{"two"} }))
			}
			s.begin()
			for _, when := range []string{"when it begins", "when it is done"} {
				v, o := s.view("1.1"), s.run.Overview()
				for of, spent := range map[string]machine.Spent{"the node": v.Spent, "the run": o.Spent, "all runs": o.All} {
					if spent.USDKnown || spent.TokensKnown {
						t.Errorf("%s: the cost of %s is known: %+v", when, of, spent)
					}
				}
				if a := v.Attempts[0]; c.cut == executor.EffectAgent && a.Untold != 1 || c.cut == executor.EffectGate && a.UntoldOf["look"] != 1 {
					t.Errorf("%s: the attempt has %d turns of unknown cost, its gates %v", when, a.Untold, a.UntoldOf)
				}
				if a := v.Attempts[0]; (a.Cost() == executor.Usage{}) != (c.cut == executor.EffectAgent) {
					t.Errorf("%s: the attempt's agent cost %+v", when, a.Cost())
				}
				for _, g := range v.Attempts[0].Gates {
					if (v.Attempts[0].CostOf(g) == executor.Usage{}) != (c.cut == executor.EffectGate) {
						t.Errorf("%s: gate %s cost %+v", when, g.Gate, v.Attempts[0].CostOf(g))
					}
				}
				if when == "when it begins" {
					s.end()
				}
			}
			s.is("1.1", executor.Done, "", "")
			s.replay()
		})
	}
}

// What the policy states to cost nothing costs nothing, also when it was cut.
func TestATurnThatIsStatedToCostNothingHasAKnownCost(t *testing.T) { // execution §5 "Budgets reserve"
	free := func(e *ir.Epic) {
		a := e.Agents["dev"]
		a.Expect = &ir.Cost{USDMicro: num(0)}
		e.Agents["dev"], e.Run.OnExceed, e.Run.Budget.USDMicro = a, "pause", 1
	}
	s := newScript(t, []string{"1.1"}, free)
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	s.replay()
	s.begin()
	if got := s.view("1.1").Spent; !got.USDKnown || got.USDMicro != 0 || got.TokensKnown {
		t.Errorf("the cut turn cost %+v", got)
	}
	if u := (executor.Usage{}).OrStated(&ir.Cost{USDMicro: num(5), Tokens: num(0)}); u.USDMicro != nil || u.Tokens == nil || *u.Tokens != 0 {
		t.Errorf("what is expected is not what was used: %+v", u)
	}
}

// What a gate cost that the epic has no more is not nothing, if an agent judged it, or
// nobody knows who did.
func TestAGateThatIsGoneWasNotFree(t *testing.T) { // execution §5: unknown is never 0
	look := withGates("serial", ir.Gate{Why: "look", Kind: "agent"})
	for name, at := range map[string]func(executor.Effect) bool{
		"cut":    func(e executor.Effect) bool { return e.Kind == executor.EffectGate },
		"judged": func(e executor.Effect) bool { return e.Kind == executor.EffectPublish },
	} {
		s := newScript(t, []string{"1.1"}, look)
		s.answer = func(e executor.Effect) executor.Body {
			switch e.Kind {
			case executor.EffectAgent:
				return used(num(10), num(30_000), "success")
			case executor.EffectGate:
				v := executortest.Verdict(e.Gate, executor.Pass)
				v.Agent = "qa"
				return v
			}
			return nil
		}
		s.begin()
		s.until(at)
		s.change(executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Digest = "sha256:two" }))
		s.begin()
		if v := s.view("1.1"); v.Spent.USDKnown || v.Spent.TokensKnown {
			t.Errorf("%s: the cost is known: %+v", name, v.Spent)
		}
	}
}

// What a limit is compared with is what is said, and since when that is counted: a
// sprint that begins again, and one that is retried, have a new allowance of money, too.
func TestABudgetSaysSinceWhenItIsCounted(t *testing.T) { // execution §1 "Limits are counted per allowance", §3
	turns := []executor.AgentEnded{}
	for range 9 {
		turns = append(turns, used(nil, num(600_000), "failed"))
	}
	limits := func(e *ir.Epic) {
		e.Run.OnExceed = "pause"
		e.Nodes[1].Limits.Budget.USDMicro = 700_000
		e.Nodes[1].Steps[0].Limits.Attempts, e.Nodes[1].Steps[0].Limits.Breaker = 9, 0
	}
	lines := []string{"1.1", "1.2: 1.1"}
	s := newStage(t, lines, limits)
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": turns})
	s.begin()
	s.end()
	s.is("1.2", executor.Waiting, "", "$1.20 of $0.70 are spent")
	again := func(digest, why string, change func(*ir.Epic)) {
		t.Helper()
		s.epic = executortest.Epic(lines, limits, change, func(e *ir.Epic) { e.Digest = digest })
		s.begin()
		s.end()
		s.is("1.2", executor.Waiting, "", "$1.20 of $0.70 are spent since "+why)
		if v := s.view("1.2"); v.Over != v.Reason {
			t.Errorf("over: %q, reason: %q", v.Over, v.Reason)
		}
		if want := "1.2: wait, $1.20 of $0.70 are spent since " + why + "\n"; !strings.Contains(s.planned(s.epic), want) {
			t.Errorf("the plan lacks %s", want)
		}
	}
	again("sha256:2", "what it starts from changed", func(e *ir.Epic) { e.Nodes[0].Prompt = []string{"other"} })
	if got := s.view("1.2").Spent.USDMicro; got != 2_400_000 {
		t.Errorf("in all %d", got)
	}
	again("sha256:3", "its text changed", func(e *ir.Epic) {
		e.Nodes[0].Prompt, e.Nodes[1].Prompt = []string{"other"}, []string{"other"}
	})
}
