package executor

import (
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// Action is what a run would do about a node.
type Action string

// Actions.
const (
	ActKeep    Action = "keep"       // its result is on record and still true
	ActRun     Action = "run"        // it has no result yet
	ActRerun   Action = "re-run"     // its result is not true any longer: Cause
	ActMay     Action = "may re-run" // something it needs runs again; if that comes out the same, it is kept
	ActJudge   Action = "judge"      // only its gates run again
	ActGoOn    Action = "go on"      // it was interrupted or waits for something that is tried again
	ActWait    Action = "wait"       // for a person
	ActBlocked Action = "blocked"    // it or something it needs; retry reopens it
	ActDone    Action = "done"       // by the plan, by the base, or skipped
	ActGone    Action = "gone"       // on record, not in the epic
	ActLeave   Action = "leave"      // not selected by --only
)

// Planned is what a run would do about one node.
type Planned struct {
	Node   ir.NodeID
	Key    ir.Key
	Title  string
	Action Action
	Cause  string // "its text changed", "its base changed (1.1)", "needs 1.2 (blocked)"
}

// Plan says what a run that starts so would do about every node, in the epic's
// order, the sum last and nodes that are gone after it. It uses the run up: it
// must not be used further.
func (r *Run) Plan(start RunStarted, now time.Time) ([]Planned, error) {
	return nil, &Refused{Why: "not built yet"}
}
