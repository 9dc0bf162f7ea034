package machine_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// A sprint whose runner is full gives up its slot if another could go on in it at once, and
// keeps it else. 1.1 has the only place at the second step's runner, 1.2 needs it.
func TestASlotIsGivenUpToWhoCanUseIt(t *testing.T) { // execution §4, S4-60
	three := []string{"1.1", "1.2", "1.3"}
	lane := func(limit int, of ...int) func(*ir.Epic) {
		return func(e *ir.Epic) {
			e.Run.Concurrency.PerLane = map[string]int{"x": limit}
			for _, i := range of {
				e.Nodes[i].Lane = "x"
			}
		}
	}
	budget := func(limit int64) func(*ir.Epic) {
		return func(e *ir.Epic) {
			e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", limit
			e.Runners["rich"], e.Agents["rich"] = e.Runners["sh"], ir.Agent{Runner: "rich", Access: "write", Expect: &ir.Cost{USDMicro: num(1_000_000)}}
			for name, cost := range map[string]int64{"dev": 1000, "rev": 1000} {
				a := e.Agents[name]
				a.Expect = &ir.Cost{USDMicro: num(cost)}
				e.Agents[name] = a
			}
			e.Nodes[2].Steps[0].Agent = "rich"
		}
	}
	onlyLooks := func(e *ir.Epic) { e.Nodes[2].Steps = e.Nodes[2].Steps[1:]; e.Nodes[2].Steps[0].Next = "" }
	for name, c := range map[string]struct {
		lines  []string
		slots  int
		change func(*ir.Epic)
		given  bool
	}{
		"another waits for a slot":              {three, 2, nil, true},
		"nobody waits":                          {three[:2], 2, nil, false},
		"another needs what has not ended":      {[]string{"1.1", "1.2", "1.3: 1.1"}, 2, nil, false},
		"another needs the full runner, too":    {three, 2, onlyLooks, false},
		"another's lane is full":                {three, 2, lane(1, 0, 2), false},
		"another's lane has room":               {three, 2, lane(2, 0, 2), true},
		"another waits for its own lane":        {three, 3, lane(1, 1, 2), true},
		"its lane is full, and is no one's":     {three, 2, lane(1, 1), true},
		"another waits for no slot but a lane":  {three, 3, lane(1, 0, 2), false},
		"another does not fit into the budget":  {three, 2, budget(900_000), false},
		"another fits into the budget":          {three, 2, budget(2_000_000), true},
		"another is in a lane that is not full": {three, 2, lane(3, 0, 1, 2), true},
	} {
		changes := []func(*ir.Epic){second(func(r *ir.Runner) { r.Concurrent = 1 })}
		if c.change != nil {
			changes = append(changes, c.change)
		}
		s := newStage(t, c.lines, changes...)
		s.begin(func(r *executor.RunStarted) { r.Slots = c.slots })
		s.until(func(e executor.Effect) bool {
			return inAgent(e) && (e.Node == "bd-1-1" && e.Step == "look" || e.Node == "bd-1-3")
		})
		v, want := s.view("1.2"), executor.Running
		if c.given {
			want = executor.Waiting
		}
		if v.Status != want || c.given && v.Reason != "runner z accepts no more agents now" {
			t.Errorf("%s: 1.2 is %s (%s), want %s", name, v.Status, v.Reason, want)
		}
		if len(c.lines) > 2 && (s.view("1.3").Status == executor.Running) != c.given {
			t.Errorf("%s: 1.3 is %s", name, s.view("1.3").Status)
		}
		s.until(nil)
		for _, key := range []string{"1.1", "1.2"} {
			s.is(key, executor.Done, "", "")
		}
	}
}

// A run that takes no more sprints needs no slot for them.
func TestNoSlotIsGivenUpInARunThatIsHeld(t *testing.T) { // execution §4
	for name, body := range map[string]executor.Body{
		"held":     executor.RunHeld{For: executor.ForHuman, Detail: "paused by ann"},
		"draining": executor.RunDraining{Reason: "interrupted"},
	} {
		s := newStage(t, []string{"1.1", "1.2", "1.3"}, second(func(r *ir.Runner) { r.Concurrent = 1 }))
		s.begin(func(r *executor.RunStarted) { r.Slots = 2 })
		look := func(e executor.Effect) bool { return inAgent(e) && e.Step == "look" }
		s.until(func(e executor.Effect) bool { return look(e) || inAgent(e) && e.Node == "bd-1-2" })
		s.put(executor.Event{Body: body})
		s.until(look)
		if v := s.view("1.2"); strings.Contains(v.Reason, "accepts no more agents") {
			t.Errorf("%s: 1.2 is %s (%s)", name, v.Status, v.Reason)
		}
	}
}

// A sprint whose wait is over takes the slot of one whose runner is full.
func TestASlotIsGivenUpToWhoseWaitIsOver(t *testing.T) { // execution §4
	s := newStage(t, []string{"1.1", "1.3", "1.2"}, second(func(r *ir.Runner) { r.Concurrent = 1 }))
	failed := false
	s.answer = func(e executor.Effect) executor.Body {
		if inAgent(e) && e.Node == "bd-1-3" && !failed {
			failed = true
			return fails(executor.FailTransient)
		}
		return nil
	}
	s.begin(func(r *executor.RunStarted) { r.Slots = 2 })
	look := func(e executor.Effect) bool { return inAgent(e) && e.Step == "look" }
	s.until(look)
	s.is("1.3", executor.Waiting, "", "")
	s.is("1.2", executor.Running, "", "")
	s.now = s.view("1.3").Until
	s.until(func(e executor.Effect) bool { return look(e) || inAgent(e) && e.Node == "bd-1-3" })
	s.is("1.2", executor.Waiting, "", "runner z accepts no more agents now")
	s.is("1.3", executor.Running, "", "")
	s.until(nil)
	for _, key := range []string{"1.1", "1.2", "1.3"} {
		s.is(key, executor.Done, "", "")
	}
}

// So does one whose judge's runner is full, and one whose turn does not fit into the budget
// beside what is in flight; with the reason.
func TestASlotIsGivenUpWithTheReason(t *testing.T) { // execution §4, §5 budgets
	judged := func(e *ir.Epic) {
		z := e.Runners["sh"]
		z.Concurrent = 1
		e.Runners["z"], e.Agents["qa"] = z, ir.Agent{Runner: "z", Access: "read"}
		e.Gates["judge"] = ir.Gate{Kind: "agent", Agent: "qa", From: "policy", OnFailure: "retry", TimeoutMS: 60_000}
		for i := range 2 {
			e.Nodes[i].Steps[0].Gates = []string{"judge"}
		}
	}
	dear := func(e *ir.Epic) {
		second(func(*ir.Runner) {})(e)
		e.Run.OnExceed, e.Run.Budget.USDMicro, e.Run.Budget.Tokens = "pause", 1_500_000, 1500
		for name, usd := range map[string]int64{"dev": 1000, "rev": 1_000_000} {
			a := e.Agents[name]
			a.Expect = &ir.Cost{USDMicro: num(usd), Tokens: num(usd / 1000)}
			e.Agents[name] = a
		}
	}
	for reason, c := range map[string]struct {
		change func(*ir.Epic)
		stays  func(executor.Effect) bool
	}{
		"runner z accepts no more agents now": {judged, func(e executor.Effect) bool { return e.Gate == "judge" }},
		"waits until the budget has room for a turn of rev ($1.00) (1000 tokens): $0.002 of $1.50 are spent, $1.00 reserved; 2 of 1500 tokens are used, 1000 reserved": {
			dear, func(e executor.Effect) bool { return inAgent(e) && e.Step == "look" },
		},
	} {
		s := newStage(t, []string{"1.1", "1.2", "1.3"}, c.change)
		s.answer = func(e executor.Effect) executor.Body {
			if inAgent(e) && e.Step == "implement" {
				return used(num(1), num(1000), "success")
			}
			return nil
		}
		s.begin(func(r *executor.RunStarted) { r.Slots = 2 })
		s.until(func(e executor.Effect) bool {
			return c.stays(e) && e.Node == "bd-1-1" || inAgent(e) && e.Node == "bd-1-3"
		})
		s.is("1.2", executor.Waiting, "", reason)
		s.is("1.3", executor.Running, "", "")
		s.until(nil)
		for _, key := range []string{"1.1", "1.2", "1.3"} {
			s.is(key, executor.Done, "", "")
		}
	}
}

// What is admitted at once fits together: into slots, lanes, runners and the budget.
func TestWhatIsAdmittedTogetherFitsTogether(t *testing.T) { // execution §4, S4-60
	lines := []string{"1.1", "1.2", "1.3", "1.4"}
	inLane := func(e *ir.Epic) {
		e.Run.Concurrency.PerLane = map[string]int{"x": 2}
		for i := range e.Nodes {
			e.Nodes[i].Lane = "x"
		}
	}
	runner := func(change func(*ir.Runner)) func(*ir.Epic) {
		return func(e *ir.Epic) { r := e.Runners["sh"]; change(&r); e.Runners["sh"] = r }
	}
	for name, c := range map[string]struct {
		slots  int
		change func(*ir.Epic)
		want   int
	}{
		"all":                  {8, nil, 4},
		"slots":                {3, nil, 3},
		"a lane":               {8, inLane, 2},
		"a runner's places":    {8, runner(func(r *ir.Runner) { r.Concurrent = 3 }), 3},
		"a runner's minute":    {8, runner(func(r *ir.Runner) { r.RPM = 2 }), 2},
		"a budget":             {8, func(e *ir.Epic) { e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", 2_500_000; expect(1_000_000)(e) }, 2},
		"a budget for one":     {8, func(e *ir.Epic) { e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", 500_000; expect(1_000_000)(e) }, 1},
		"what nobody measures": {8, func(e *ir.Epic) { e.Run.OnExceed, e.Run.Budget.USDMicro = "pause", 500_000 }, 1},
	} {
		var changes []func(*ir.Epic)
		if c.change != nil {
			changes = append(changes, c.change)
		}
		s := newStage(t, lines, changes...)
		s.begin(func(r *executor.RunStarted) { r.Slots = c.slots })
		got := 0
		for _, e := range s.run.Todo(s.now).Record {
			if _, ok := e.Body.(executor.NodeStarted); ok {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d sprints begin at once, want %d", name, got, c.want)
		}
	}
}

// Of those whose waits are over at once, as many go on as their lane has room for.
func TestWhatGoesOnTogetherFitsIntoItsLane(t *testing.T) { // execution §4
	s := newStage(t, []string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Run.Concurrency.PerLane = map[string]int{"x": 1}
		for i := range e.Nodes {
			e.Nodes[i].Lane = "x"
		}
	})
	tried := map[ir.NodeID]bool{}
	s.answer = func(e executor.Effect) executor.Body {
		if inAgent(e) && !tried[e.Node] {
			tried[e.Node] = true
			return fails(executor.FailTransient)
		}
		return nil
	}
	s.begin(func(r *executor.RunStarted) { r.Slots = 8 })
	for range 10_000 { // until both wait for a time
		todo := s.run.Todo(s.now)
		if len(tried) == 2 && len(todo.Record)+len(todo.Start) == 0 && len(s.flying) == 0 {
			break
		}
		s.one(todo)
	}
	s.is("1.1", executor.Waiting, "", "")
	s.is("1.2", executor.Waiting, "", "")
	s.now = s.now.Add(day)
	resumed := 0
	for _, e := range s.run.Todo(s.now).Record {
		if _, ok := e.Body.(executor.NodeResumed); ok {
			resumed++
		}
	}
	if resumed != 1 {
		t.Errorf("%d of the lane go on at once, want 1", resumed)
	}
}

// one records, starts or lands one thing.
func (s *stage) one(todo machine.Todo) {
	s.t.Helper()
	switch {
	case len(todo.Record) > 0:
		s.put(todo.Record[0])
	case len(todo.Start) > 0:
		e := todo.Start[0]
		s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo}})
		s.flying = append(s.flying, e)
	case len(s.flying) > 0:
		s.land()
	default:
		s.t.Fatalf("nothing is left to do: %+v", todo)
	}
}
