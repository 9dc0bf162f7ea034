package run

import (
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// watcher observes a run. Its methods are called one at a time, except activity, which may
// be called at any time.
type watcher interface {
	Say(text string)                             // a line about the run as a whole
	Events(list []executor.Event)                // what has become durable
	Activity(executor.Effect, executor.Activity) // what an agent or gate does just now
	Key(ir.NodeID) string                        // what people call a node
	Finish()                                     // nothing more is drawn again and again
	Account(r *Opened, b record.BranchHolds, interrupted bool, only []ir.NodeID)
}
