package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

func TestFilesOfAnEmbeddedRepositoryAreNotLost(t *testing.T) {
	overLayouts(t, testFilesOfAnEmbeddedRepositoryAreNotLost)
}

func testFilesOfAnEmbeddedRepositoryAreNotLost(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	r.git("init", "-q", filepath.Join(dir, "a/sub dir"))
	r.in("bd-1-1", "a/sub dir/x", "x")
	r.git("init", "-q", filepath.Join(dir, "a/sub dir/deeper"))
	r.in("bd-1-1", "a/sub dir/deeper/y", "y")
	c := r.collect("bd-1-1", 1, base)
	if len(c.Problems) != 2 {
		t.Errorf("problems: %q", c.Problems)
	}
	if got := r.git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", c.Result.Commit, "a"); got != "a/sub dir/deeper/y\na/sub dir/x" {
		t.Errorf("collected: %q", got)
	}
	// What is left there after that is saved before it is cleaned.
	r.git("init", "-q", filepath.Join(dir, "late"))
	r.in("bd-1-1", "late/z", "z")
	saved := r.prepare("bd-1-1", 2, base)
	if got := r.git("ls-tree", "-r", "--name-only", saved, "late"); got != "late/z" {
		t.Errorf("saved: %q", got)
	}
	aside, err := r.space.Trees.MovedOut(t.Context())
	if err != nil || len(aside) != 3 {
		t.Errorf("%d repositories were kept, want 3 (%v): %+v", len(aside), err, aside)
	}
}

func TestARedoneCollectRemembersWhatWasWrong(t *testing.T) {
	overLayouts(t, testARedoneCollectRemembersWhatWasWrong)
}

func testARedoneCollectRemembersWhatWasWrong(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.git("-C", r.space.Dir("bd-1-1"), "checkout", "-q", "-b", "elsewhere")
	r.in("bd-1-1", "a.txt", "a")
	first := r.collect("bd-1-1", 1, base)
	again := r.collect("bd-1-1", 1, base) // ralph was killed before it could record the first
	if again.Result != first.Result {
		t.Errorf("collected %v and then %v", first.Result, again.Result)
	}
	if !slices.Equal(again.Problems, first.Problems) || len(first.Problems) != 1 {
		t.Errorf("the problems are %q, and the second time %q", first.Problems, again.Problems)
	}
	r.prepare("bd-1-1", 2, base)
	r.in("bd-1-1", "a.txt", "b")
	for range 2 {
		if c := r.collect("bd-1-1", 2, base); len(c.Problems) > 0 {
			t.Errorf("where nothing was wrong, it says %q", c.Problems)
		}
	}
}

func TestABranchInSomebodysWorktreeIsNotMoved(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	base := r.head()
	r.result("bd-1-1", base, "a.txt", "a")
	r.git("worktree", "remove", r.space.Dir("bd-1-1"))
	look := filepath.Join(t.TempDir(), "look")
	r.git("worktree", "add", "-q", look, "ralph/x/1-1")
	before := r.git("-C", look, "rev-parse", "HEAD")
	_, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 2, base))
	if failure(err) != executor.FailConfig || !strings.Contains(err.Error(), "is checked out in") {
		t.Errorf("prepare: %v", err)
	}
	if got := r.git("-C", look, "rev-parse", "HEAD") + r.git("-C", look, "status", "--porcelain"); got != before {
		t.Errorf("the user's worktree changed: %q", got)
	}
}

func TestGitRunsApartFromTheTerminal(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc")
	}
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	out, err := r.space.git.line(t.Context(), place{}, "-c", "alias.group=!cut -d' ' -f5 /proc/self/stat", "group")
	own, rerr := os.ReadFile("/proc/self/stat")
	if err != nil || rerr != nil {
		t.Fatal(err, rerr)
	}
	_, rest, _ := strings.Cut(string(own), ") ")
	if mine := strings.Fields(rest)[2]; out == mine || out == "" {
		t.Errorf("git runs in group %q, ralph in %q: Ctrl-C would end both", out, mine)
	}
}

func TestADeletedWorktreeIsNoDeletionOfFiles(t *testing.T) {
	overLayouts(t, testADeletedWorktreeIsNoDeletionOfFiles)
}

func testADeletedWorktreeIsNoDeletionOfFiles(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	if err := os.RemoveAll(r.space.Dir("bd-1-1")); err != nil {
		t.Fatal(err)
	}
	c := r.collect("bd-1-1", 1, base)
	if got, want := c.Result.Tree, r.git("rev-parse", base+"^{tree}"); got != want {
		t.Errorf("collected tree %s, want that of the start, %s", got, want)
	}
	r.prepare("bd-1-1", 2, c.Result.Commit)
	if _, err := os.Stat(filepath.Join(r.space.Dir("bd-1-1"), "README.md")); err != nil {
		t.Errorf("the next attempt has no files: %v", err)
	}
}
