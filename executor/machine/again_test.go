package machine_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// What is to run again runs, whatever the plan says of it, and though the base holds its result.
func TestWhatIsToRunAgainRuns(t *testing.T) { // execution §2
	of := []ir.NodeID{"bd-1-1"}
	ran := func(s *stage) int { return len(s.view("1.1").Attempts) }
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) { e.Nodes[0].Done = true })
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	if ran(s) != 0 {
		t.Errorf("what the plan calls done ran %d times", ran(s))
	}
	s.begin(func(r *executor.RunStarted) { r.Rerun = of })
	s.end()
	s.is("1.1", executor.Done, "", "")
	if ran(s) != 1 {
		t.Errorf("what was to run again ran %d times", ran(s))
	}
	s.begin(func(r *executor.RunStarted) { r.Merged = of })
	s.end()
	s.is("1.1", executor.Done, "", "")
	if ran(s) != 1 {
		t.Errorf("what the base holds ran: %d times in all", ran(s))
	}
	s.begin(func(r *executor.RunStarted) { r.Merged, r.Rerun = of, of })
	s.end()
	s.is("1.1", executor.Done, "", "")
	if ran(s) != 2 {
		t.Errorf("what the base holds, and is to run again, ran %d times in all", ran(s))
	}
}
