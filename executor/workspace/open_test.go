package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
)

// gate is the effect of a gate on a collected commit.
func (r *repo) gate(node ir.NodeID, commit, name string, apart bool) executor.Effect {
	e := r.effect(executor.EffectGate, node, 1, commit)
	e.Gate, e.Apart = name, apart
	return e
}

func (r *repo) opened(e executor.Effect) string {
	r.t.Helper()
	dir, err := r.space.Open(r.t.Context(), e)
	if err != nil {
		r.t.Fatal(err)
	}
	return dir
}

func (r *repo) closed(e executor.Effect) executor.Trace {
	r.t.Helper()
	t, err := r.space.Close(r.t.Context(), e)
	if err != nil {
		r.t.Fatal(err)
	}
	return t
}

func TestAGateSeesExactlyTheCommitAndIsUndone(t *testing.T) {
	overLayouts(t, testAGateSeesExactlyTheCommitAndIsUndone)
} // execution §3: access read, gates see the collected commit

func testAGateSeesExactlyTheCommitAndIsUndone(t *testing.T) {
	for name, beside := range map[string]bool{"in the node's worktree": false, "apart": true} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.Setup = []string{"mkdir -p deps && echo dep > deps/d"} }))
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			r.in("bd-1-1", "a.txt", "a\n")
			c := r.collect("bd-1-1", 1, base)
			e := r.gate("bd-1-1", c.Result.Commit, "qa", beside)

			dir := r.opened(e)
			if (dir != r.space.Dir("bd-1-1")) != beside {
				t.Errorf("opened %s", dir)
			}
			for _, f := range []string{"a.txt", "deps/d"} {
				if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
					t.Errorf("the gate does not see %s", f)
				}
			}
			if got := r.closed(e); len(got.New)+len(got.Changed) > 0 {
				t.Errorf("a gate that did nothing left %+v", got)
			}

			dir = r.opened(e)
			r.write(dir+"/report.xml", "x")
			r.write(dir+"/README.md", "changed\n")
			r.write(dir+"/build.log", "ignored\n")
			r.git("-C", dir, "rm", "-q", "--cached", "a.txt")
			r.git("-C", dir, "checkout", "-q", "-b", "elsewhere")
			got := r.closed(e)
			slices.Sort(got.Changed)
			if strings.Join(got.Changed, " ") != "HEAD README.md a.txt index" {
				t.Errorf("changed %q", got.Changed)
			}
			if !slices.Contains(got.New, "report.xml") || slices.Contains(got.New, "build.log") {
				t.Errorf("new %q", got.New)
			}
			if r.clone() {
				if got := r.git("branch", "--list", "elsewhere"); got != "" {
					t.Errorf("a branch of the user's was made: %s", got)
				}
			} else if tip := r.git("rev-parse", "elsewhere"); tip != c.Result.Commit {
				t.Errorf("the branch that the gate made moved to %s", tip)
			}
			again := r.closed(e)
			if len(again.New)+len(again.Changed) > 0 {
				t.Errorf("closed again: %+v", again)
			}
			if _, err := os.Stat(dir); (err != nil) != beside {
				t.Errorf("the directory after Close: %v", err)
			}
			if out := r.git("-C", r.space.Dir("bd-1-1"), "status", "--porcelain"); out != "?? deps/" {
				t.Errorf("the node's worktree is left with %q", out)
			}
		})
	}
}

func TestSeveralGatesOfANodeAtATime(t *testing.T) { overLayouts(t, testSeveralGatesOfANodeAtATime) } // execution §3: gate_mode parallel

func testSeveralGatesOfANodeAtATime(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "a.txt", "a\n")
	c := r.collect("bd-1-1", 1, base).Result.Commit
	names := []string{"unit", "qa", "q a", "q.a"}
	dirs := make([]string, len(names))
	errs := make(chan error, len(names))
	for i, name := range names {
		e := r.gate("bd-1-1", c, name, i > 0)
		go func() {
			dir, err := r.space.Open(t.Context(), e)
			dirs[i] = dir
			errs <- err
		}()
	}
	for range names {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(dirs)
	if len(slices.Compact(slices.Clone(dirs))) != len(names) {
		t.Errorf("opened %q", dirs)
	}
	for i, name := range names {
		r.closed(r.gate("bd-1-1", c, name, i > 0))
	}
	if out := r.git("worktree", "list"); strings.Count(out, "\n") != r.linked(1) {
		t.Errorf("worktrees left:\n%s", out)
	}
}

func TestACrashLeavesNoWorktreeApart(t *testing.T) { overLayouts(t, testACrashLeavesNoWorktreeApart) } // execution §9

func testACrashLeavesNoWorktreeApart(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	e := r.gate("bd-1-1", base, "qa", true)
	dir := r.opened(e)
	r.write(dir+"/left.txt", "x")
	if again := r.opened(e); again != dir {
		t.Errorf("opened again at %s", again)
	}
	if _, err := os.Stat(dir + "/left.txt"); err == nil {
		t.Error("what the interrupted gate left is still there")
	}
	half := r.space.Dir("bd-1-2") + ".gate-qa"
	r.write(half+"/.git", "gitdir: "+r.dir+"/.git/worktrees/none\n")
	foreign := r.space.Dir("bd-1-2") + ".gate-mine"
	r.write(foreign+"/precious", "x")
	r.write(r.space.State()+"/index-123", "x")
	r.open()
	if err := r.space.Trees.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{dir, half, r.space.State() + "/index-123"} {
		if _, err := os.Stat(gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, err := os.Stat(foreign + "/precious"); err != nil {
		t.Error("somebody else's directory was removed")
	}
	if out := r.git("worktree", "list"); strings.Count(out, "\n") != r.linked(1) {
		t.Errorf("worktrees left:\n%s", out)
	}
}

func TestEditedSeesThatSomebodyWorked(t *testing.T) { overLayouts(t, testEditedSeesThatSomebodyWorked) } // execution §5: a person's own fix

func testEditedSeesThatSomebodyWorked(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	edited := func() bool {
		t.Helper()
		got, err := r.space.Edited(t.Context(), "bd-1-1")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if edited() {
		t.Error("edited before there is a worktree")
	}
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "build.log", "ignored")
	if edited() {
		t.Error("edited after prepare")
	}
	r.in("bd-1-1", "a.txt", "a\n")
	if !edited() {
		t.Error("a new file is not seen")
	}
	r.collect("bd-1-1", 1, base)
	if edited() {
		t.Error("edited after collect")
	}
	r.git("-C", r.space.Dir("bd-1-1"), "commit", "-q", "--allow-empty", "-m", "mine")
	if !edited() {
		t.Error("a commit is not seen")
	}
	r.must(os.RemoveAll(r.space.Dir("bd-1-1")))
	if edited() {
		t.Error("edited without a worktree")
	}
}

func TestDiffIsPlain(t *testing.T) { overLayouts(t, testDiffIsPlain) }

func testDiffIsPlain(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	r.git("config", "diff.external", "touch "+r.dir+"/pwned")
	r.git("config", "diff.noprefix", "true")
	base := r.head()
	c := r.result("bd-1-1", base, "a.txt", "a\n")
	var b strings.Builder
	if err := r.space.Diff(t.Context(), base, c.Commit, &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "+++ b/a.txt\n") || !strings.Contains(b.String(), "+a\n") {
		t.Errorf("got %s", b.String())
	}
	if _, err := os.Stat(r.dir + "/pwned"); err == nil {
		t.Error("a program of the user's was run")
	}
}

func TestNoWorktreeIsMadeBelowTheFloor(t *testing.T) {
	overLayouts(t, testNoWorktreeIsMadeBelowTheFloor)
} // worktree.min_free

func testNoWorktreeIsMadeBelowTheFloor(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.MinFree = 1000 }))
	have := int64(999)
	r.space.free = func(string) (int64, error) { return have, nil }
	_, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 1, r.head()))
	if failure(err) != executor.FailTransient || !strings.Contains(err.Error(), "make room") {
		t.Errorf("got %v", err)
	}
	have = 1000
	r.prepare("bd-1-1", 1, r.head())
	have = 0
	r.prepare("bd-1-1", 2, r.head()) // it is there already
}

func TestWhoOnlyLooksIsNotSweptAway(t *testing.T) { // execution §8: the marker sweep is for what a killed run left
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	looker, err := Open(t.Context(), r.dir, r.space.epic)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(looker.Trees.Release)
	if _, err := looker.git.ref(t.Context(), "HEAD^{commit}"); err != nil { // its git begins
		t.Fatal(err)
	}
	pid := looker.git.batch.cmd.Process.Pid
	process.Sweep(looker.State()+string(filepath.Separator), Mark) // as a run does that starts meanwhile
	if _, err := looker.git.ref(t.Context(), "HEAD^{commit}"); err != nil || looker.git.batch.cmd.Process.Pid != pid {
		t.Errorf("its git was killed (%v)", err)
	}
}
