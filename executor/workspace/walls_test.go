package workspace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// confine makes a space believe that all nodes are confined: what runs in a sandbox runs
// without one, with INSIDE in its environment.
func confine(s *Space) {
	s.Walls = func(ir.NodeID, Purpose, string) (*wall.Spec, error) {
		return &wall.Spec{Name: "default", Kind: wall.Namespaces}, nil
	}
	s.enclose = func(spec *wall.Spec) process.Wall { return noWall{spec} }
}

// audit has all git of a space go through a script that notes, outside of sandboxes, who
// is told of a clone's objects, or would read its configuration: the common directory is
// to be another. The test fails if there was one.
func (r *repo) audit() {
	r.t.Helper()
	dir, err := filepath.EvalSymlinks(r.t.TempDir())
	r.must(err)
	log := filepath.Join(dir, "log")
	r.must(os.WriteFile(filepath.Join(dir, "git"), fmt.Appendf(nil, `#!/bin/sh
if [ -z "$INSIDE" ]; then
	for a; do
		d=${a#--git-dir=}
		if [ "$a" != "$d" ] && [ -f "$d/ralph" ]; then
			case $GIT_COMMON_DIR in '' | "$d"*) echo "reads the settings of a clone: $*" >>%[1]s ;; esac
		fi
	done
	case $GIT_OBJECT_DIRECTORY:$GIT_ALTERNATE_OBJECT_DIRECTORIES in *-worktrees/*) echo "is told of a clone's objects: $*" >>%[1]s ;; esac
fi
exec %[2]s "$@"
`, log, r.space.git.bin), 0o755))
	r.space.git.bin = filepath.Join(dir, "git")
	r.t.Cleanup(func() {
		if b, err := os.ReadFile(log); err == nil {
			r.t.Errorf("git outside %s", b)
		}
	})
}

type noWall struct{ spec *wall.Spec }

func (noWall) Start(cmd *exec.Cmd, _ bool) (process.Inside, error) {
	cmd.Env = append(cmd.Env, "INSIDE=1")
	return noInside{}, cmd.Start()
}

type noInside struct{}

func (noInside) Signal(syscall.Signal)              {}
func (noInside) Ended() (int, syscall.Signal, bool) { return 0, 0, false }
func (noInside) Close() error                       { return nil }
func (noInside) Dial(context.Context, string) (net.Conn, error) {
	return nil, errors.New("there is nothing inside")
}

// confined reports whether the test runs with what is in force for confined nodes.
func (r *repo) confined() bool { return strings.Contains(r.t.Name()+"/", "/confined/") }

// overWalls runs a test of clones with and without a sandbox in force.
func overWalls(t *testing.T, test func(*testing.T)) {
	for _, name := range []string{"open", "confined"} {
		t.Run(name, test)
	}
}

// Setup commands run in the sandbox of their node, also of the one in which gates are tried
// beforehand, with the worktree, what git needs, and what the policy adds.
func TestSetupRunsInTheSandboxOfItsNode(t *testing.T) {
	top := t.TempDir()
	r := newRepo(t, executortest.Epic([]string{"1.1"}, cloning, func(e *ir.Epic) {
		e.Run.Worktree.Setup = []string{"{ git log --oneline; cat secret kept; test -e " + top + "/outside || echo no outside; git config a.b c; echo x > .git/hooks/pre-commit; mv .git elsewhere; rm -rf .git/hooks .git/config; } > made.log 2>&1; mkdir made; echo made > made/it; true"}
	}))
	r.must(os.WriteFile(filepath.Join(top, "outside"), nil, 0o600))
	r.write("secret", "hidden\n")
	r.write("kept", "kept\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "more")
	r.wallIn(wall.Limits{})
	r.space.Walls = func(_ ir.NodeID, p Purpose, dir string) (*wall.Spec, error) {
		spec := &wall.Spec{Name: "default", Kind: wall.Namespaces}
		if p == Setup {
			spec.Mounts = []wall.Mount{
				{At: filepath.Join(dir, "secret"), Cover: true}, {From: filepath.Dir(dir)}, // the second would hide the worktree if it came after it
			}
		}
		return spec, nil
	}
	check := func(dir string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, "made.log"))
		r.must(err)
		for _, want := range []string{"more\n", "first\n", "kept\n", "no outside", "could not write config", "hooks/pre-commit: Read-only file system"} {
			if !strings.Contains(string(b), want) {
				t.Errorf("no %q in %s", want, b)
			}
		}
		if strings.Contains(string(b), "hidden") {
			t.Error("what the policy hides is seen")
		}
	}
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	check(dir)
	r.in("bd-1-1", "a.txt", "a")
	if c := r.collect("bd-1-1", 1, base); len(c.Problems) > 0 || c.Files != 1 {
		t.Errorf("collected %+v", c)
	}
	e := r.gate(executor.Integration, base, "base", true)
	e.Step = executor.Preflight
	at, err := r.space.Open(t.Context(), e)
	r.must(err)
	if _, err := os.Stat(filepath.Join(at, "made/it")); err != nil {
		t.Errorf("before gates are tried: %v", err)
	}
	r.closed(e)
}

// A sandbox that is not there fails the attempt's preparation, and nothing runs without.
func TestSetupDoesNotRunWithoutItsSandbox(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1"}, cloning, func(e *ir.Epic) {
		e.Run.Worktree.Setup = []string{"touch ran"}
	}))
	r.space.Walls = func(ir.NodeID, Purpose, string) (*wall.Spec, error) {
		return &wall.Spec{Kind: "no such kind"}, nil
	}
	if _, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 1, r.head())); err == nil {
		t.Error("prepared")
	}
	if _, err := os.Stat(filepath.Join(r.space.Dir("bd-1-1"), "ran")); err == nil {
		t.Error("it ran")
	}
}

// What stood in the configuration of a clone before its node was confined does not stay.
func TestTheConfigurationOfAConfinedCloneIsRalphs(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.sh("bd-1-1", "cp .git/config $TOP-config; git config core.fsmonitor evil; rm -rf .git/hooks; echo x > .git/hooks; echo a > a.txt; git add a.txt; git commit -qm a --no-verify")
	confine(r.space)
	if saved := r.prepare("bd-1-1", 2, base); saved == "" {
		t.Error("its commit was not saved")
	}
	r.sh("bd-1-1", "cmp .git/config $TOP-config; test -d .git/hooks")
}

// Who only looks at a run does not know what confines its nodes. It is on record.
func TestWhoOnlyLooksReadsNoConfinedClone(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	confine(r.space)
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.sh("bd-1-1", "echo a > a.txt; git add a.txt; git commit -qm a; git rev-parse HEAD > $TOP-out")
	inside := 0
	open := func() {
		r.open()
		r.audit()
		r.space.enclose = func(spec *wall.Spec) process.Wall { inside++; return noWall{spec} }
	}
	open()
	if at, err := r.space.Trees.Work(t.Context(), "bd-1-1"); err != nil || at.Commit != r.said()[0] || inside != 1 {
		t.Errorf("work at %s, %v; %d hand-overs in a sandbox", at.Commit, err, inside)
	}
	r.space.Walls = func(ir.NodeID, Purpose, string) (*wall.Spec, error) { return nil, nil } // as the user says
	r.prepare("bd-1-1", 2, base)
	inside = 0
	r.sh("bd-1-1", "echo b > b.txt; git add b.txt; git commit -qm b")
	r.open()
	r.space.enclose = func(spec *wall.Spec) process.Wall { inside++; return noWall{spec} }
	if _, err := r.space.Trees.Work(t.Context(), "bd-1-1"); err != nil || inside != 0 {
		t.Errorf("without a sandbox: %v, %d hand-overs in one", err, inside)
	}
}

// A clone in which nothing was confined may be entered: the directory that its hooks are held in is made.
func TestAnOpenCloneCanBeConfined(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	r.prepare("bd-1-1", 1, r.head())
	dir := r.space.own(r.space.nodes["bd-1-1"]).dir
	hooks := filepath.Join(dir, ".git", "hooks")
	for _, planted := range []bool{false, true} {
		if err := os.RemoveAll(hooks); err != nil {
			t.Fatal(err)
		}
		if planted {
			r.must(os.Symlink(t.TempDir(), hooks))
		}
		mounts, err := r.space.mounts(dir)
		r.must(err)
		if !slices.ContainsFunc(mounts, func(m wall.Mount) bool { return m.From == hooks && !m.Write }) {
			t.Errorf("%+v", mounts)
		}
		if st, err := os.Lstat(hooks); err != nil || !st.IsDir() {
			t.Errorf("planted %v: %v, %v", planted, st, err)
		}
	}
}
