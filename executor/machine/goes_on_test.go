package machine_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// When a run has ended nothing runs, wherever that is said; what was cut goes on with
// the next one, and so does what waits for a time or was decided.
func TestWhatNeedsNobodyGoesOn(t *testing.T) { // execution §5
	s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3"}, func(e *ir.Epic) { e.Nodes[2].Kind, e.Nodes[2].Steps = ir.Manual, nil })
	s.begin(func(r *executor.RunStarted) { r.Slots = 2 })
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	if v := s.view("1.1"); v.Interrupted || v.GoesOn || s.run.Summary().GoOn() != 0 {
		t.Errorf("while it runs: %+v", v)
	}
	if v := s.view("1.3"); v.Status != executor.Waiting || v.GoesOn {
		t.Errorf("1.3 waits for a person: %s, goes on %v", v.Status, v.GoesOn)
	}
	s.ok("1.3", executor.Decision{Verb: executor.Approve, By: "ann"})
	if v := s.view("1.3"); !v.GoesOn || s.run.Summary().GoOn() != 1 {
		t.Errorf("decided: goes on %v, %d in all", v.GoesOn, s.run.Summary().GoOn())
	}
	ended := s.run.Summary().Ending(true)
	if ended.GoesOn != 1 {
		t.Errorf("%d go on at the run's end", ended.GoesOn)
	}
	s.put(executor.Event{Body: ended})
	if v := s.view("1.1"); v.Status != executor.Running || !v.Interrupted || !v.GoesOn {
		t.Errorf("after its end: %s, interrupted %v, goes on %v", v.Status, v.Interrupted, v.GoesOn)
	}
	if v := s.view("1.2"); !strings.Contains(v.Reason, "1.1 (interrupted)") {
		t.Errorf("1.2 %s", v.Reason)
	}
	all := s.run.Node("").Comments()
	if got := all[len(all)-1].Text; !strings.HasSuffix(got, ": 1 pending, 1 interrupted, 1 to go on") {
		t.Errorf("the last comment is %q", got)
	}
	s.put(executor.Event{Body: executor.RunHeld{For: executor.ForBudget, Detail: "used up"}})
	if v := s.view("1.1"); v.GoesOn {
		t.Error("it goes on although the run is held")
	}
}
