package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// TryGates runs each gate in a clone of HEAD, where agents start, and marks those that
// pass. Each may take limit; 0 runs none.
func TryGates(ctx context.Context, s *project.Sample, say func(format string, args ...any), dir string, limit time.Duration) error {
	if len(s.Gates) == 0 || limit <= 0 {
		return nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if project.GitRoot(abs) != abs {
		say("tried  nothing: this is not the root of a git repository\n")
		return nil
	}
	t, err := newTrial(ctx, abs, limit)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		say("tried  nothing: %v\n", err)
		return nil
	}
	defer t.end()
	say("trying each for at most %s, in a clone of HEAD (--try 0 tries nothing)\n", words.Brief(limit))
	for _, c := range s.Setup {
		got, err := t.run(ctx, c)
		if err != nil {
			return err
		}
		if got.Verdict != executor.Pass {
			say("tried  %-30s failed, so nothing after it was tried: %s\n", c, cmp.Or(text.FirstLine(got.Message), string(got.Verdict)))
			return nil
		}
	}
	for g := range lists.Refs(s.Gates) {
		got, err := t.run(ctx, g.Command)
		if err != nil {
			return err
		}
		if got.Verdict != executor.Pass {
			say("tried  %-30s red: %s\n       it gets no baseline = \"green\": fix it before you let agents work against it\n",
				g.Command, cmp.Or(text.FirstLine(got.Message), string(got.Verdict)))
			continue
		}
		g.Green = true
		tests := ", but no test was recognised in its output"
		if got.SaidOfTests() != "" {
			tests = ""
		}
		say("tried  %-30s green in %s%s: baseline = \"green\"\n", g.Command, words.Millis(got.Millis), tests)
	}
	return nil
}

// trial is a clone of a repository in which commands run as gates would.
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
		return nil, fmt.Errorf("git clone: %s", cmp.Or(text.FirstLine(process.Plain(out)), err.Error()))
	}
	return t, nil
}

func (t *trial) dir() string { return filepath.Join(t.top, "repository") }

// end removes the clone.
func (t *trial) end() { _ = os.RemoveAll(t.top) } // what is left is in the directory for temporary files

// run runs a command as a gate.
func (t *trial) run(ctx context.Context, command string) (executor.GateJudged, error) {
	t.runs++
	return gate.Command{}.Judge(ctx, executor.GateRun{
		Name: "tests", Node: &ir.Node{ID: "init", Key: "init"}, Epic: "init", Effect: executor.Effect{Step: "init", Attempt: t.runs},
		Gate: ir.Gate{Kind: "command", Run: strings.ReplaceAll(command, "${", "$${"), TimeoutMS: t.limit.Milliseconds()},
		Dir:  t.dir(), Files: filepath.Join(t.top, "files"),
	})
}
