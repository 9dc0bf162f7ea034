package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func movedRepo(t *testing.T) (r *repo, base string) {
	e := executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.MaxCommit = 1000 })
	r = newRepo(t, e)
	base = r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "big", strings.Repeat("x", 3000))
	r.in("bd-1-1", "deep/.Git/a", "x")
	return r, base
}

// lies checks that files lie in one of the directories which a text names, and nowhere
// in the worktree.
func (r *repo) lies(text string, files ...string) {
	r.t.Helper()
	all, err := r.space.Trees.MovedOut(r.t.Context())
	r.must(err)
	for _, f := range files {
		found := false
		for _, m := range all {
			_, err := os.Lstat(filepath.Join(m.Dir, filepath.FromSlash(f)))
			found = found || err == nil && m.Node == "bd-1-1" && strings.Contains(text, m.Dir)
		}
		if !found {
			r.t.Errorf("%s is in none of the directories that are told: %q; there are %+v", f, text, all)
		}
		if _, err := os.Lstat(filepath.Join(r.space.Dir("bd-1-1"), filepath.FromSlash(f))); err == nil {
			r.t.Errorf("%s is in the worktree", f)
		}
	}
}

// TestWhatIsMovedOutIsToldOnce: the attempt that left it is told where it is, also when
// ralph was killed in between, and no other is.
func TestWhatIsMovedOutIsToldOnce(t *testing.T) { overLayouts(t, testWhatIsMovedOutIsToldOnce) }

func testWhatIsMovedOutIsToldOnce(t *testing.T) {
	r, base := movedRepo(t)
	w := r.space.own(r.space.nodes["bd-1-1"])
	r.must(r.space.worktree(t.Context(), w, base))
	r.must(r.space.stage(t.Context(), w, w.at)) // and then ralph is killed
	c := r.collect("bd-1-1", 1, base)
	r.lies(strings.Join(c.Problems, "\n"), "big", "deep/.Git/a")
	if again := r.collect("bd-1-1", 1, base); strings.Join(again.Problems, "\n") != strings.Join(c.Problems, "\n") {
		t.Errorf("the second time it says %q, the first %q", again.Problems, c.Problems)
	}
	if p := r.prepared("bd-1-1", 2, c.Result.Commit); len(p.Moved) > 0 {
		t.Errorf("told once more: %q", p.Moved)
	}
	r.in("bd-1-1", "a.txt", "a")
	if c := r.collect("bd-1-1", 2, c.Result.Commit); len(c.Problems) > 0 {
		t.Errorf("the next attempt is told %q", c.Problems)
	}
	for _, m := range r.movedOut() {
		r.must(os.RemoveAll(m.Dir))
	}
	if all := r.movedOut(); len(all) > 0 {
		t.Errorf("what a person removed is listed: %+v", all)
	}
}

func (r *repo) movedOut() []MovedOut {
	r.t.Helper()
	all, err := r.space.Trees.MovedOut(r.t.Context())
	r.must(err)
	return all
}

func (r *repo) prepared(node ir.NodeID, attempt int, commit string) executor.Prepared {
	r.t.Helper()
	p, err := r.space.Prepare(r.t.Context(), executor.Effect{
		Kind: executor.EffectPrepare, Node: node, Step: "implement", Attempt: attempt, Commit: commit, Start: commit, Base: r.head(), Seq: int64(100 * attempt),
	})
	r.must(err)
	return p
}

// TestASaveTellsWhatItMovedOut: what was left in a worktree and cannot be saved.
func TestASaveTellsWhatItMovedOut(t *testing.T) { // execution §3: nothing of value is thrown away
	overLayouts(t, testASaveTellsWhatItMovedOut)
}

func testASaveTellsWhatItMovedOut(t *testing.T) {
	r, base := movedRepo(t)
	r.in("bd-1-1", "a.txt", "a")
	p := r.prepared("bd-1-1", 2, base)
	if p.Saved == "" {
		t.Error("nothing is saved")
	}
	r.lies(strings.Join(p.Moved, "\n"), "big", "deep/.Git/a")
	if p := r.prepared("bd-1-1", 3, base); len(p.Moved) > 0 {
		t.Errorf("told once more: %q", p.Moved)
	}
}

// TestWhoLooksMovesNothing: to ask whether somebody edited a conflict's worktree leaves
// all there.
func TestWhoLooksMovesNothing(t *testing.T) { overLayouts(t, testWhoLooksMovesNothing) }

func testWhoLooksMovesNothing(t *testing.T) {
	r, base := movedRepo(t)
	w := r.space.own(r.space.nodes["bd-1-1"])
	r.must(r.space.worktree(t.Context(), w, base))
	w.Shot = r.git("rev-parse", base+"^{tree}")
	r.must(r.space.remember(w))
	if edited, err := r.space.Edited(context.Background(), "bd-1-1"); err != nil || !edited {
		t.Errorf("edited %v, %v", edited, err)
	}
	if all := r.movedOut(); len(all) > 0 {
		t.Errorf("it moved %+v", all)
	}
	for _, f := range []string{"big", "deep/.Git/a"} {
		if _, err := os.Lstat(filepath.Join(r.space.Dir("bd-1-1"), f)); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatCannotBeMovedIntoTheStateLiesBeside: worktrees may be on another file system.
func TestWhatCannotBeMovedIntoTheStateLiesBeside(t *testing.T) {
	s := &space{state: t.TempDir()}
	var w *worktree
	for _, parent := range []string{"/dev/shm", "/var/tmp"} {
		beside, err := os.MkdirTemp(parent, "moved-out-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.RemoveAll(beside) })
		if os.Rename(beside, filepath.Join(s.state, "beside")) == nil {
			if err := os.Remove(filepath.Join(s.state, "beside")); err != nil {
				t.Fatal(err)
			}
			continue
		}
		w = &worktree{name: "bd-1-1", dir: filepath.Join(beside, "w")}
	}
	if w == nil {
		t.Skip("there is no other file system")
	}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "big"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.moveOut(w, "too large", "big"); err != nil {
		t.Fatal(err)
	}
	all, err := Trees{s}.MovedOut(t.Context())
	if err != nil || len(all) != 1 || !strings.HasPrefix(all[0].Dir, w.dir+".moved-out-") || all[0].Files != 1 || all[0].Why != "too large, to "+all[0].Dir {
		t.Errorf("%+v, %v", all, err)
	}
	left, err := filepath.Glob(filepath.Join(s.state, "moved-out", "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("in the state are %q, %v; want the note alone", left, err)
	}
}
