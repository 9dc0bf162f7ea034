package main

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// clean removes the worktrees of sprints that are done, if the policy asks for it,
// and says which stay and why.
func (r *openedRun) clean(ctx context.Context, note func(format string, args ...any)) {
	if r.epic.Run.Git.Cleanup != "on_success" {
		return
	}
	var done []ir.NodeID
	for _, v := range r.run.Views() {
		if v.Status == executor.Done && len(v.Attempts) > 0 {
			done = append(done, v.ID)
		}
	}
	kept, err := r.space.Clean(ctx, done)
	for _, k := range kept {
		note("the worktree %s stays: %s", k.Dir, k.Why)
	}
	if err != nil {
		note("%v", err)
	}
}
