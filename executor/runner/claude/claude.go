package claude

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Runner runs Claude Code. It is stateless and may be used concurrently.
type Runner struct {
	Base runner.Base // how it runs its program
}

var _ executor.Program = Runner{}

// program is what is run if the runner's block names nothing else.
const program = "claude"

// Describe implements executor.Program.
func (Runner) Describe() executor.Description {
	return executor.Description{Name: "Claude Code", Tested: ">= 2.1.328, < 2.2"}
}

// Check implements executor.Runner: the program must exist.
func (c Runner) Check(_ context.Context, r executor.AgentRun) error {
	_, err := c.Base.Look(r, program)
	if err == nil {
		_, err = runner.Limits(r.Runner.LimitedWhen)
	}
	return err
}

// Version implements executor.Program.
func (c Runner) Version(ctx context.Context, r executor.AgentRun) (string, error) {
	return c.Base.SaysVersion(ctx, r, program)
}

// Join implements executor.Program.
func (c Runner) Join(r executor.AgentRun, session string) executor.Join {
	argv, err := c.Base.Argv(r, program)
	if err != nil || session == "" {
		return executor.Join{}
	}
	return executor.Join{Argv: append(argv, "--resume", session)}
}

// oneLine is a text on one line, at most n bytes of it.
func oneLine(s string, n int) string { return text.Clip(executor.Clean(text.OneLine(s)), n) }
