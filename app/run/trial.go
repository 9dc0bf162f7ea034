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
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// TryGates runs each gate in a clone of HEAD, where agents start, in the sandbox that it
// will have, and marks those that pass. Each may take limit; 0 runs none.
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
	return t.try(ctx, s, say)
}

// try runs the setup, then each gate.
func (t *trial) try(ctx context.Context, s *project.Sample, say func(format string, args ...any)) error {
	where := "in the sandbox that ralph.hcl gives it"
	if why := t.confine(ctx, s.Sandbox); why != nil {
		where = "without a sandbox, which this machine cannot make"
		say("note   %v\n", why)
	}
	say("trying each for at most %s, in a clone of HEAD, %s (--try 0 tries nothing)\n", words.Brief(t.limit), where)
	for _, c := range s.Setup {
		got, err := t.run(ctx, c, true)
		if err != nil {
			return err
		}
		if got.Verdict != executor.Pass {
			say("tried  %-30s failed, so nothing after it was tried: %s\n", c, cmp.Or(text.FirstLine(got.Message), string(got.Verdict)))
			t.sayClosed(say, "worktree")
			return nil
		}
	}
	for g := range lists.Refs(s.Gates) {
		got, err := t.run(ctx, g.Command, false)
		if err != nil {
			return err
		}
		if got.Verdict != executor.Pass {
			say("tried  %-30s red: %s\n       it gets no baseline = \"green\": fix it before you let agents work against it\n",
				g.Command, cmp.Or(text.FirstLine(got.Message), string(got.Verdict)))
			t.sayClosed(say, "the gate")
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
	kinds attempts       // of sandboxes, on this machine
	tools *effects.Tools // nil: no sandbox
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
	top, err := regular.MkdirTemp("ralph-init-")
	if err != nil {
		return nil, err
	}
	t := &trial{top: top, limit: limit, kinds: newAttempts(ctx)}
	if out, err := git("clone", "--quiet", "--local", "--no-tags", "--single-branch", "--template=", "--", dir, t.dir()); err != nil {
		t.end()
		return nil, fmt.Errorf("git clone: %s", cmp.Or(text.FirstLine(process.Plain(out)), err.Error()))
	}
	return t, nil
}

func (t *trial) dir() string { return filepath.Join(t.top, "repository") }

// end removes the clone.
func (t *trial) end() { _ = os.RemoveAll(t.top) } // what is left is in the directory for temporary files

// sayClosed says what a sandbox keeps from what failed in it.
func (t *trial) sayClosed(say func(format string, args ...any), block string) {
	if t.tools != nil {
		say("       in its sandbox it reaches no host, and your caches alone: network in the block of %s lets hosts through\n", block)
	}
}

// The gate and the sandbox of a trial.
const tried, box = "tests", ir.DefaultSandbox

// confine has what follows run in a sandbox; the error says why this machine makes none.
func (t *trial) confine(ctx context.Context, s ir.Sandbox) error {
	epic := &ir.Epic{Sandboxes: map[string]ir.Sandbox{box: s}, Gates: map[string]ir.Gate{tried: {Kind: "command", Sandbox: box}}}
	epic.Run.Worktree.Sandbox = box
	c, err := material(epic)
	if err != nil {
		return err
	}
	var refused []string
	if c.Kinds, c.Groups, refused = kinds(ctx, epic, inUse(epic), "", t.kinds); len(refused) > 0 {
		return errors.New(strings.Join(refused, "; "))
	}
	c.Mounts = func(dir string) ([]wall.Mount, error) { return []wall.Mount{{From: dir, Write: true}}, nil }
	t.tools = &effects.Tools{Epic: epic, State: filepath.Join(t.top, "state"), Confinement: c}
	return nil
}

// run runs a command as a gate, or with setup as a command of setup.
func (t *trial) run(ctx context.Context, command string, setup bool) (executor.GateJudged, error) {
	t.runs++
	q := executor.GateRun{
		Name: tried, Node: &ir.Node{ID: "init", Key: "init"}, Epic: "init", Effect: executor.Effect{Step: "init", Attempt: t.runs},
		Gate: ir.Gate{Kind: "command", Run: strings.ReplaceAll(command, "${", "$${"), TimeoutMS: t.limit.Milliseconds()},
		Dir:  t.dir(), Files: filepath.Join(t.top, "files"),
	}
	if t.tools == nil {
		return gate.Command{}.Judge(ctx, q)
	}
	if setup {
		spec, err := t.tools.Around(q.Node.ID, true)
		if err != nil {
			return executor.GateJudged{}, err
		}
		q.Wall = spec.With(wall.Mount{From: q.Dir, Write: true})
		return gate.Command{}.Judge(ctx, q)
	}
	in, err := t.tools.Visit(q.Node.ID, &ir.Step{}, "", tried, q.Dir)
	if err != nil {
		return executor.GateJudged{}, err
	}
	q.Wall = in.Wall
	got, err := gate.Command{}.Judge(ctx, q)
	return got, errors.Join(err, in.Done())
}
