package words

import (
	"strings"
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
		if got, want := Shown(v), strings.Split(want, ":")[0]; got != want {
			t.Errorf("shown as %q, want %q", got, want)
		}
	}
}

// Nobody has cancelled an attempt that was answered, or whose sprint started again.
func TestAnAttemptThatAnotherHasReplacedSaysSo(t *testing.T) {
	v := machine.NodeView{Status: executor.Running}
	for want, a := range map[string]machine.AttemptLog{
		"replaced":  {Status: executor.AttemptCancelled, Replaced: true},
		"cancelled": {Status: executor.AttemptCancelled},
		"failed":    {Status: executor.AttemptFailed},
	} {
		if got := Attempt(v, a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	e := executor.Event{Step: "implement", Attempt: 1, Body: executor.AttemptEnded{Status: executor.AttemptCancelled, Free: true, Next: "implement", Reason: "ended by ada, who asked for another"}}
	if got := Event(e, nil); got != "implement #1: replaced: ended by ada, who asked for another" {
		t.Error(got)
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
