package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

func (r *repo) fifo(path string) {
	r.t.Helper()
	r.must(os.RemoveAll(path))
	r.must(os.MkdirAll(filepath.Dir(path), 0o755))
	r.must(syscall.Mkfifo(path, 0o644))
}

// TestGitThatWaitsIsEnded: a FIFO in the repository itself holds no call for longer
// than its time, nor than its context.
func TestGitThatWaitsIsEnded(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	r.space.git.patience = 200 * time.Millisecond
	head := r.head()
	object := filepath.Join(r.dir, ".git/objects", head[:2], head[2:])
	r.space.Trees.Release()
	r.fifo(object)
	r.fifo(filepath.Join(r.dir, ".git/packed-refs"))
	ask := map[string]func(context.Context) error{
		"a process": func(ctx context.Context) error {
			_, err := r.space.git.line(ctx, place{}, "for-each-ref")
			return err
		},
		"the process that is kept": func(ctx context.Context) error {
			_, _, _, err := r.space.git.ask(ctx, "contents", head)
			return err
		},
	}
	for what, ask := range ask {
		began := time.Now()
		if err := ask(t.Context()); err == nil || time.Since(began) > 20*time.Second {
			t.Errorf("%s: %v after %s", what, err, time.Since(began))
		} else if what == "a process" && !strings.Contains(err.Error(), "FIFO") {
			t.Errorf("%s: %v", what, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the context's error", what, err)
		}
		cancel()
	}
}

// TestSpecialFilesAreToldOnce: what was removed is told by the attempt that left it,
// also when ralph was killed in between, and by no other.
func TestSpecialFilesAreToldOnce(t *testing.T) { overLayouts(t, testSpecialFilesAreToldOnce) }

func testSpecialFilesAreToldOnce(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	r.fifo(filepath.Join(dir, "run.log")) // ignored
	r.fifo(filepath.Join(dir, "README.md"))
	r.in("bd-1-1", "a.txt", "a")
	if edited, err := r.space.Edited(t.Context(), "bd-1-1"); err != nil || !edited {
		t.Errorf("edited %v, %v", edited, err)
	}
	w := r.space.own(r.space.nodes["bd-1-1"])
	r.must(r.space.sweep(t.Context(), w)) // and then ralph is killed
	c := r.collect("bd-1-1", 1, base)
	if got := strings.Join(c.Problems, "\n"); !strings.Contains(got, "run.log was a FIFO") || !strings.Contains(got, "README.md was a FIFO") {
		t.Errorf("problems %q", got)
	}
	r.prepare("bd-1-1", 2, c.Result.Commit)
	r.in("bd-1-1", "README.md", "hello\n")
	if c := r.collect("bd-1-1", 2, c.Result.Commit); len(c.Problems) > 0 {
		t.Errorf("the next attempt is told %q", c.Problems)
	}
}

// TestSpecialFilesOfOthersStay: a directory at the worktree's place that is not
// ralph's is left alone.
func TestSpecialFilesOfOthersStay(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	pipe := filepath.Join(r.space.Dir("bd-1-1"), "pipe")
	r.fifo(pipe)
	_, err := r.space.Prepare(t.Context(), executor.Effect{Kind: executor.EffectPrepare, Node: "bd-1-1", Step: "implement", Attempt: 1, Commit: r.head(), Start: r.head(), Base: r.head()})
	if err == nil || !strings.Contains(err.Error(), "not ralph's") {
		t.Errorf("prepare: %v", err)
	}
	if _, err := os.Lstat(pipe); err != nil {
		t.Error(err)
	}
}
