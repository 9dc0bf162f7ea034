package workspace

import (
	"context"
	"errors"

	"github.com/ralph-compiler/ralph/executor"
)

var errNotYet = errors.New("not built yet")

// Pull implements executor.Workspace.
func (s *Space) Pull(context.Context, executor.Effect, executor.PullText) (executor.Pulled, error) {
	return executor.Pulled{}, errNotYet
}

// Poll implements executor.Workspace.
func (s *Space) Poll(context.Context, executor.Effect) (executor.PullSeen, error) {
	return executor.PullSeen{}, errNotYet
}
