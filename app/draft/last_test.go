package draft

import (
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

func TestWhatHappenedIsToldOnce(t *testing.T) {
	told := &lastTold{}
	told.attempt(machine.AttemptLog{
		Step: "implement", Number: 1, Status: executor.AttemptFailed, Reason: "nothing changed since the step started; and 1 more",
		Outcome: executor.Outcome{Summary: "did it"}, Problems: []string{"nothing changed since the step started", "a.go holds conflict markers"},
	})
	want := []string{
		"  - implement #1: failed", "    nothing changed since the step started; and 1 more",
		"    its agent said: did it", "    a.go holds conflict markers",
	}
	if !slices.Equal(told.lines, want) {
		t.Errorf("told %q, want %q", told.lines, want)
	}
}
