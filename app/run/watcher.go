package run

import (
	"fmt"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// watcher is told of a run that goes on. Its methods are called one at a time, but
// activity, which may be called at any time.
type watcher interface {
	Say(text string)                             // a line about the run as a whole
	Events(list []executor.Event)                // what has become durable
	Activity(executor.Effect, executor.Activity) // what an agent or gate does just now
	Key(ir.NodeID) string                        // what people call a node
	Finish()                                     // nothing more is drawn again and again
	Account(r *Opened, b record.BranchHolds, interrupted bool, only []ir.NodeID)
}

// noteTo says lines to a watcher.
func noteTo(w watcher) func(format string, args ...any) {
	return func(format string, args ...any) { w.Say(fmt.Sprintf(format, args...)) }
}
