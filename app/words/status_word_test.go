package words

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

func TestWhatWasApprovedGoesOn(t *testing.T) { // execution §5: no timer where there is none
	for want, v := range map[string]machine.NodeView{
		"goes on":           {Status: executor.Waiting, For: executor.ForTimer, Reason: "approved by ada"},
		"waiting: timer":    {Status: executor.Waiting, For: executor.ForTimer, Until: time.Now(), Reason: "tried again"},
		"waiting: approval": {Status: executor.Waiting, For: executor.ForHuman, Cause: executor.CauseApproval},
	} {
		if got := Status(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A sprint that has not begun because it is paused is said to be paused once.
func TestWhyASprintIsNotDoneSaysOnceThatItIsPaused(t *testing.T) {
	for want, v := range map[string]machine.NodeView{
		"paused by ann":                      {Status: executor.Pending, Reason: "paused by ann", Paused: "ann"},
		"needs 1.1 (running); paused by ann": {Status: executor.Pending, Reason: "needs 1.1 (running)", Paused: "ann"},
	} {
		if got := WhyNot(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
