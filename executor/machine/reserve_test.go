package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// eight sprints that do not need each other, under a budget of the run.
func eight(t *testing.T, usd int64, change ...func(*ir.Epic)) *stage {
	var lines []string
	for i := range 8 {
		lines = append(lines, fmt.Sprintf("1.%d", i+1))
	}
	return newStage(t, lines, append([]func(*ir.Epic){func(e *ir.Epic) {
		e.Run.OnExceed, e.Run.Budget.USDMicro, e.Run.Concurrency.Nodes = "pause", usd, 8
	}}, change...)...)
}

// atOnce starts the run and counts, in each round, how many agents are in flight
// at most; each says that it cost so much.
func (s *stage) atOnce(cost *int64) (most int) {
	s.t.Helper()
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			return used(nil, cost, "success")
		}
		return nil
	}
	s.begin(func(r *executor.RunStarted) { r.Slots = 8 })
	for range 10_000 {
		todo := s.run.Todo(s.now)
		switch {
		case todo.Stuck != "":
			s.t.Fatal(todo.Stuck)
		case len(todo.Record) > 0:
			s.put(todo.Record[0])
		case len(todo.Start) > 0:
			for _, e := range todo.Start {
				s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration}})
				s.flying = append(s.flying, e)
			}
			agents := 0
			for _, e := range s.flying {
				if e.Kind == executor.EffectAgent {
					agents++
				}
			}
			most = max(most, agents)
		case len(s.flying) > 0:
			e := s.flying[0]
			s.flying = s.flying[1:]
			s.report(e)
		case todo.Done:
			s.put(executor.Event{Body: executor.RunEnded{Counts: s.run.Summary().Counts()}})
			return most
		default:
			s.t.Fatalf("nothing happens: %+v", todo)
		}
	}
	s.t.Fatal("it does not end")
	return 0
}

func expect(usd int64) func(*ir.Epic) {
	return func(e *ir.Epic) {
		a := e.Agents["dev"]
		a.Expect = &ir.Cost{USDMicro: &usd}
		e.Agents["dev"] = a
	}
}

func (s *stage) done() (n int) {
	for _, v := range s.run.Views() {
		if v.ID != executor.Integration && v.Status == executor.Done {
			n++
		}
	}
	return n
}

func TestBudgetsReserve(t *testing.T) { // execution §5 "Budgets reserve"; K35
	for name, c := range map[string]struct {
		limit        int64
		cost         *int64
		change       []func(*ir.Epic)
		atOnce, done int
		held         string
	}{
		"without history one turn shows what they cost":       {1_000_000, num(600_000), nil, 1, 2, "$1.20 of $1.00 are spent"},
		"the first shows it, then as many run as fit":         {2_900_000, num(600_000), nil, 3, 5, "$3.00 of $2.90 are spent"},
		"what the policy expects is reserved from the start":  {1_300_000, num(600_000), []func(*ir.Epic){expect(600_000)}, 2, 3, "$1.80 of $1.30 are spent"},
		"what a turn really cost counts more than that":       {2_900_000, num(600_000), []func(*ir.Epic){expect(1_000)}, 8, 8, ""},
		"an agent that never tells runs alone and is not cut": {1_000_000, nil, nil, 1, 8, ""},
		"one that costs nothing runs freely":                  {1_000_000, nil, []func(*ir.Epic){expect(0)}, 8, 8, ""},
		"a turn that alone exceeds the budget runs alone":     {1_000_000, num(400_000), []func(*ir.Epic){expect(5_000_000)}, 1, 3, "$1.20 of $1.00 are spent"},
		"what fits exactly runs":                              {4_800_000, num(600_000), []func(*ir.Epic){expect(600_000)}, 8, 8, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(t, c.limit, c.change...)
			most := s.atOnce(c.cost)
			o := s.run.Overview()
			if most != c.atOnce || s.done() != c.done || o.Held.Detail != c.held {
				t.Errorf("%d at once, %d done, held %q; want %d, %d, %q", most, s.done(), o.Held.Detail, c.atOnce, c.done, c.held)
			}
			sum := s.view(executor.Integration).Status
			if all := s.done() == 8; (sum == executor.Done) != all {
				t.Errorf("the sum is %s, %d of 8 are done", sum, s.done())
			}
		})
	}
}

func TestABudgetThatAllIsDoneWithIsSaidAndHoldsNothing(t *testing.T) { // execution §5 "If all nodes are done the sum is made"
	s := eight(t, 4_000_000, expect(100_000))
	s.atOnce(num(600_000))
	s.is(executor.Integration, executor.Done, "", "")
	o := s.run.Overview()
	if o.Held.For != "" || o.Over != "$4.80 of $4.00 are spent" {
		t.Errorf("held %+v, over %q", o.Held, o.Over)
	}
	s.begin() // the next run has a budget of its own
	if o := s.run.Overview(); o.Held.For != "" || o.Spent.USDMicro != 0 {
		t.Errorf("the next run begins with %+v", o)
	}
}

// A run of the last release ended held by a budget, with all its nodes done and
// nothing joined.
func TestAHoldThatKeepsNothingBackEndsWithItsRun(t *testing.T) {
	s := eight(t, 1_000_000, expect(100_000))
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			return used(nil, num(100_000), "success")
		}
		return nil
	}
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Node == executor.Integration })
	s.begin()
	s.put(executor.Event{Body: executor.RunHeld{For: executor.ForBudget, Detail: "$1.20 of $1.00 are spent"}})
	s.put(executor.Event{Body: executor.RunEnded{Counts: s.run.Summary().Counts()}})
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Done, "", "")
}

func TestWaitsForABudgetSaySo(t *testing.T) {
	s := eight(t, 1_000_000)
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {used(nil, num(600_000), "success")}})
	s.begin(func(r *executor.RunStarted) { r.Slots = 8 })
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	s.is("1.2", executor.Ready, "", "waits until the budget has room for a turn of dev (of unknown cost): $0.00 of $1.00 are spent, $0.00 reserved")
	e := s.flying[0]
	s.flying = nil
	s.report(e)
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	s.is("1.3", executor.Ready, "", "waits until the budget has room for a turn of dev ($0.60): $0.60 of $1.00 are spent, $0.60 reserved")
}

func TestEachLineOfAHeldRunShowsTheSumOfThatMoment(t *testing.T) { // execution §5 "Each line shows the sum of that moment"
	s := eight(t, 1_000_000, expect(400_000))
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			return used(nil, num(1_500_000), "failed")
		}
		return nil
	}
	s.begin(func(r *executor.RunStarted) { r.Slots = 8 })
	s.end()
	for _, v := range s.run.Views()[:8] {
		if !strings.Contains(v.Reason, "the run is held: $3.00 of $1.00 are spent") {
			t.Errorf("%s: %s", v.Key, v.Reason)
		}
	}
}

// judged gives every step an agent that judges it beside the command.
func judged(e *ir.Epic) {
	e.Agents["judge"] = ir.Agent{Runner: "sh", Access: "read"}
	e.Gates["look"] = ir.Gate{Kind: "agent", Agent: "judge", OnFailure: "retry", From: "policy"}
	for i := range e.Nodes {
		s := &e.Nodes[i].Steps[0]
		s.Gates = append(s.Gates, "look")
	}
}

func TestGatesThatCostNothingRunWhenTheBudgetIsUsedUp(t *testing.T) { // execution §5 "Gates that cost nothing run all the same"
	s := newStage(t, []string{"1.1", "1.2", "1.3: 1.1"}, judged, func(e *ir.Epic) {
		e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", 1_000_000
		e.Nodes[1].Steps[0].Gates = e.Nodes[1].Steps[0].Gates[:1]
		e.Nodes[2].Kind = ir.GateKind
		e.Nodes[2].Steps[0].Gates = e.Nodes[2].Steps[0].Gates[:1]
	})
	for _, n := range []string{"dev", "judge"} {
		a := s.epic.Agents[n]
		a.Expect = &ir.Cost{USDMicro: num(100_000)}
		s.epic.Agents[n] = a
	}
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent {
			return used(nil, num(700_000), "success")
		}
		return nil
	}
	s.begin(func(r *executor.RunStarted) { r.Slots = 8 })
	gates := map[string]bool{}
	s.until(func(e executor.Effect) bool {
		if e.Kind == executor.EffectGate {
			gates[string(e.Node)+e.Gate] = true
		}
		return false
	})
	s.end()
	if !gates["bd-1-1check"] || gates["bd-1-1look"] {
		t.Errorf("gates that ran: %v", gates)
	}
	s.is("1.1", executor.Waiting, executor.CauseHeld, "the run is held: $1.40 of $1.00 are spent")
	s.is("1.2", executor.Done, "", "")
	s.ok("", executor.Decision{Verb: executor.Resume, Budget: ir.Budget{USDMicro: 1_000_000}})
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.3", executor.Done, "", "")
	s.is(executor.Integration, executor.Done, "", "")
}

func TestANodeThatOnlyJudgesBeginsUnderAUsedUpBudget(t *testing.T) {
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", 1_000_000
		e.Nodes[1].Kind = ir.GateKind
	})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {used(nil, num(2_000_000), "success")}})
	s.begin()
	s.end()
	s.is("1.2", executor.Done, "", "")
	s.is(executor.Integration, executor.Done, "", "")
}

func TestTheBudgetOfANodeReservesForItsGatesToo(t *testing.T) { // execution §5 "Both the run's and the per-node budget"
	s := newStage(t, []string{"1.1"}, judged, func(e *ir.Epic) {
		e.Run.OnExceed = "pause"
		e.Nodes[0].Limits.Budget.USDMicro = 1_000_000
		e.Gates["twice"] = e.Gates["look"]
		e.Nodes[0].Steps[0].Gates = append(e.Nodes[0].Steps[0].Gates, "twice")
		e.Agents["judge"] = ir.Agent{Runner: "sh", Access: "read", Expect: &ir.Cost{USDMicro: num(300_000)}}
	})
	s.answer = func(e executor.Effect) executor.Body {
		switch {
		case e.Kind == executor.EffectAgent:
			return used(nil, num(600_000), "success")
		case e.Agent == "judge":
			return executor.GateJudged{Gate: e.Gate, Verdict: executor.Pass, Tests: "skip", Agent: "judge", Usage: executor.Usage{USDMicro: num(400_000)}}
		}
		return nil
	}
	s.begin()
	judges := 0
	s.until(func(e executor.Effect) bool {
		n := 0
		for _, f := range s.flying {
			if f.Agent == "judge" {
				n++
			}
		}
		judges = max(judges, n)
		return false
	})
	if judges != 1 {
		t.Errorf("%d judges at a time, want one: both do not fit", judges)
	}
	s.is("1.1", executor.Waiting, "", "$1.00 of $1.00 are spent")
	s.ok("1.1", executor.Decision{Verb: executor.Resume, Budget: ir.Budget{USDMicro: 1_000_000}})
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
}

func TestAParkedTurnReleasesItsReservation(t *testing.T) { // execution §5 "parked turns release theirs"
	s := newStage(t, []string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", 1_000_000
		e.Agents["dev"] = ir.Agent{Runner: "sh", Access: "write", Expect: &ir.Cost{USDMicro: num(900_000)}}
		e.Runners["other"] = e.Runners["sh"]
		e.Agents["two"] = ir.Agent{Runner: "other", Access: "write", Expect: &ir.Cost{USDMicro: num(900_000)}}
		e.Nodes[1].Steps[0].Agent = "two"
	})
	s.answer = onKind(executor.EffectAgent, fails(executor.FailLimit))
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Node == "bd-1-2" && e.Kind == executor.EffectAgent })
	s.is("1.1", executor.Waiting, "", "it is limit")
	if v := s.view("1.2"); v.Doing == "" {
		t.Errorf("1.2 is %s (%s): the parked turn keeps its reservation", v.Status, v.Reason)
	}
}

func TestTheSumsAgentWaitsForTheBudget(t *testing.T) { // execution §5: agents spend, whoever they work for
	s := newStage(t, []string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", 1_000_000
		e.Epic.Integration.ConflictAgent = "dev"
	})
	s.answer = first(agents(map[ir.NodeID][]executor.AgentEnded{
		"bd-1-1": {used(nil, num(700_000), "success")}, "bd-1-2": {used(nil, num(700_000), "success")},
	}), conflictOf(executor.Integration))
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseHeld, "the run is held: $1.40 of $1.00 are spent")
	s.ok("", executor.Decision{Verb: executor.Resume, Budget: ir.Budget{USDMicro: 1_000_000}})
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Done, "", "")
}
