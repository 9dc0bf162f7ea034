package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
)

// trial is a clone of a repository in which commands are tried as gates would run
// them.
type trial struct {
	top   string // of all that it made
	limit time.Duration
	runs  int
}

// newTrial clones what is committed. The repository itself is only read.
func newTrial(ctx context.Context, dir string, limit time.Duration) (*trial, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = process.Environ(map[string]string{"GIT_TERMINAL_PROMPT": "0"}, "SSH_AUTH_SOCK")
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	if _, err := git("-C", dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return nil, errors.New("HEAD names no commit that git can read; agents start from one")
	}
	top, err := os.MkdirTemp("", "ralph-init-")
	if err != nil {
		return nil, err
	}
	t := &trial{top: top, limit: limit}
	if out, err := git("clone", "--quiet", "--local", "--no-tags", "--single-branch", "--template=", "--", dir, t.dir()); err != nil {
		t.end()
		return nil, fmt.Errorf("git clone: %s", firstOf(process.Plain(out), err.Error()))
	}
	return t, nil
}

func (t *trial) dir() string { return filepath.Join(t.top, "repository") }

// end removes all that the trial made.
func (t *trial) end() { _ = os.RemoveAll(t.top) } // what is left lies in the directory for temporary files

// run runs a command as a gate.
func (t *trial) run(ctx context.Context, command string) (executor.GateJudged, error) {
	t.runs++
	return gate.Command{}.Judge(ctx, executor.GateRun{
		Name: "tests", Node: &ir.Node{ID: "init", Key: "init"}, Epic: "init", Effect: executor.Effect{Step: "init", Attempt: t.runs},
		Gate: ir.Gate{Kind: "command", Run: strings.ReplaceAll(command, "${", "$${"), TimeoutMS: t.limit.Milliseconds()},
		Dir:  t.dir(), Files: filepath.Join(t.top, "files"),
	})
}

// firstOf is the first line of a text, or the other text.
func firstOf(text, other string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return other
	}
	return line
}
