package local

import (
	"context"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Decide turns what a person said into the event that records it, or refuses it
// (*executor.Refused). It is used by who holds the lock: a run, or a command
// while none runs.
func Decide(ctx context.Context, run *executor.Run, ws executor.Workspace, node ir.NodeID, d executor.Decision) (executor.Event, error) {
	bound, err := run.Consider(node, d, time.Now())
	if err != nil {
		return executor.Event{}, err
	}
	if d.Verb == executor.RetryNode && d.How == executor.HowPlain && node != "" && !run.GoesOnAsIs(node) {
		edited, err := ws.Edited(ctx, node)
		if err != nil {
			return executor.Event{}, err
		}
		if edited {
			return executor.Event{}, &executor.Refused{
				Why:  "somebody worked in its worktree (" + ws.Dir(node) + ") since the last attempt",
				Hint: "ralph retry KEY --gates-only makes an attempt of what is there, ralph retry KEY --discard saves and resets it",
			}
		}
	}
	return executor.Event{Node: node, Body: executor.Decided{Decision: bound}}, nil
}
