package machine_test

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

func TestALaterRunDoesNotMoveTheEndOfWhatIsDone(t *testing.T) { // execution §5 status: last activity
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	s.begin()
	s.end()
	before := []machine.NodeView{s.view("1.1"), s.view("1.2"), s.view(executor.Integration)}
	s.now = s.now.Add(time.Hour)
	s.begin()
	s.end()
	for _, was := range before {
		now := s.view(string(was.Key))
		if now.Status != executor.Done || !now.Ended.Equal(was.Ended) || !now.Since.Equal(was.Since) {
			t.Errorf("%s is %s and ended %s (since %s), want %s (since %s)", was.Key, now.Status, now.Ended, now.Since, was.Ended, was.Since)
		}
	}
}
