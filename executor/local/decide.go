package local

import (
	"context"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// Decide turns a person's decision into the event that records it at the time now, or
// refuses it (*executor.Refused). The caller holds the lock: a run, or a command while
// none is active.
func Decide(ctx context.Context, run *machine.Run, ws executor.Workspace, node ir.NodeID, d executor.Decision, now time.Time) (executor.Event, error) {
	look, err := run.Decisions().Weigh(node, d, now)
	if err != nil {
		return executor.Event{}, err
	}
	where := ""
	if look {
		edited, err := ws.Edited(ctx, node)
		if err != nil {
			return executor.Event{}, err
		}
		if edited {
			where = ws.Dir(node)
		}
	}
	return run.Decisions().Decide(node, d, where, now)
}
