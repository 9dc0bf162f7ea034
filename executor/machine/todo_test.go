package machine

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

func TestTheSoonerTimeWakes(t *testing.T) {
	early, late := time.UnixMilli(1_000), time.UnixMilli(2_000)
	for name, c := range map[string]struct{ wake, at, want time.Time }{
		"none before":    {time.Time{}, late, late},
		"a sooner one":   {late, early, early},
		"a later one":    {early, late, early},
		"the same":       {late, late, late},
		"nothing to add": {late, time.Time{}, late},
		"nothing at all": {},
	} {
		if sooner(&c.wake, c.at); !c.wake.Equal(c.want) {
			t.Errorf("%s: it wakes at %s, want %s", name, c.wake, c.want)
		}
	}
}

func TestTheLowerOfTwoLimitsOfARunnerHolds(t *testing.T) {
	for _, c := range []struct{ own, ofRun, want int }{{0, 0, 0}, {3, 0, 3}, {0, 1, 1}, {0, 2, 2}, {1, 2, 1}, {2, 1, 1}, {3, 2, 2}, {2, 2, 2}} {
		e := &ir.Epic{Runners: map[string]ir.Runner{"sh": {Concurrent: c.own}}, Run: ir.Run{Concurrency: ir.Concurrency{PerRunner: map[string]int{"sh": c.ofRun}}}}
		if got := (&rules{epic: e}).runnerLimit("sh"); got != c.want {
			t.Errorf("%d of the runner, %d of the run: %d, want %d", c.own, c.ofRun, got, c.want)
		}
	}
}

// What cannot be is said as what it is: no run stands still without a word.
func TestARunThatCannotGoOnSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		broken func(*Run)
		want   string
	}{
		"a wait":      {func(r *Run) { r.queues.timers = []int{0} }, "a wait is over"},
		"a node":      {func(r *Run) { r.queues.active = set{0} }, "node 1 runs and needs nothing"},
		"ready nodes": {func(r *Run) { r.queues.ready.n = 1 }, "nodes are ready and none may start"},
	} {
		run, err := New(&ir.Epic{
			Epic: ir.Header{ID: "bd-e", Integration: ir.Integration{Mode: "dag"}}, Digest: "d",
			Nodes: []ir.Node{{ID: "bd-1", Key: "1", Digest: ir.NodeDigest{Work: "w", Judge: "j"}, Steps: []ir.Step{{Name: "s", Agent: "a", Access: "write"}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if todo := run.Todo(time.UnixMilli(0)); todo.Stuck != "the run has not started" {
			t.Errorf("before it starts: %+v", todo)
		}
		if err := run.Apply(executor.Event{Seq: 1, Body: executor.RunStarted{Epic: "bd-e", Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: 1}}); err != nil {
			t.Fatal(err)
		}
		c.broken(run)
		var todo Todo
		if run.rest(&todo); !strings.Contains(todo.Stuck, c.want) || todo.Done {
			t.Errorf("%s: %+v, want %q", name, todo, c.want)
		}
		todo = Todo{Wake: time.UnixMilli(1)}
		if run.rest(&todo); todo.Stuck != "" || todo.Done {
			t.Errorf("%s, to go on at a time: %+v", name, todo)
		}
	}
}

// A run that is stopped goes on with what has not come to a rest by itself.
func TestWhatIsUnfinished(t *testing.T) {
	for name, c := range map[string]struct {
		node           node
		running, ready int
		want           bool
	}{
		"nothing":                {node{status: executor.Done}, 0, 0, false},
		"one runs":               {node{status: executor.Running}, 1, 0, true},
		"one is ready":           {node{status: executor.Ready}, 0, 1, true},
		"one waits for a person": {node{status: executor.Waiting, wait: executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseQuestion}}, 0, 0, false},
		"one waits for a time":   {node{status: executor.Waiting, wait: executor.NodeWaiting{For: executor.ForTimer}}, 0, 0, true},
		"one is held":            {node{status: executor.Waiting, wait: executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseHeld}}, 0, 0, true},
		"one that was held":      {node{status: executor.Done, wait: executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseHeld}}, 0, 0, false},
		"one that waited":        {node{status: executor.Done, wait: executor.NodeWaiting{For: executor.ForTimer}}, 0, 0, false},
		"one that has not begun": {node{status: executor.Pending}, 0, 0, false},
	} {
		q := &queues{graph: &graph{nodes: []*node{&c.node}}, running: c.running, ready: queue{n: c.ready}}
		if got := q.unfinished(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
