package executor

import "github.com/ralph-compiler/ralph/internal/text"

// RunOutcome is how a run ended.
type RunOutcome string

const (
	RunDone        RunOutcome = "done"
	RunBlocked     RunOutcome = "blocked"  // or cancelled
	RunTampered    RunOutcome = "tampered" // see Run.Tampered; whatever else came of it
	RunWaiting     RunOutcome = "waiting"  // for a person, a budget, or kept back
	RunInterrupted RunOutcome = "interrupted"
	RunKilled      RunOutcome = "killed" // no event says so: it has no end
)

// Ending is the event that ends a run as it stands now. With --only what was asked
// for counts alone. What has not begun waits for what a person has paused, or for a
// budget; so does what waits for a time while nothing goes on.
func (r *Run) Ending(interrupted bool) RunEnded {
	e := RunEnded{Interrupted: interrupted, Counts: r.Counts(), GoesOn: r.waitingGoOn(true), Outcome: r.outcome()}
	switch held := r.heldWhy(r.at); {
	case interrupted:
		e.Outcome = RunInterrupted
	case e.Outcome == RunTampered:
		e.Reason = "tampered with: " + text.FirstLine(r.OpenTampers()[0].What)
	case e.Outcome == RunWaiting && r.held.For != "":
		e.Reason = "the run is held: " + text.FirstLine(held)
	case e.Outcome == RunBlocked && r.cancelled != "":
		e.Reason = "cancelled by " + r.cancelled
	}
	return e
}

func (r *Run) outcome() RunOutcome {
	if r.Tampered() {
		return RunTampered
	}
	out := RunDone
	for _, v := range r.Views() {
		switch {
		case !v.Selected, v.Status.settled():
		case v.Status == Blocked, v.Status == Cancelled, r.cancelled != "": // what was cut is not done
			return RunBlocked
		case v.ID == Integration && (v.Status == Pending || v.Status == Ready):
		default:
			out = RunWaiting
		}
	}
	return out
}
