package words

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor/machine"
)

// The time of a turn that was cut is unknown, not 0.
func TestTimeThatIsUnknownIsNotTold(t *testing.T) {
	if got, want := Spent(machine.Spent{}), Tokens(0, false)+", "+Money(0, false); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
