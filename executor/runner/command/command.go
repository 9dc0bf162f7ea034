package command

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// Runner runs programs. It is stateless and may be used concurrently. Its methods have
// pointer receivers: a thousand calls wait in Run, and a value receiver would copy the
// run once more onto each stack.
type Runner struct {
	Base runner.Base // how it runs its program
}

var _ executor.Runner = (*Runner)(nil)

// answerCap bounds what is kept of the answer of a raw run, in bytes.
const answerCap = 2 << 20

// Check implements executor.Runner: the program must exist.
func (c *Runner) Check(_ context.Context, r executor.AgentRun) error {
	_, err := c.Base.Look(r)
	if err == nil {
		_, err = runner.Limits(r.Runner.LimitedWhen)
	}
	return err
}

// Run implements executor.Runner.
func (c *Runner) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	argv, env, err := c.Base.Program(r, nil)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	limited, err := runner.Limits(r.Runner.LimitedWhen)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	if err := runner.Files(r); err != nil {
		return executor.AgentEnded{}, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	spec := c.Base.Spec(r, argv, env, end)
	spec.Stdout = runner.File(r, runner.OutExt)
	spec.Time = time.Duration(r.Step.Limits.TimeoutMS) * time.Millisecond
	spec.Idle = time.Duration(r.Step.Stall.AfterMS) * time.Millisecond
	if r.Raw {
		spec.Cap = answerCap
	}
	switch r.Runner.Prompt {
	case "stdin", "":
		f, err := regular.OpenOwn(runner.File(r, runner.PromptExt))
		if err != nil {
			return executor.AgentEnded{}, err
		}
		defer f.Close()
		spec.Stdin = f // a file: an agent that never reads it blocks nothing
	case "arg":
		spec.Argv = append(argv, string(runner.Prompt(r)))
	}
	if tell := r.Activity; tell != nil {
		p := process.NewPulse(func(n int64, line string) { tell(executor.Activity{Bytes: n, Line: c.Base.Plain(line)}) })
		spec.Tap = p.Heard
		defer p.End()
	}
	res, err := process.Run(ctx, spec)
	process.SweepDir(r.Dir, runner.Mark) // what it hid
	if refused := runner.Refused(ctx, r); refused != nil && err != nil {
		return executor.AgentEnded{}, errors.Join(refused, c.Base.Scrub(r))
	}
	if err != nil {
		return executor.AgentEnded{}, runner.CannotRun(r, err)
	}
	return c.ended(r, res, limited)
}
