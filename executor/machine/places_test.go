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
		"its life is over":            {stageAgent, func(_ *Run, n *node) { n.life.stale = true }, "r", ""},
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

// A slot is wanted while others begin; not while nobody does.
func TestWhoWantsASlot(t *testing.T) { // execution §4
	now := time.UnixMilli(1_000_000_000).UTC()
	for name, c := range map[string]struct {
		change func(*Run)
		want   bool
	}{
		"a sprint is ready":     {nil, true},
		"the run ends":          {func(r *Run) { r.halt.draining = true }, false},
		"a person holds it":     {func(r *Run) { r.halt.held.For = executor.ForHuman }, false},
		"its runner is parked":  {func(r *Run) { r.parks.of("other").Until = now.Add(time.Hour) }, false},
		"its runner is no more": {func(r *Run) { r.parks.of("other").Until = now.Add(-time.Hour) }, true},
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
