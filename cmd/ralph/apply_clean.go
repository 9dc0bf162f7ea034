package main

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// cleanUp removes the worktrees of nodes that are done, where policy says so, and
// names those that hold what is nowhere else.
func (r *openedRun) cleanUp(ctx context.Context, view *applyView) {
	if r.epic.Run.Git.Cleanup != "on_success" {
		return
	}
	var done []ir.NodeID
	for _, v := range r.run.Views() {
		if v.Status == executor.Done && v.ID != executor.Integration {
			done = append(done, v.ID)
		}
	}
	kept, err := r.space.Clean(ctx, done)
	if err != nil {
		view.note("warning: %v", err)
	}
	for _, k := range kept {
		view.note("kept the worktree %s: %s", k.Dir, k.Why)
	}
}
