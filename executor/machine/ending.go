package machine

import (
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Ending is the event that ends a run as it stands now. With --only what was asked
// for counts alone. What has not begun waits for what a person has paused, or for a
// budget; so does what waits for a time while nothing goes on.
func (r *Run) Ending(interrupted bool) executor.RunEnded {
	e := executor.RunEnded{Interrupted: interrupted, Counts: r.Counts(), GoesOn: r.waitingGoOn(true), Outcome: r.outcome()}
	switch held := r.heldWhy(r.at); {
	case interrupted:
		e.Outcome = executor.RunInterrupted
	case e.Outcome == executor.RunTampered:
		e.Reason = "tampered with: " + text.FirstLine(r.OpenTampers()[0].What)
	case e.Outcome == executor.RunWaiting && r.held.For != "":
		e.Reason = "the run is held: " + text.FirstLine(held)
	case e.Outcome == executor.RunBlocked && r.cancelled != "":
		e.Reason = "cancelled by " + r.cancelled
	}
	return e
}

func (r *Run) outcome() executor.RunOutcome {
	if r.Tampered() {
		return executor.RunTampered
	}
	out := executor.RunDone
	for _, v := range r.Views() {
		switch {
		case !v.Selected, v.Status.Settled():
		case v.Status == executor.Blocked, v.Status == executor.Cancelled, r.cancelled != "": // what was cut is not done
			return executor.RunBlocked
		case v.ID == executor.Integration && (v.Status == executor.Pending || v.Status == executor.Ready):
		default:
			out = executor.RunWaiting
		}
	}
	return out
}
