package executor

import (
	"context"
	"iter"

	"github.com/ralph-compiler/ralph/ir"
)

// Journal keeps events. It is owned by one goroutine.
type Journal interface {
	// Append writes events and returns when all of them are on stable storage;
	// either all are written or none. Their Seq must go on from the last one
	// written, from 1. After an error the journal refuses further events: the
	// caller cannot know what was written and must open it again.
	Append(ctx context.Context, events []Event) error
	// Events yields what was written, in order, and stops after the first error
	// (damage is reported with its sequence number).
	Events(ctx context.Context) iter.Seq2[Event, error]
	Close() error
}

// Workspace is the only one who touches git and worktrees. All its methods are
// idempotent for the same Effect, may run concurrently for different nodes, and
// return a *Failure where the world stands in the way in a known manner.
type Workspace interface {
	// Base merges e.Inputs in order, without a worktree. Same inputs, same commit.
	Base(ctx context.Context, e Effect) (Tree, error)
	// Prepare puts the node's worktree at e.Commit and sets it up. What differs
	// from the commit that ralph last left there is saved first; it returns the
	// ref that keeps it, or "".
	Prepare(ctx context.Context, e Effect) (saved string, err error)
	// Dir is the worktree's directory. It does no I/O.
	Dir(node ir.NodeID) string
	// Collect makes one commit of what the attempt left and checks it.
	Collect(ctx context.Context, e Effect, o Outcome) (Collected, error)
	// Publish pins e.Commit as the node's result and moves its branch there.
	Publish(ctx context.Context, e Effect) (Published, error)
}

// Runner executes agents of one kind. It may be used concurrently.
type Runner interface {
	// Check reports why the agent of r cannot run at all, or nil. It is asked
	// before a run and costs little.
	Check(ctx context.Context, r AgentRun) error
	// Run executes one iteration and returns when the agent and all processes it
	// left behind are gone. Cancelling ctx kills them; the error is then ctx's.
	Run(ctx context.Context, r AgentRun) (AgentEnded, error)
}

// AgentRun asks for one iteration of an agent.
type AgentRun struct {
	Node   *ir.Node
	Step   *ir.Step
	Runner ir.Runner
	Effect Effect
	Epic   ir.NodeID
	Dir    string            // worktree
	Files  string            // directory of this attempt's files, exists
	Prompt []byte            // the whole prompt
	Notes  []byte            // feedback on the attempt before, empty on a first one
	Env    map[string]string // set for every process in the worktree
}

// Gate judges one kind of gate. It may be used concurrently.
type Gate interface {
	// Judge returns the verdict; everything that is not a clear pass, fail or
	// stop is the verdict error. The error is ctx's, when it was cancelled.
	Judge(ctx context.Context, r GateRun) (GateJudged, error)
}

// GateRun asks for one verdict.
type GateRun struct {
	Node   *ir.Node
	Name   string
	Gate   ir.Gate
	Effect Effect
	Epic   ir.NodeID
	Dir    string // worktree at exactly the collected commit
	Files  string // directory of this attempt's files, exists
	Env    map[string]string
}

// Failure is an error of a known class; other errors are transient.
type Failure struct {
	Class FailureClass
	Err   error
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }
