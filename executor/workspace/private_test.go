package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// An agent planted a link in the place of the directory that stands in for the
// repository: nothing of where it leads is removed or written over.
func TestTheDirectoryOfConfineIsNoLink(t *testing.T) { // reliability D1: nothing of the user's is touched
	r := newRepo(t, executortest.Epic(two))
	r.must(r.space.Trees.Recover(t.Context()))
	user := filepath.Join(r.dir, "../precious")
	for _, name := range []string{"objects/kept", "logs/kept", "config", "info/exclude"} {
		path := filepath.Join(user, name)
		r.must(os.MkdirAll(filepath.Dir(path), 0o700))
		r.must(os.WriteFile(path, []byte("precious"), 0o600))
	}
	dir := filepath.Join(r.space.State(), "repository")
	r.must(os.Rename(dir, dir+".away"))
	r.must(os.Symlink(user, dir))
	r.open()
	if err := r.space.Trees.Recover(t.Context()); err == nil || !strings.Contains(err.Error(), "symbolic link to "+user) {
		t.Errorf("Recover: %v, want an error that says where the link leads", err)
	}
	for _, name := range []string{"objects/kept", "logs/kept", "config", "info/exclude"} {
		if b, err := os.ReadFile(filepath.Join(user, name)); string(b) != "precious" {
			t.Errorf("the user's %s holds %q, %v", name, b, err)
		}
	}
}

// So for what ralph writes there, and in git's record of a worktree.
func TestNoLinkIsFollowedWhereStateIsWritten(t *testing.T) { // reliability D1
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.Setup = []string{"echo made >made"} }))
	r.must(r.space.Trees.Recover(t.Context()))
	user := filepath.Join(r.dir, "../precious")
	r.must(os.WriteFile(user, []byte("precious"), 0o600))
	base := r.head()
	w := r.space.own(r.space.nodes["bd-1-1"])
	r.must(os.MkdirAll(filepath.Dir(r.space.record(w, ".exclude")), 0o700))
	r.must(os.Symlink(user, r.space.record(w, ".exclude")))
	r.prepare("bd-1-1", 1, base)
	if b, err := os.ReadFile(user); string(b) != "precious" {
		t.Errorf("the user's file holds %q, %v", b, err)
	}
	if st, err := os.Lstat(r.space.record(w, ".exclude")); err != nil || !st.Mode().IsRegular() {
		t.Errorf("what git is to ignore: %v, %v", st, err)
	}
}

// What git keeps of a worktree is moved away, with a link in its place to another
// repository's directory: nothing is removed there.
func TestTheRecordOfAWorktreeIsNoLink(t *testing.T) { // reliability D1
	r := newRepo(t, executortest.Epic(two))
	r.must(r.space.Trees.Recover(t.Context()))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	admin := r.admin()
	user := filepath.Join(r.dir, "../precious")
	r.must(os.CopyFS(user, os.DirFS(admin)))
	r.must(os.MkdirAll(filepath.Join(user, "rebase-merge"), 0o700))
	r.must(os.RemoveAll(admin))
	r.must(os.Symlink(user, admin))
	if _, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 2, base)); err == nil || !strings.Contains(err.Error(), "symbolic link to "+user) {
		t.Errorf("Prepare: %v, want an error that says where the link leads", err)
	}
	if _, err := os.Lstat(filepath.Join(user, "rebase-merge")); err != nil {
		t.Errorf("behind the link: %v", err)
	}
}
