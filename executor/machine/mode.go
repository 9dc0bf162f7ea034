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
// without from: a tracker that was away goes through them, so that its record has no gap.
// An invalid from counts as created. There is no path to an invalid mode.
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

// Mode is the mode of the epic, with the reason. It is derived from the events and is
// not separate state.
func (x Summary) Mode() (mode, reason string) {
	o := x.r.Overview()
	open, done := 0, 0
	for _, n := range x.r.nodes {
		switch n.shown() {
		case executor.Done:
			done++
		case executor.Skipped, executor.Cancelled:
		default:
			if !n.sum || len(x.r.sum.inputs()) > 0 && x.r.sum.doneWith(x.r.sum.inputs()) == nil {
				open++
			}
		}
	}
	counts := countWords(x.r.Summary().Counts(), x.r.Summary().GoOn(), x.r.runs.idle())
	switch {
	case len(x.r.epic.Nodes) == 0:
		return ModeCreated, "it has no sprints yet"
	case x.r.plans != "" && open == 0 && done > 0:
		return ModeReady, "the plan compiled and was approved: " + x.r.plans
	case x.r.plans != "":
		return ModePlanning, "a plan is drafted: " + x.r.plans
	case !x.r.runs.begun && !o.PlanApproved, !x.r.runs.open() && !o.PlanApproved && open > 0:
		return ModePlanning, "the plan waits for approval: digest " + x.r.epic.Digest
	case !x.r.runs.begun && x.r.epic.Run.HITL.Plan == "required":
		return ModeReady, "the plan was approved: digest " + x.r.epic.Digest
	case !x.r.runs.begun:
		return ModePlanning, "compiled from " + x.r.epic.Epic.Plan + "; starting ralph apply approves it"
	case x.r.runs.open() && o.Held.For != "":
		return ModePaused, "held: " + o.Held.Detail
	case x.r.runs.open() && o.Draining != "":
		return ModePaused, "nothing new starts: " + o.Draining
	case x.r.runs.open():
		return ModeBuilding, "ralph apply, started by " + o.By
	case open == 0:
		return ModeComplete, counts
	case o.Draining != "":
		return ModePaused, o.Draining + ": " + counts
	}
	return ModePaused, "the run ended with " + counts
}
