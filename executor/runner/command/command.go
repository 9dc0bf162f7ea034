package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
)

// Runner runs programs. It is stateless and may be used concurrently.
type Runner struct {
	Secrets map[string]ir.Secret // of the epic, by name
	Cap     int64                // bytes kept of each output; 0 is 64 MiB
	Grace   time.Duration        // between SIGTERM and SIGKILL; 0 is 5 s
	Now     func() time.Time     // to read when a limit ends; nil is time.Now
}

var _ executor.Runner = Runner{}

// Mark is the variable by which the processes of an agent are found again, even
// after ralph was killed: its value is a file in the attempt's directory.
const Mark = "RALPH_OUTCOME"

// answerCap bounds what is kept of the answer of a raw run, in bytes.
const answerCap = 2 << 20

// Check implements executor.Runner: the program has to be there.
func (c Runner) Check(_ context.Context, r executor.AgentRun) error {
	argv, err := c.argv(r)
	if err != nil {
		return configuration(err)
	}
	env, err := c.env(r)
	if err != nil {
		return configuration(err)
	}
	if _, err := limits(r.Runner.LimitedWhen); err != nil {
		return configuration(err)
	}
	if strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		return nil // in the worktree, which need not exist yet
	}
	if _, err := process.Look(argv[0], env, r.Dir); err != nil {
		return configuration(fmt.Errorf("agent %s: %w", agentOf(r), err))
	}
	return nil
}

func configuration(err error) error {
	return &executor.Failure{Class: executor.FailConfig, Err: err}
}

// agentOf names the agent that runs.
func agentOf(r executor.AgentRun) string {
	if r.Agent != "" || r.Step == nil {
		return r.Agent
	}
	return r.Step.Agent
}

// Run implements executor.Runner.
func (c Runner) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	argv, err := c.argv(r)
	if err != nil {
		return executor.AgentEnded{}, configuration(err)
	}
	env, err := c.env(r)
	if err != nil {
		return executor.AgentEnded{}, configuration(err)
	}
	limited, err := limits(r.Runner.LimitedWhen)
	if err != nil {
		return executor.AgentEnded{}, configuration(err)
	}
	if err := os.MkdirAll(r.Files, 0o700); err != nil {
		return executor.AgentEnded{}, err
	}
	for ext, content := range map[string][]byte{promptExt: r.Prompt, feedbackExt: r.Notes} {
		if err := os.WriteFile(file(r, ext), content, 0o600); err != nil {
			return executor.AgentEnded{}, err
		}
	}
	if err := os.Remove(r.OutcomeFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return executor.AgentEnded{}, err
	}
	spec := process.Spec{
		Argv: argv, Dir: r.Dir, Env: env, Stdout: file(r, ".out"), Stderr: file(r, ".err"), Cap: c.Cap, Grace: c.Grace, Mark: Mark,
		Time: time.Duration(r.Step.Limits.TimeoutMS) * time.Millisecond,
		Idle: time.Duration(r.Step.Stall.AfterMS) * time.Millisecond,
	}
	if r.Raw {
		spec.Cap = answerCap
	}
	switch r.Runner.Prompt {
	case "stdin", "":
		f, err := os.Open(file(r, promptExt))
		if err != nil {
			return executor.AgentEnded{}, err
		}
		defer f.Close()
		spec.Stdin = f // a file: an agent that never reads it holds nobody up
	case "arg":
		spec.Argv = append(argv, string(r.Prompt))
	}
	if r.Activity != nil {
		p := process.NewPulse(func(n int64, line string) { r.Activity(executor.Activity{Bytes: n, Line: line}) })
		spec.Tap = p.Heard
		defer p.End()
	}
	res, err := process.Run(ctx, spec)
	var not *process.NotStarted
	switch {
	case errors.As(err, &not):
		return executor.AgentEnded{}, configuration(fmt.Errorf("agent %s cannot run: %w", agentOf(r), err))
	case err != nil:
		return executor.AgentEnded{}, err
	}
	return c.ended(r, res, limited)
}
