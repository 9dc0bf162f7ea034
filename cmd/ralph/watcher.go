package main

import (
	"fmt"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// watcher is told of a run that goes on. Its methods are called one at a time, but
// activity, which may be called at any time.
type watcher interface {
	say(text string)                             // a line about the run as a whole
	events(list []executor.Event)                // what has become durable
	activity(executor.Effect, executor.Activity) // what an agent or gate does just now
	key(ir.NodeID) string                        // what people call a node
	finish()                                     // nothing more is drawn again and again
	account(r *openedRun, b branchHolds, interrupted bool, only []ir.NodeID)
}

// noteTo says lines to a watcher.
func noteTo(w watcher) func(format string, args ...any) {
	return func(format string, args ...any) { w.say(fmt.Sprintf(format, args...)) }
}
