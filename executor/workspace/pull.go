package workspace

import (
	"context"
	"errors"
	"io"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

var errNotYet = errors.New("not built yet")

// Land implements executor.Workspace.
func (s *Space) Land(context.Context, executor.Effect) (executor.Landed, error) {
	return executor.Landed{}, errNotYet
}

// Pull implements executor.Workspace.
func (s *Space) Pull(context.Context, executor.Effect, executor.PullText) (executor.Pulled, error) {
	return executor.Pulled{}, errNotYet
}

// Poll implements executor.Workspace.
func (s *Space) Poll(context.Context, executor.Effect) (executor.PullSeen, error) {
	return executor.PullSeen{}, errNotYet
}

// Diff implements executor.Workspace.
func (s *Space) Diff(context.Context, string, string, io.Writer) error { return errNotYet }

// Edited implements executor.Workspace.
func (s *Space) Edited(context.Context, ir.NodeID) (bool, error) { return false, nil }
