package machine

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// running are sprints without dependencies that have begun, each with one step of agent bot,
// whose runner r takes a single agent; eve is a person, rest an agent of another runner.
func running(t *testing.T, sprints, slots int, change ...func(*ir.Epic)) *Run {
	t.Helper()
	e := chain(sprints, func(int) bool { return false })
	e.Agents = map[string]ir.Agent{"bot": {Runner: "r"}, "rest": {Runner: "other"}, "eve": {Human: true}}
	e.Runners = map[string]ir.Runner{"r": {Concurrent: 1}}
	for i := range e.Nodes {
		e.Nodes[i].After, e.Nodes[i].Steps[0].Agent = nil, "bot"
	}
	for _, c := range change {
		c(e)
	}
	r, err := New(e)
	if err != nil {
		t.Fatal(err)
	}
	put := func(x executor.Event) {
		t.Helper()
		x.Seq = r.Seq() + 1
		if err := r.Apply(x); err != nil {
			t.Fatal(err)
		}
	}
	put(executor.Event{Body: executor.RunStarted{Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: slots}})
	for _, x := range r.Todo(time.UnixMilli(0)).Record {
		put(x)
	}
	return r
}

// The place of a running sprint whose agent comes next is given to no other.
func TestWhoseAgentComesNextHasItsPlace(t *testing.T) { // execution §4, S4-60
	for name, c := range map[string]struct {
		change func(*node)
		stages []stage
		want   int
	}{
		"before its agent":        {nil, []stage{stageBase, stageOpen, stagePrepare, stageRed, stageAgent}, 1},
		"behind its agent":        {nil, []stage{stageCollect, stageGate, stagePublish, stageLand, stageDiagnose}, 0},
		"it waits":                {func(n *node) { n.status = executor.Waiting }, []stage{stageAgent}, 0},
		"gates alone run":         {func(n *node) { n.life.mended = true }, []stage{stageOpen}, 0},
		"gates are next":          {func(n *node) { n.life.attempt.collected.Result.Commit = "c" }, []stage{stagePrepare}, 0},
		"the attempt before left": {func(n *node) { n.life.attempt.collected.Result.Commit = "c" }, []stage{stageOpen, stageAgent}, 1},
		"its agent is in flight":  {func(n *node) { n.life.flight = []executor.Effect{{Kind: executor.EffectAgent}} }, []stage{stageAgent}, 0},
		"git is in flight":        {func(n *node) { n.life.flight = []executor.Effect{{Kind: executor.EffectPrepare}} }, []stage{stagePrepare}, 1},
		"a person does it":        {func(n *node) { n.ir.Steps[0].Agent = "eve" }, []stage{stageAgent}, 0},
		"nobody does it":          {func(n *node) { n.ir.Kind = ir.GateKind }, []stage{stageAgent}, 0},
		"it has no steps":         {func(n *node) { n.ir.Steps = nil }, []stage{stageAgent}, 0},
	} {
		for _, at := range c.stages {
			r := running(t, 1, 1)
			n := r.nodes[0]
			if n.life.stage = at; c.change != nil {
				c.change(n)
			}
			if got := r.headed()["r"]; got != c.want {
				t.Errorf("%s, in stage %v: %d", name, at, got)
			}
		}
	}
	r := running(t, 1, 1, func(e *ir.Epic) { e.Runners = nil })
	if r.nodes[0].life.stage = stageAgent; len(r.headed()) != 0 {
		t.Error("it is counted where no runner is limited")
	}
}

func TestWhichRunnerASprintWaitsFor(t *testing.T) { // execution §4 limits
	until := time.UnixMilli(1_000_000_000).UTC()
	for name, c := range map[string]struct {
		stage          stage
		change         func(*Run, *node)
		needs, waitsOn string
	}{
		"for its agent":               {stageAgent, nil, "r", "r"},
		"for a worktree":              {stagePrepare, func(_ *Run, n *node) { n.life.attempt.agent = "bot" }, "r", "r"},
		"for a stand-in's worktree":   {stagePrepare, func(_ *Run, n *node) { n.life.attempt.agent = "rest" }, "other", ""},
		"before its gates":            {stagePrepare, func(_ *Run, n *node) { n.life.attempt.agent, n.life.attempt.collected.Result.Commit = "bot", "c" }, "", ""},
		"for what it has left":        {stageCollect, nil, "", ""},
		"for a time":                  {stageAgent, func(_ *Run, n *node) { n.wait.For = executor.ForTimer }, "", ""},
		"it runs":                     {stageAgent, func(_ *Run, n *node) { n.status = executor.Running }, "r", ""},
		"it ran for another epic":     {stageAgent, func(_ *Run, n *node) { n.life.stale = true }, "r", ""},
		"nothing is parked":           {stageAgent, func(r *Run, _ *node) { clear(r.parks.runners) }, "r", ""},
		"the pause is over":           {stageAgent, func(r *Run, _ *node) { r.parks.runners["r"].Until = time.Time{} }, "r", ""},
		"for what did not happen":     {stageAgent, func(_ *Run, n *node) { n.life.trouble = &trouble{agent: "bot"} }, "", "r"},
		"for another's, that did not": {stageAgent, func(_ *Run, n *node) { n.life.trouble = &trouble{agent: "rest"} }, "", ""},
	} {
		r := running(t, 1, 1)
		n := r.nodes[0]
		n.status, n.wait.For, n.life.stage, n.life.attempt.agent = executor.Waiting, executor.ForLimit, c.stage, "bot"
		n.life.starts = []string{"b"}
		r.parks.of("r").Until = until
		if c.change != nil {
			c.change(r, n)
		}
		if got := r.needsRunner(n); got != c.needs {
			t.Errorf("%s: it needs %q", name, got)
		}
		if got := r.parkedFor(n); got != c.waitsOn {
			t.Errorf("%s: it waits for %q", name, got)
		}
	}
}

// A slot is wanted if another sprint could begin in it at once.
func TestWhoWantsASlot(t *testing.T) { // execution §4
	now := time.UnixMilli(1_000_000_000).UTC()
	for name, c := range map[string]struct {
		change func(*Run)
		want   bool
	}{
		"a sprint is ready":              {nil, true},
		"the run ends":                   {func(r *Run) { r.halt.draining = true }, false},
		"a person holds it":              {func(r *Run) { r.halt.held.For = executor.ForHuman }, false},
		"its runner is parked":           {func(r *Run) { r.parks.of("other").Until = now.Add(time.Hour) }, false},
		"its runner is no longer parked": {func(r *Run) { r.parks.of("other").Until = now.Add(-time.Hour) }, true},
	} {
		r := running(t, 2, 1, func(e *ir.Epic) { e.Nodes[1].Steps[0].Agent = "rest" })
		if c.change != nil {
			c.change(r)
		}
		n := r.nodes[0]
		if got := r.wanted(n, now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		// What waits for a place gives its slot up only then, and only where an agent is next.
		n.life.stage, n.life.attempt.agent, n.life.starts = stageAgent, "bot", []string{"b"}
		r.parks.agents["r"] = 1
		e, gives := r.waitForRunner(n, now)
		if w, _ := e.Body.(executor.NodeWaiting); gives != c.want || gives && !strings.Contains(w.Detail, "accepts no more agents now") {
			t.Errorf("%s: it gives its slot up: %v %+v", name, gives, e.Body)
		}
		n.life.stage = stageCollect
		if _, gives := r.waitForRunner(n, now); gives {
			t.Errorf("%s: it gives its slot up before it has collected", name)
		}
	}
	for name, c := range map[string]struct {
		lane   []int
		others int // that run in the lane
		want   bool
	}{"its own lane, which it fills": {[]int{0, 1}, 1, true}, "no lane": {nil, 0, true}, "a lane that others fill": {[]int{1}, 1, false}} {
		r := running(t, 2, 1, func(e *ir.Epic) { e.Nodes[1].Steps[0].Agent = "rest" }, inLane(1, c.lane...))
		r.queues.lanes["x"] = c.others
		if got := r.wanted(r.nodes[0], now); got != c.want {
			t.Errorf("the other is in %s: %v", name, got)
		}
	}
	r := running(t, 2, 1)
	n := r.nodes[0]
	n.life.stage, n.life.attempt.agent, n.life.starts = stageAgent, "bot", []string{"b"}
	r.parks.of("r").RunnerParked = executor.RunnerParked{Until: now.Add(time.Hour), Detail: "limit"}
	if e, gives := r.waitForRunner(n, now); !gives || !strings.Contains(e.Body.(executor.NodeWaiting).Detail, "runner r is parked: limit") {
		t.Errorf("its runner is parked: %v %+v", gives, e.Body)
	}
	n.life.flight = []executor.Effect{{Kind: executor.EffectAgent}}
	if _, gives := r.waitForRunner(n, now); gives {
		t.Error("it gives its slot up while its agent works")
	}

	r = running(t, 2, 1, func(e *ir.Epic) {
		e.Gates = map[string]ir.Gate{"lint": {Kind: "command"}, "judge": {Kind: "agent", Agent: "bot", Access: "read"}}
		e.Nodes[0].Steps[0].Gates, e.Nodes[1].Steps[0].Agent = []string{"lint", "judge"}, "rest"
	})
	n = r.nodes[0]
	n.life.stage, n.life.starts, n.life.attempt.gates = stageGate, []string{"b"}, []gateState{{done: true}, {}}
	r.parks.of("r").RunnerParked = executor.RunnerParked{Until: now.Add(time.Hour), Detail: "limit"}
	if _, gives := r.waitForRunner(n, now); !gives {
		t.Error("it keeps its slot, and has only a gate left whose runner is parked")
	}
	n.life.attempt.gates[0].done, n.life.flight = false, []executor.Effect{{Kind: executor.EffectGate, Gate: "lint", OfGate: executor.OfGate{Apart: true}}}
	if _, gives := r.waitForRunner(n, now); gives {
		t.Error("it gives its slot up while another gate judges")
	}
}

func TestARunnerIsLeftAlone(t *testing.T) { // execution §4 limits
	now := time.UnixMilli(1_000_000_000).UTC()
	for name, c := range map[string]struct {
		class executor.FailureClass
		until time.Time
		want  time.Time
		probe bool
	}{
		"till its limit ends":         {executor.FailLimit, now.Add(time.Hour), now.Add(time.Hour), false},
		"a day at most":               {executor.FailLimit, now.Add(100 * time.Hour), now.Add(parkAtMost), false},
		"a limit without an end":      {executor.FailLimit, time.Time{}, now.Add(parkFor), true},
		"a limit that is over":        {executor.FailLimit, now, now.Add(parkFor), true},
		"it does not work":            {executor.FailTransient, now.Add(time.Hour), now.Add(parkFor), true},
		"to the millisecond":          {executor.FailLimit, now.Add(time.Hour + 300*time.Microsecond), now.Add(time.Hour), false},
		"less than a millisecond yet": {executor.FailLimit, now.Add(300 * time.Microsecond), now.Add(time.Second), false},
	} {
		pk := parks{runners: map[string]*park{}}
		n := &node{}
		got, ok := pk.onLimit(n, "r", &executor.EffectFailed{Class: c.class, Until: c.until, Detail: "d"}, now).Body.(executor.RunnerParked)
		if !ok || got.Runner != "r" || !got.Until.Equal(c.want) || got.Probe != c.probe || got.Detail != "d" {
			t.Errorf("%s: %+v, want until %s", name, got, c.want)
		}
	}
	pk := parks{runners: map[string]*park{"r": {RunnerParked: executor.RunnerParked{Until: now.Add(time.Minute)}}}}
	if w, ok := pk.onLimit(&node{}, "r", &executor.EffectFailed{Class: executor.FailLimit, Until: now.Add(time.Hour), Detail: "d"}, now).Body.(executor.NodeWaiting); !ok || !w.Until.Equal(now.Add(time.Minute)) {
		t.Errorf("a runner that is parked is parked again: %+v", w)
	}
}

// Sprints whose time has come go on in its order, as far as there are slots, lanes, runners and
// budgets for them. While a budget holds the run, those whose next turn would cost go on at once,
// to wait for people.
func TestWhoGoesOn(t *testing.T) { // execution §4
	now := time.UnixMilli(1_000_000_000).UTC()
	later := now.Add(time.Hour)
	limit := func(r *Run, of ...int) {
		for _, i := range of {
			r.nodes[i].wait.For = executor.ForLimit
		}
	}
	parked := func(r *Run, of ...int) {
		for _, i := range of {
			r.nodes[i].wait.Until = later
		}
	}
	for name, c := range map[string]struct {
		slots  int
		epic   func(*ir.Epic)
		change func(*Run)
		want   string
	}{
		"all":                           {slots: 3, want: "0 1 2"},
		"as many as there are slots":    {slots: 2, want: "0 1"},
		"no slot":                       {slots: 3, change: func(r *Run) { r.queues.running = 3 }, want: ""},
		"not before its time":           {slots: 3, change: func(r *Run) { parked(r, 2) }, want: "0 1"},
		"nobody's time":                 {slots: 3, change: func(r *Run) { parked(r, 0, 1, 2) }, want: ""},
		"a lane takes one":              {slots: 3, epic: inLane(1, 0, 1), want: "0 2"},
		"a lane takes two":              {slots: 3, epic: inLane(2, 0, 1, 2), want: "0 1"},
		"a runner takes one":            {slots: 3, change: func(r *Run) { limit(r, 0, 1, 2) }, want: "0"},
		"one waits for it":              {slots: 3, change: func(r *Run) { limit(r, 1) }, want: "0 1 2"},
		"it is full":                    {slots: 3, change: func(r *Run) { limit(r, 1); r.parks.agents["r"] = 1 }, want: "0 2"},
		"a budget has room for two":     {slots: 3, epic: budgeted, change: func(r *Run) { limit(r, 0, 1, 2) }, want: "0 1"},
		"which others do not ask about": {slots: 3, epic: budgeted, change: func(r *Run) { limit(r, 2) }, want: "0 1"},
		"the run is held":               {slots: 3, epic: budgeted, change: func(r *Run) { r.halt.held.For = executor.ForBudget; parked(r, 1, 2) }, want: "0 1 2"},
		"held, and one costs nothing": {slots: 3, epic: budgeted, change: func(r *Run) {
			r.halt.held.For = executor.ForBudget
			parked(r, 0, 1, 2)
			r.nodes[0].life.stage = stageCollect
		}, want: "1 2"},
		"held, at its limit": {slots: 3, epic: budgeted, change: func(r *Run) {
			r.halt.held.For, r.budget.cost.now.usd = executor.ForBudget, 100
			limit(r, 0, 1, 2)
		}, want: "0 1 2"},
		"held, with a full runner": {slots: 3, change: func(r *Run) {
			r.halt.held.For, r.parks.agents["r"] = executor.ForBudget, 1
			limit(r, 0, 1, 2)
		}, want: "0 1 2"},
	} {
		change := []func(*ir.Epic){}
		if c.epic != nil {
			change = append(change, c.epic)
		}
		r := running(t, 3, c.slots, change...)
		r.queues = queues{ready: r.queues.ready}
		clear(r.queues.ready.items)
		r.queues.ready.classes = nil
		for i := range 3 {
			n := r.nodes[i]
			n.status, n.wait = executor.Waiting, executor.NodeWaiting{For: executor.ForTimer, Until: now.Add(time.Duration(i-10) * time.Minute)}
			n.life.stage, n.life.attempt.agent, n.life.starts = stageAgent, "bot", []string{"b"}
			r.queues.timers = append(r.queues.timers, i)
		}
		if c.change != nil {
			c.change(r)
		}
		var got []string
		for _, e := range r.admit(now) {
			if _, is := e.Body.(executor.NodeResumed); is {
				got = append(got, string(e.Node[len("bd-"):]))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// inLane puts sprints into a lane that takes so many.
func inLane(limit int, of ...int) func(*ir.Epic) {
	return func(e *ir.Epic) {
		e.Run.Concurrency.PerLane = map[string]int{"x": limit}
		for _, i := range of {
			e.Nodes[i].Lane = "x"
		}
	}
}
