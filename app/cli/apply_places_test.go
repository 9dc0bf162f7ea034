//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestApplyInRepositoriesOfEveryShape(t *testing.T) { // S0-115
	t.Parallel()
	for name, lay := range map[string]func(r *applyRepo){
		"a path with spaces and letters of all kinds": func(r *applyRepo) {
			to := filepath.Join(filepath.Dir(r.dir), "mein projekt ünï 'x' $y")
			if err := os.Rename(r.dir, to); err != nil {
				r.t.Fatal(err)
			}
			r.dir = to
		},
		"a detached HEAD": func(r *applyRepo) { r.git("checkout", "-q", "--detach") },
		"a linked worktree": func(r *applyRepo) {
			to := filepath.Join(filepath.Dir(r.dir), "linked")
			r.git("worktree", "add", "-q", "-b", "feature", to)
			r.dir = to
		},
		"a worktree of a bare repository": func(r *applyRepo) {
			bare, to := filepath.Join(filepath.Dir(r.dir), "store.git"), filepath.Join(filepath.Dir(r.dir), "tree")
			r.git("clone", "-q", "--bare", ".", bare)
			r.git("--git-dir="+bare, "config", "user.name", "x")
			r.git("--git-dir="+bare, "config", "user.email", "x@example.org")
			r.git("--git-dir="+bare, "worktree", "add", "-q", "-b", "feature", to)
			r.dir = to
		},
		"a git directory elsewhere": func(r *applyRepo) {
			r.git("init", "-q", "--separate-git-dir="+filepath.Join(filepath.Dir(r.dir), "elsewhere git"))
		},
		"a shallow clone": func(r *applyRepo) {
			r.git("commit", "-q", "--allow-empty", "-m", "second")
			to := filepath.Join(filepath.Dir(r.dir), "shallow")
			r.git("clone", "-q", "--depth=1", "file://"+r.dir, to)
			r.dir = to
			r.git("config", "user.name", "x")
			r.git("config", "user.email", "x@example.org")
		},
		"an epic in a directory below": func(r *applyRepo) {
			if err := os.MkdirAll(filepath.Join(r.dir, "sub/dir"), 0o755); err != nil {
				r.t.Fatal(err)
			}
			r.git("mv", "epic.json", "sub/dir/epic.json")
			r.git("commit", "-q", "-m", "moved")
			r.dir = filepath.Join(r.dir, "sub/dir")
		},
	} {
		overLayouts(t, name, func(t *testing.T, layout func(*ir.Epic)) {
			r := newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2"}, layout))
			lay(r)
			heads := r.git("rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
			r.run(exit.Done)
			top := &applyRepo{t: t, dir: r.git("rev-parse", "--show-toplevel")}
			if got := top.git("ls-tree", "-r", "--name-only", "ralph/x/integration", "--", "out-1.1.txt", "out-1.2.txt", "out-1.3.txt"); strings.Count(got, "out-") != 3 {
				t.Errorf("the result holds %q", got)
			}
			if got := top.git("status", "--porcelain"); got != "" {
				t.Errorf("the checkout changed: %s", got)
			}
			if got := r.git("rev-parse", "HEAD", "--symbolic-full-name", "HEAD"); got != heads {
				t.Errorf("HEAD is %q, was %q", got, heads)
			}
			if again := r.run(exit.Done); strings.Contains(again.out.String(), "▶") {
				t.Errorf("something ran again:\n%s", &again.out)
			}
		})
	}
}

// overLayouts runs a test with linked worktrees and with shared clones.
func overLayouts(t *testing.T, name string, test func(*testing.T, func(*ir.Epic))) {
	for _, layout := range []string{"worktree", "clone"} {
		t.Run(name+", layout "+layout, func(t *testing.T) {
			test(t, func(e *ir.Epic) { e.Run.Worktree.Layout = layout })
		})
	}
}
