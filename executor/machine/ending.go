package machine

import (
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Ending is the event that ends a run in its present state. With --only just the
// requested nodes count. What has not begun waits for a person's pause, or for a budget;
// so does what waits for a time while nothing is running.
func (x Summary) Ending(interrupted bool) executor.RunEnded {
	e := executor.RunEnded{Interrupted: interrupted, Counts: x.r.Summary().Counts(), GoesOn: x.r.waitingGoOn(true), Outcome: x.r.outcome()}
	switch held := x.r.budget.heldWhy(x.r.at); {
	case interrupted:
		e.Outcome = executor.RunInterrupted
	case e.Outcome == executor.RunTampered:
		e.Reason = "tampered with: " + text.FirstLine(x.r.tampers.unsettled()[0].What)
	case e.Outcome == executor.RunWaiting && x.r.halt.held.For != "":
		e.Reason = "the run is held: " + text.FirstLine(held)
	case e.Outcome == executor.RunBlocked && x.r.halt.cancelled != "":
		e.Reason = "cancelled by " + x.r.halt.cancelled
	}
	return e
}

func (r *Run) outcome() executor.RunOutcome {
	if r.Watch().Tampered() {
		return executor.RunTampered
	}
	out := executor.RunDone
	for _, v := range r.Views() {
		switch {
		case !v.Selected, v.Status.Settled():
		case v.Status == executor.Blocked, v.Status == executor.Cancelled, r.halt.cancelled != "": // what was cut is not done
			return executor.RunBlocked
		case v.ID == executor.Integration && (v.Status == executor.Pending || v.Status == executor.Ready):
		default:
			out = executor.RunWaiting
		}
	}
	return out
}
