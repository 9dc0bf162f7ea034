package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

func TestWhoLooksAtACommitHasADirectoryOfTheirOwn(t *testing.T) { // S0-114
	overLayouts(t, testWhoLooksAtACommitHasADirectoryOfTheirOwn)
}

func testWhoLooksAtACommitHasADirectoryOfTheirOwn(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "a.txt", "a\n")
	c := r.collect("bd-1-1", 1, base)
	r.in("bd-1-1", "a.txt", "not collected\n")
	refs := r.git("for-each-ref")

	dir, remove, err := r.space.Trees.Aside(t.Context(), "bd-1-1", c.Result.Commit)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(b) != "a\n" {
		t.Errorf("a.txt there: %q, %v; want what was collected", b, err)
	}
	if st, err := os.Stat(filepath.Join(dir, ".git")); err != nil || st.IsDir() != r.space.clones() {
		t.Errorf("it is a clone: %v, want %v", err == nil && st.IsDir(), r.space.clones())
	}
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "kept"), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if list := r.git("worktree", "list"); strings.Contains(list, asideMark) {
		t.Errorf("git still knows of it:\n%s", list)
	}
	if now := r.git("for-each-ref"); now != refs {
		t.Errorf("refs are\n%s\nwant\n%s", now, refs)
	}
	if b, err := os.ReadFile(filepath.Join(r.space.Dir("bd-1-1"), "a.txt")); err != nil || string(b) != "not collected\n" {
		t.Errorf("the node's worktree has %q, %v", b, err)
	}
}

func TestWhatAKilledOneLeftGoesAndNothingElse(t *testing.T) { // S0-114
	overLayouts(t, testWhatAKilledOneLeftGoesAndNothingElse)
}

func testWhatAKilledOneLeftGoesAndNothingElse(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	at := func(pid int) string { return fmt.Sprintf("%s%s%d", r.space.Dir("bd-1-1"), asideMark, pid) }
	dead, alive, other := at(gone.Process.Pid), at(1), at(gone.Process.Pid)+"x"
	for _, dir := range []string{dead, alive} {
		if err := r.space.makeAside(t.Context(), dir, r.head()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, remove, err := r.space.Trees.Aside(t.Context(), "bd-1-1", r.head())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{dead: false, alive: true, other: true, dir: true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %t", path, err, want)
		}
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
}

// TestAnAsideCanBeShownInASandbox: all that a sandbox shows of it is there.
func TestAnAsideCanBeShownInASandbox(t *testing.T) { overLayouts(t, testAnAsideCanBeShownInASandbox) }

func testAnAsideCanBeShownInASandbox(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	dir, remove, err := r.space.Trees.Aside(t.Context(), "bd-1-1", r.head())
	r.must(err)
	mounts, err := r.space.Trees.Mounts(dir)
	r.must(err)
	for _, m := range mounts {
		if _, err := os.Lstat(m.From); err != nil && !m.Optional {
			t.Error(err)
		}
	}
	r.must(remove())
}
