package web

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// A running sprint has behind it what it has worked.
func TestAForecastGoesOnFromWhatWasWorked(t *testing.T) {
	ended := machine.NodeView{Key: "1.1", Status: executor.Done, Attempts: []machine.AttemptLog{
		{Step: "implement", Number: 1, Status: executor.AttemptPassed, Agent: "dev", Millis: 600_000, Turns: 1},
	}}
	running := machine.NodeView{Key: "1.2", Status: executor.Running, Step: "implement", Attempts: []machine.AttemptLog{
		{Step: "implement", Number: 1, Status: executor.AttemptRunning, Agent: "dev"},
	}}
	rest := executortest.Epic([]string{"1.2", "1.3: 1.2"}, func(e *ir.Epic) {
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Limits.TimeoutMS = 3_600_000
		}
	})
	of := func(worked, silent time.Duration) time.Duration {
		t.Helper()
		running.Worked = worked
		f := play(t.Context(), rest, scenarioOf([]machine.NodeView{ended, running}, silent))
		if f == nil {
			t.Fatal("no forecast")
		}
		return (time.Duration(f.P50MS) * time.Millisecond).Round(time.Minute)
	}
	whole := of(0, 0)
	for _, c := range []struct{ worked, silent, less time.Duration }{
		{4 * time.Minute, 0, 4 * time.Minute},
		{4 * time.Minute, 3 * time.Minute, 7 * time.Minute},
		{time.Hour, 0, 10 * time.Minute}, // it takes no less than nothing
	} {
		if got := of(c.worked, c.silent); got != whole-c.less {
			t.Errorf("worked %s, then silent for %s: %s, and %s at first", c.worked, c.silent, got, whole)
		}
	}
}
