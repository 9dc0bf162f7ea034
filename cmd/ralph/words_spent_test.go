package main

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// The time of a turn that was cut is unknown, not 0.
func TestTimeThatIsUnknownIsNotTold(t *testing.T) {
	if got, want := spent(executor.Spent{}), tokens(0, false)+", "+money(0, false); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
