package workspace

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/temptest"
	"github.com/ralph-compiler/ralph/ir"
)

// repo is a real repository in a temporary directory, with a hook that must
// never run.
type repo struct {
	t     testing.TB
	dir   string
	epic  *ir.Epic
	space *Space
	seq   int64
}

func newRepo(t testing.TB, epic *ir.Epic) *repo { return newFrom(t, "first", first, epic) }

// newFrom is newRepo of a copy of what make made, once: the repository, and what lies
// beside it.
func newFrom(t testing.TB, name string, make func(*repo), epic *ir.Epic) *repo {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	copyTop(t, fixture(t, name, make), top)
	r := &repo{t: t, dir: filepath.Join(top, "project"), epic: epic}
	hook := "#!/bin/sh\necho ran >> " + filepath.Join(top, "hook-ran") + "\n"
	for _, h := range []string{"post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-merge", "post-index-change"} {
		r.write(".git/hooks/"+h, hook)
		if err := os.Chmod(filepath.Join(r.dir, ".git/hooks", h), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(top, "hook-ran")); err == nil {
			t.Error("a hook of the user was run")
		}
	})
	if epic != nil {
		r.open()
	}
	return r
}

// fixtures are directories with a repository each, by name.
var fixtures sync.Map

// fixture is a directory in which make has made the repository "project".
func fixture(t testing.TB, name string, make func(*repo)) string {
	made, _ := fixtures.LoadOrStore(name, sync.OnceValue(func() string {
		top, err := os.MkdirTemp("", "fixture-")
		if err == nil {
			top, err = filepath.EvalSymlinks(top)
		}
		r := &repo{t: t, dir: filepath.Join(top, "project")}
		if err == nil {
			err = os.Mkdir(r.dir, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		make(r)
		return top
	}))
	return made.(func() string)()
}

// copyTop copies a fixture. Where git wrote down its path, that becomes the copy's.
func copyTop(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/objects/") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(b, []byte(from+"/")) {
			return err
		}
		return os.WriteFile(path, bytes.ReplaceAll(b, []byte(from+"/"), []byte(to+"/")), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// first is the repository that most tests begin with.
func first(r *repo) {
	r.git("init", "-q", "-b", "main", "--template=", ".")
	r.git("config", "user.name", "Test User")
	r.git("config", "user.email", "test@example.org")
	r.write(".git/info/exclude", "")
	r.write("README.md", "hello\n")
	r.write("tests/a_test.sh", "exit 0\n")
	r.write(".gitignore", "*.log\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
}

// TestMain runs the tests with an empty home, and with a variable of git's that must
// not matter.
func TestMain(m *testing.M) {
	if server := os.Getenv("RALPH_TEST_GITLAB"); server != "" {
		os.Exit(standInGlab(server, os.Args[1:]))
	}
	os.Exit(temptest.Run(inHome{m}))
}

type inHome struct{ *testing.M }

func (m inHome) Run() int {
	home, err := os.MkdirTemp("", "home-")
	if err == nil {
		err = errors.Join(os.Setenv("HOME", home), os.Setenv("XDG_CONFIG_HOME", ""), os.Setenv("GIT_DIR", "/nowhere"))
	}
	if err != nil {
		panic(err)
	}
	return m.M.Run()
}

// overLayouts runs a test with linked worktrees, with shared clones, and with clones of
// confined nodes; a short run, as under the race detector, has the last alone, and one that
// RALPH_PART divides has one of them.
func overLayouts(t *testing.T, test func(*testing.T)) {
	layouts := []string{"worktree", "clone", "clone/confined"}
	if testing.Short() {
		layouts = layouts[2:]
	} else if which, divided := temptest.Turn(t.Name(), 3); divided {
		layouts = layouts[which : which+1]
	}
	for _, layout := range layouts {
		t.Run(layout, test)
	}
}

// clone reports whether the test runs with shared clones.
func (r *repo) clone() bool { return strings.Contains(r.t.Name()+"/", "/clone/") }

// linked is how many of n worktrees the user's git knows of.
func (r *repo) linked(n int) int {
	if r.clone() {
		return 0
	}
	return n
}

func (r *repo) open() {
	r.t.Helper()
	if r.clone() {
		r.epic.Run.Worktree.Layout = "clone"
	}
	s, err := Open(r.t.Context(), r.dir, r.epic)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.MkdirAll(s.State(), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if r.space != nil {
		r.space.Trees.Release()
	}
	r.space = s
	if r.confined() {
		confine(s)
		r.audit()
	}
	r.t.Cleanup(s.Trees.Release)
}

// git is the user's own git, without hooks so that only ralph could run them.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Dir = r.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(path, text string) {
	r.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// in writes a file into a node's worktree.
func (r *repo) in(node ir.NodeID, path, text string) {
	r.t.Helper()
	r.write(filepath.Join(r.space.Dir(node), path), text)
}

func (r *repo) head() string {
	r.t.Helper()
	_, oid, err := (&repository{top: r.dir, git: &git{common: filepath.Join(r.dir, ".git")}}).headAt()
	if err != nil || !isOid(oid) {
		r.t.Fatalf("HEAD is at %q, %v", oid, err)
	}
	return oid
}

func (r *repo) effect(kind executor.EffectKind, node ir.NodeID, attempt int, commit string) executor.Effect {
	r.seq++
	return executor.Effect{Kind: kind, Node: node, Step: "implement", Attempt: attempt, Start: commit, Commit: commit, Base: commit, Seq: r.seq}
}

func (r *repo) prepare(node ir.NodeID, attempt int, commit string) string {
	r.t.Helper()
	saved, err := r.space.Prepare(r.t.Context(), r.effect(executor.EffectPrepare, node, attempt, commit))
	if err != nil {
		r.t.Fatalf("prepare %s: %v", node, err)
	}
	return saved.Saved
}

func (r *repo) collect(node ir.NodeID, attempt int, commit string) executor.Collected {
	r.t.Helper()
	c, err := r.space.Collect(r.t.Context(), r.effect(executor.EffectCollect, node, attempt, commit), executor.Outcome{Result: "success", Summary: "did it"})
	if err != nil {
		r.t.Fatalf("collect %s: %v", node, err)
	}
	return c
}

// result makes a node's result: one file, written by its agent.
func (r *repo) result(node ir.NodeID, base, path, text string) executor.Result {
	r.t.Helper()
	r.prepare(node, 1, base)
	r.in(node, path, text)
	c := r.collect(node, 1, base)
	if len(c.Problems) > 0 {
		r.t.Fatalf("%s: %v", node, c.Problems)
	}
	e := r.effect(executor.EffectPublish, node, 1, c.Result.Commit)
	if _, err := r.space.Publish(r.t.Context(), e); err != nil {
		r.t.Fatal(err)
	}
	return executor.Result{Node: node, Tree: c.Result}
}

// manifest lists what belongs to the user: every byte of the checkout and of
// .git, except what ralph declares as its own.
func (r *repo) manifest() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.dir, path)
		for _, own := range []string{".git/objects", ".git/ralph", ".git/worktrees", ".git/refs/ralph", ".git/refs/heads/ralph", ".git/logs/refs/heads/ralph"} {
			if rel == own || strings.HasPrefix(rel, own+"/") {
				return nil
			}
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out[rel] = fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(b))
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func failure(err error) executor.FailureClass {
	var f *executor.Failure
	if errors.As(err, &f) {
		return f.Class
	}
	return ""
}
