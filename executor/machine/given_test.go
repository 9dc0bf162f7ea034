package machine_test

import (
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// What a person handed in is theirs in every later attempt that goes on from it, and in none
// that begins at the step's start again.
func TestWhatAPersonHandedInStaysTheirs(t *testing.T) { // execution §5 (a person's own fix: only listed)
	s := newScript(t, []string{"1.1"}, gatesOf("bad"))
	var given []string
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectCollect {
			given = append(given, e.Given)
		}
		return saysGate("bad", executor.Fail)(e)
	}
	s.begin()
	s.end()
	s.ok("1.1", executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly})
	s.begin()
	s.end()
	theirs := s.view("1.1").Attempts[3].Commit
	s.ok("1.1", executor.Decision{Verb: executor.RetryNode})
	s.begin()
	s.end()
	if want := []string{"", "", "", "", theirs, theirs, theirs}; theirs == "" || !slices.Equal(given, want) {
		t.Errorf("given %q, not %q", given, want)
	}
}
