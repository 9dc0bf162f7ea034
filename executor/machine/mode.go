package machine

import (
	"slices"

	"github.com/ralph-compiler/ralph/executor"
)

// Modes of an epic as a whole, in the words of trackers.
const (
	ModeCreated  = "created"         // it has no nodes yet
	ModePlanning = "planning"        // its plan waits for approval
	ModeReady    = "ready_for_build" // ralph apply may begin
	ModeBuilding = "building"        // a run goes on
	ModePaused   = "paused"          // a run was interrupted, is held, or ended with something left
	ModeComplete = "complete"        // everything is done, skipped or cancelled
)

// modeMoves is the total table of legal transitions: building is reached from a
// plan that was approved, and from what a run left.
var modeMoves = map[string][]string{
	ModeCreated:  {ModePlanning},
	ModePlanning: {ModeReady},
	ModeReady:    {ModeBuilding, ModePlanning},
	ModeBuilding: {ModePaused, ModeComplete},
	ModePaused:   {ModeBuilding, ModePlanning, ModeComplete},
	ModeComplete: {ModePlanning, ModeReady, ModePaused},
}

// ModePath returns the shortest sequence of legal transitions from one mode to another,
// without from: a tracker that was away is taken through them, so that its record has no
// gap. An invalid from counts as created. There is no path to an invalid mode.
func ModePath(from, to string) []string {
	if from == to {
		return nil
	}
	if _, known := modeMoves[from]; !known {
		from = ModeCreated
		if to == from {
			return []string{to}
		}
	}
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range modeMoves[queue[0]] {
			if _, seen := before[next]; seen {
				continue
			}
			before[next] = queue[0]
			if next != to {
				queue = append(queue, next)
				continue
			}
			var out []string
			for at := to; at != from; at = before[at] {
				out = append(out, at)
			}
			slices.Reverse(out)
			return out
		}
	}
	return nil
}

// Mode is the mode of the epic and why it is in it. It is derived from the events
// and is no state of its own.
func (r *Run) Mode() (mode, reason string) {
	o := r.Overview()
	open, done := 0, 0
	for _, n := range r.nodes {
		switch r.shown(n) {
		case executor.Done:
			done++
		case executor.Skipped, executor.Cancelled:
		default:
			if !n.sum || len(r.sumInputs()) > 0 && r.sumDone(r.sumInputs()) == nil {
				open++
			}
		}
	}
	counts := countWords(r.Counts(), r.GoOn(), r.Idle())
	switch {
	case len(r.epic.Nodes) == 0:
		return ModeCreated, "it has no sprints yet"
	case r.epic.Plans() != "" && open == 0 && done > 0:
		return ModeReady, "the plan compiled and was approved: " + r.epic.Plans()
	case r.epic.Plans() != "":
		return ModePlanning, "a plan is drafted: " + r.epic.Plans()
	case !r.begun && !o.PlanApproved, !r.Open() && !o.PlanApproved && open > 0:
		return ModePlanning, "the plan waits for approval: digest " + r.epic.Digest
	case !r.begun && r.epic.Run.HITL.Plan == "required":
		return ModeReady, "the plan was approved: digest " + r.epic.Digest
	case !r.begun:
		return ModePlanning, "compiled from " + r.epic.Epic.Plan + "; starting ralph apply approves it"
	case r.Open() && o.Held.For != "":
		return ModePaused, "held: " + o.Held.Detail
	case r.Open() && o.Draining != "":
		return ModePaused, "nothing new starts: " + o.Draining
	case r.Open():
		return ModeBuilding, "ralph apply, started by " + o.By
	case open == 0:
		return ModeComplete, counts
	case o.Draining != "":
		return ModePaused, o.Draining + ": " + counts
	}
	return ModePaused, "the run ended with " + counts
}
