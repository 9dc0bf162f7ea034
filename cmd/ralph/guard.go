package main

import (
	"slices"

	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
)

// refuseAgents refuses to decide for a caller that an agent or a gate started: it
// would approve itself. It is a guard rail and no wall: a program that clears its
// environment and detaches from everything is not seen, and runs as the same user.
func refuseAgents(holder journal.Owner, held bool) error {
	inside := process.MarkedAncestor(runner.Mark, gate.Mark) != 0
	if held && holder.PID > 0 && slices.Contains(process.Ancestors(), holder.PID) {
		inside = true
	}
	if inside {
		return inputErrorf("this is for people: it was called from inside an agent or a gate of a run.\n  If you are a person, call it from a terminal of your own")
	}
	return nil
}
