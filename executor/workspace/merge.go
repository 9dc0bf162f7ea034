package workspace

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
)

func (s *Space) mergeHeads(w *worktree) []string { return nil }

func (s *Space) prepareMerge(ctx context.Context, w *worktree, e executor.Effect) (executor.Prepared, error) {
	return executor.Prepared{}, errNotYet
}
