package machine_test

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// drain makes the run drain for a time, and returns when that ends.
func (s *stage) drain(d time.Duration) time.Time {
	s.t.Helper()
	until := s.now.Add(d)
	s.put(executor.Event{Body: executor.RunDraining{Until: until, Reason: "interrupted"}})
	return until
}

// land reports the effect that has been in flight the longest.
func (s *stage) land() {
	s.t.Helper()
	e := s.flying[0]
	s.flying = s.flying[1:]
	s.report(e)
}

// rounds goes on as a driver does whose workers all report at the same time: look sees
// each list of effects to start.
func (s *stage) rounds(look func([]executor.Effect)) machine.Todo {
	s.t.Helper()
	for range 1000 {
		todo := s.run.Todo(s.now)
		switch {
		case todo.Stuck != "":
			s.t.Fatal(todo.Stuck)
		case len(todo.Record) > 0:
			s.put(todo.Record[0])
		case len(todo.Start) > 0:
			look(todo.Start)
			for _, e := range todo.Start {
				s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo}})
				s.flying = append(s.flying, e)
			}
			for len(s.flying) > 0 {
				s.land()
			}
		default:
			return todo
		}
	}
	s.t.Fatal("it does not end")
	return machine.Todo{}
}

func inAgent(e executor.Effect) bool { return e.Kind == executor.EffectAgent }

func TestEventsOfAnotherEpicAreNoRunOfThisOne(t *testing.T) {
	lines := []string{"1.1"}
	s := newScript(t, lines)
	s.begin()
	s.change(mend(lines, "two"))
	if todo := s.run.Todo(s.now); todo.Stuck != "the run has not started" || len(todo.Record)+len(todo.Start) > 0 {
		t.Errorf("%+v", todo)
	}
}

func TestADrainingRunWaitsForItsAgentsAndThenStopsThem(t *testing.T) { // execution §6
	for _, lines := range [][]string{{"1.1"}, {"1.1", "1.2"}} {
		s := newStage(t, lines)
		s.begin()
		s.until(inAgent)
		until := s.drain(10 * time.Second)
		if todo := s.run.Todo(s.now); !todo.Wake.Equal(until) || len(todo.Start)+len(todo.Stop) > 0 || todo.Done {
			t.Errorf("%v, draining: %+v, want to wake at %s", lines, todo, until)
		}
		for n := len(lines); n > 0; n-- {
			if todo := s.run.Todo(until); len(todo.Stop) != n || todo.Done || len(s.run.InFlight()) != n {
				t.Errorf("%v, with %d in flight at the end: %+v", lines, n, todo)
			}
			s.land()
			if todo := s.run.Todo(s.now); len(todo.Start) != len(lines)-n+1 || !todo.Wake.Equal(until) || todo.Done { // what was made is collected
				t.Errorf("%v, with %d in flight: %+v", lines, n-1, todo)
			}
		}
		if todo := s.run.Todo(until); len(todo.Stop) > 0 || !todo.Done {
			t.Errorf("%v, with nothing in flight at the end: %+v", lines, todo)
		}
	}
}

func TestADrainingRunWaitsForNothingElse(t *testing.T) { // execution §6
	s := newStage(t, []string{"1.1", "1.2"}, step(func(s *ir.Step) { s.Retry.InitialMS = 5000 }))
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed()}})
	s.begin()
	s.until(func(e executor.Effect) bool { return inAgent(e) && e.Node == "bd-1-2" })
	if at := s.run.Todo(s.now).Wake; s.view("1.1").Status != executor.Waiting || !at.Equal(s.now.Add(5*time.Second)) {
		t.Fatalf("1.1 is to wait for its next attempt: %+v, until %s", s.view("1.1"), at)
	}
	until := s.drain(time.Hour)
	if todo := s.run.Todo(s.now); !todo.Wake.Equal(until) {
		t.Errorf("it wakes at %s for what does not begin any more, want %s", todo.Wake, until)
	}

	s = newStage(t, []string{"1.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("blue or red?")}})
	s.begin(func(r *executor.RunStarted) { r.Wait = true })
	s.until(nil)
	s.is("1.1", executor.Waiting, executor.CauseQuestion, "")
	s.drain(time.Hour)
	if todo := s.run.Todo(s.now); !todo.Done || !todo.Wake.IsZero() {
		t.Errorf("with nothing in flight: %+v", todo)
	}

	s = newStage(t, []string{"1.1"}, preflights(map[string]ir.Gate{"unit": {Run: "a"}}, []string{"unit"}))
	s.begin(tried)
	s.drain(time.Hour)
	if todo := s.run.Todo(s.now); len(todo.Try) > 0 || !todo.Done {
		t.Errorf("before its preflight: %+v", todo)
	}
}

func TestAHeldRunDoesNotWakeForAParkedRunner(t *testing.T) { // execution §4
	s := newStage(t, []string{"1.1"})
	s.begin()
	until := s.now.Add(time.Minute)
	s.put(executor.Event{Body: executor.RunnerParked{Runner: "sh", Until: until}})
	if todo := s.run.Todo(s.now); !todo.Wake.Equal(until) || len(todo.Record) > 0 {
		t.Fatalf("parked: %+v", todo)
	}
	s.put(executor.Event{Body: executor.RunHeld{For: executor.ForHuman, Detail: "paused by ann"}})
	if todo := s.run.Todo(s.now); !todo.Wake.IsZero() || len(todo.Record) > 0 {
		t.Errorf("held: %+v", todo)
	}
}

// second gives each node a step for another agent, with a runner of its own.
func second(change func(*ir.Runner)) func(*ir.Epic) {
	return func(e *ir.Epic) {
		r := e.Runners["sh"]
		change(&r)
		e.Runners["z"], e.Agents["rev"] = r, ir.Agent{Runner: "z", Access: "read"}
		for i := range e.Nodes {
			look := e.Nodes[i].Steps[0]
			look.Name, look.Agent, look.Access, look.Gates, look.Next = "look", "rev", "read", nil, "implement"
			e.Nodes[i].Steps = append(e.Nodes[i].Steps, look)
		}
	}
}

func TestWhatStartsTogetherFitsTogether(t *testing.T) { // execution §4
	lines := []string{"1.1", "1.2", "1.3", "1.4"}
	for name, c := range map[string]struct {
		change  func(*ir.Runner)
		unblock bool
		most    int
	}{
		"a runner with places": {func(r *ir.Runner) { r.Concurrent = 2 }, false, 2},
		"a runner with one":    {func(r *ir.Runner) { r.Concurrent = 1 }, false, 1},
		"a runner with all":    {func(*ir.Runner) {}, false, 4},
	} {
		s := newStage(t, lines, second(c.change))
		s.begin()
		most, all := 0, 0
		todo := s.rounds(func(list []executor.Effect) {
			n := 0
			for _, e := range list {
				if inAgent(e) && e.Agent == "rev" {
					n++
				}
			}
			most, all = max(most, n), all+n
		})
		if most != c.most || all != len(lines) || !todo.Done {
			t.Errorf("%s: at most %d of %d start together, want %d; then %+v", name, most, all, c.most, todo)
		}
	}
	s := eight(t, 3_000_000, expect(1_000_000))
	s.answer = func(e executor.Effect) executor.Body {
		if inAgent(e) {
			return used(nil, num(1_000_000), "success")
		}
		return nil
	}
	s.begin(func(r *executor.RunStarted) { r.Slots = 8 })
	most, collected := 0, 0
	s.rounds(func(list []executor.Effect) {
		n := 0
		for _, e := range list {
			if inAgent(e) {
				n++
			}
			if e.Kind == executor.EffectCollect {
				collected++
			}
		}
		most = max(most, n)
	})
	if most != 3 || collected != 3 {
		t.Errorf("at most %d turns of $1 start together under $3, and %d are collected", most, collected)
	}
}

func TestAGateBehindOneThatCannotBeginBegins(t *testing.T) { // execution §4
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Runners["z"], e.Agents["qa"] = e.Runners["sh"], ir.Agent{Runner: "z", Access: "read"}
		e.Gates["judge"] = ir.Gate{Kind: "agent", Agent: "qa", From: "policy", OnFailure: "retry", TimeoutMS: 60_000}
		e.Nodes[0].Steps[0].Gates = []string{"judge", "check"}
	})
	s.begin()
	s.put(executor.Event{Body: executor.RunnerParked{Runner: "z", Until: s.now.Add(time.Hour)}})
	var gates []string
	todo := s.rounds(func(list []executor.Effect) {
		for _, e := range list {
			if e.Kind == executor.EffectGate {
				gates = append(gates, e.Gate)
			}
		}
	})
	if len(gates) != 1 || gates[0] != "check" || !todo.Wake.Equal(s.now.Add(time.Hour)) {
		t.Errorf("%v begin; then %+v", gates, todo)
	}
}

func TestJudgesThatStartTogetherFitIntoTheBudget(t *testing.T) { // execution §4 budget
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", 3_000_000
		e.Agents["qa"] = ir.Agent{Runner: "sh", Access: "read", Expect: &ir.Cost{USDMicro: num(1_500_000)}}
		for _, name := range []string{"one", "two"} {
			e.Gates[name] = ir.Gate{Kind: "agent", Agent: "qa", From: "policy", OnFailure: "retry", TimeoutMS: 60_000}
		}
		e.Nodes[0].Steps[0].Gates = []string{"one", "two"}
	}, expect(1_000_000))
	s.answer = func(e executor.Effect) executor.Body {
		if inAgent(e) {
			return used(nil, num(1_000_000), "success")
		}
		return nil
	}
	s.begin()
	most := 0
	s.rounds(func(list []executor.Effect) {
		n := 0
		for _, e := range list {
			if e.Kind == executor.EffectGate {
				n++
			}
		}
		most = max(most, n)
	})
	if most != 1 {
		t.Errorf("%d judges that are expected to cost $1.50 start together with $2.00 left", most)
	}
}

func TestWhatARunThatIsHeldForItsBudgetJoins(t *testing.T) { // execution §4 budget, §7
	for name, c := range map[string]struct {
		lines []string
		join  bool
	}{
		"all is done":       {[]string{"1.1"}, true},
		"a sprint is ready": {[]string{"1.1", "1.2: 1.1"}, false},
		"a sprint is held":  {[]string{"1.1", "1.2"}, false},
	} {
		s := newStage(t, c.lines, second(func(*ir.Runner) {}), func(e *ir.Epic) { e.Nodes[0].Steps = e.Nodes[0].Steps[:1] })
		s.begin()
		s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectGate })
		s.put(executor.Event{Body: executor.RunHeld{For: executor.ForBudget, Detail: "used up"}})
		for len(s.flying) > 0 {
			s.land()
		}
		joined := false
		todo := s.rounds(func(list []executor.Effect) {
			for _, e := range list {
				joined = joined || e.Node == executor.Integration
			}
		})
		s.is("1.1", executor.Done, "", "")
		if name == "a sprint is held" {
			s.is("1.2", executor.Waiting, executor.CauseHeld, "")
		}
		if joined != c.join || !todo.Done {
			t.Errorf("%s: joined %v, then %+v", name, joined, todo)
		}
	}
}
