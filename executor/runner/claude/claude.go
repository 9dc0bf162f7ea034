package claude

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Runner runs Claude Code. It is stateless and may be used concurrently.
type Runner struct{ runner.Base }

var _ executor.Program = Runner{}

// program is what is run if the runner's block names nothing else.
const program = "claude"

// Describe implements executor.Program.
func (Runner) Describe() executor.Description {
	return executor.Description{Name: "Claude Code", Tested: ">= 2.1.328, < 2.2"}
}

// Check implements executor.Runner: the program has to be there.
func (c Runner) Check(_ context.Context, r executor.AgentRun) error {
	if _, err := runner.Limits(r.Runner.LimitedWhen); err != nil {
		return runner.Configuration(err)
	}
	_, err := c.Look(r, program)
	return err
}

// versionTime is how long the program may take to say its version.
const versionTime = 30 * time.Second

// Version implements executor.Program.
func (c Runner) Version(ctx context.Context, r executor.AgentRun) (string, error) {
	argv, err := c.Argv(r, program)
	if err != nil {
		return "", runner.Configuration(err)
	}
	env, err := c.Env(r, nil)
	if err != nil {
		return "", runner.Configuration(err)
	}
	dir, err := regular.MkdirTemp("ralph-claude-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	res, err := process.Run(ctx, process.Spec{Argv: append(argv, "--version"), Dir: dir, Env: env, Stdout: out, Stderr: out, Cap: 64 << 10, Time: versionTime})
	if err != nil {
		return "", runner.Configuration(fmt.Errorf("ask %s for its version: %w", argv[0], err))
	}
	text, err := process.Tail(out, 64<<10)
	if err != nil {
		return "", err
	}
	version, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if res.How != process.Exited || res.Code != 0 || version == "" {
		return "", runner.Configuration(fmt.Errorf("%s --version said no version: %s", argv[0], oneLine(text, 200)))
	}
	return version, nil
}

// Join implements executor.Program.
func (c Runner) Join(r executor.AgentRun, session string) []string {
	argv, err := c.Argv(r, program)
	if err != nil || session == "" {
		return nil
	}
	return append(argv, "--resume", session)
}

// oneLine is a text on one line, at most n bytes of it.
func oneLine(s string, n int) string {
	return text.Clip(executor.Clean(text.OneLine(s)), n)
}
