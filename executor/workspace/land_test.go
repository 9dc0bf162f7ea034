package workspace

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func branching(e *ir.Epic) { e.Epic.Integration.Mode = "branch" }

func TestResultsLandOneAfterAnother(t *testing.T) { overLayouts(t, testResultsLandOneAfterAnother) } // execution §5: mode branch

func testResultsLandOneAfterAnother(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2"}, branching))
	pinned, _, err := r.space.Bases.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	onto := func(id ir.NodeID, in ...executor.Result) (executor.BaseMade, error) {
		e := r.effect(executor.EffectBase, id, 0, "")
		e.Onto, e.Inputs = executor.OntoHead, in
		return r.space.Base(t.Context(), e)
	}
	if b, err := onto("bd-1-1"); err != nil || b.Head != pinned.Commit {
		t.Errorf("before anything has landed: %+v, %v", b, err)
	}
	a := r.result("bd-1-1", pinned.Commit, "a.txt", "a\n")
	b := r.result("bd-1-2", pinned.Commit, "b.txt", "b\n")
	land := func(res executor.Result, commit, old string) (executor.Landed, error) {
		e := r.effect(executor.EffectLand, res.Node, 1, commit)
		e.Old, e.Inputs = old, []executor.Result{res}
		return r.space.Land(t.Context(), e)
	}
	if l, err := land(a, a.Commit, pinned.Commit); err != nil || l.Head.Commit != a.Commit {
		t.Fatalf("landed %+v, %v", l, err)
	}
	if l, err := land(a, a.Commit, pinned.Commit); err != nil || l.Head.Commit != a.Commit {
		t.Errorf("landed again %+v, %v", l, err)
	}
	if _, err := onto("bd-1-3", a, b); failure(err) != executor.FailTransient {
		t.Errorf("a head without what is needed: %v", err)
	}
	_, err = land(b, b.Commit, pinned.Commit)
	var moved *executor.Failure
	if !errors.As(err, &moved) || moved.Class != executor.FailMoved || moved.Head.Commit != a.Commit {
		t.Fatalf("the branch has moved: %v", err)
	}
	e := r.effect(executor.EffectBase, "bd-1-2", 0, "")
	e.Inputs = []executor.Result{{Node: "head", Tree: moved.Head}, b}
	m, err := r.space.Base(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := land(b, m.Base.Commit, a.Commit); err != nil || l.Head != m.Base {
		t.Fatalf("landed %+v, %v", l, err)
	}
	if l, err := land(a, a.Commit, pinned.Commit); err != nil || l.Head != m.Base {
		t.Errorf("the first one again: %+v, %v", l, err)
	}
	if got, err := onto("bd-1-3", a, b); err != nil || got.Base != m.Base {
		t.Errorf("the next starts from %+v, %v", got, err)
	}
}

func TestLandingNeverOverwrites(t *testing.T) { overLayouts(t, testLandingNeverOverwrites) }

func testLandingNeverOverwrites(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, branching))
	pinned, _, err := r.space.Bases.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := r.result("bd-1-1", pinned.Commit, "a.txt", "a\n")
	land := func(old string) error {
		e := r.effect(executor.EffectLand, "bd-1-1", 1, a.Commit)
		e.Old = old
		_, err := r.space.Land(t.Context(), e)
		return err
	}
	r.git("branch", "ralph/x/integration")
	r.git("checkout", "-q", "ralph/x/integration")
	if err := land(pinned.Commit); failure(err) != executor.FailConfig || !strings.Contains(err.Error(), "checked out") {
		t.Errorf("got %v", err)
	}
	r.git("checkout", "-q", "main")
	theirs := r.git("commit-tree", pinned.Commit+"^{tree}", "-p", pinned.Commit, "-m", "theirs")
	r.git("update-ref", "refs/heads/ralph/x/integration", theirs)
	if err := land(""); failure(err) != executor.FailConfig {
		t.Errorf("got %v", err)
	}
	if err := land(pinned.Commit); failure(err) != executor.FailMoved {
		t.Errorf("got %v", err)
	}
	if got := r.git("rev-parse", "ralph/x/integration"); got != theirs {
		t.Errorf("the branch is at %s", got)
	}
}

func TestForeignCommitsOnTheSum(t *testing.T) { overLayouts(t, testForeignCommitsOnTheSum) } // execution §5: approve integration, retry integration

func testForeignCommitsOnTheSum(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	a := r.result("bd-1-1", r.head(), "a.txt", "a\n")
	publish := func(commit, old string) error {
		e := r.effect(executor.EffectPublish, executor.Integration, 0, commit)
		e.Old = old
		_, err := r.space.Publish(t.Context(), e)
		return err
	}
	r.must(publish(a.Commit, ""))
	theirs := r.git("commit-tree", a.Commit+"^{tree}", "-p", a.Commit, "-m", "theirs")
	r.git("update-ref", "refs/heads/ralph/x/integration", theirs)
	b := r.result("bd-1-2", r.head(), "b.txt", "b\n")
	e := r.effect(executor.EffectBase, executor.Integration, 0, "")
	e.Inputs = []executor.Result{a, b}
	sum, err := r.space.Base(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	err = publish(sum.Base.Commit, a.Commit)
	var f *executor.Failure
	if !errors.As(err, &f) || f.Class != executor.FailForeign || f.Head.Commit != theirs || f.Head.Tree == "" {
		t.Fatalf("got %v", err)
	}
	e.Inputs = []executor.Result{{Node: executor.Integration, Tree: f.Head}, a, b} // approve: they stay
	kept, err := r.space.Base(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if r.git("merge-base", "--is-ancestor", theirs, kept.Base.Commit); kept.Base.Commit == theirs {
		t.Error("nothing was added to theirs")
	}
	r.must(publish(sum.Base.Commit, f.Head.Commit)) // retry: rebuilt
	if got := r.git("for-each-ref", "--format=%(objectname)", "refs/ralph/bd-epic/sum/"); got != theirs {
		t.Errorf("pinned %q, want %s", got, theirs)
	}
}

// Where others have put the branch elsewhere, it is said what it holds there; one that
// they deleted is made anew.
func TestAnIntegrationBranchThatWasMovedOrDeleted(t *testing.T) { // execution §5 (the account is true)
	r := newRepo(t, executortest.Epic(two))
	a := r.result("bd-1-1", r.head(), "a.txt", "a\n")
	b := r.result("bd-1-2", a.Commit, "b.txt", "b\n")
	publish := func(commit, old string) (executor.Published, *executor.Failure) {
		e := r.effect(executor.EffectPublish, executor.Integration, 0, commit)
		e.Old, e.Known = old, []string{a.Commit, b.Commit}
		p, err := r.space.Publish(t.Context(), e)
		var f *executor.Failure
		if err != nil && !errors.As(err, &f) {
			t.Fatal(err)
		}
		return p, f
	}
	c := r.result("bd-1-1", b.Commit, "c.txt", "c\n")
	if _, f := publish(b.Commit, ""); f != nil {
		t.Fatal(f)
	}
	elsewhere := r.git("commit-tree", a.Commit+"^{tree}", "-m", "theirs")
	for _, w := range []struct {
		head  string
		back  bool
		holds []string
		says  string
	}{
		{r.git("commit-tree", b.Commit+"^{tree}", "-p", b.Commit, "-m", "theirs"), false, []string{a.Commit, b.Commit}, "holds commits that are not ralph's"},
		{a.Commit, true, []string{a.Commit}, "was moved back"},
		{elsewhere, false, []string{}, "does not contain its earlier commits"},
	} {
		r.git("update-ref", "refs/heads/ralph/x/integration", w.head)
		_, f := publish(c.Commit, b.Commit)
		if f == nil || f.Class != executor.FailForeign || f.Back != w.back || !slices.Equal(f.Holds, w.holds) || f.Holds == nil || !strings.Contains(f.Error(), w.says) {
			t.Errorf("%s: got %+v", w.says, f)
		}
	}
	r.git("update-ref", "-d", "refs/heads/ralph/x/integration")
	if p, f := publish(c.Commit, b.Commit); f != nil || p.Result.Commit != c.Commit || r.git("rev-parse", "refs/heads/ralph/x/integration") != c.Commit {
		t.Errorf("deleted: %+v, %v", p, f)
	}
}

func TestASumOfTheSameFilesChangesNothing(t *testing.T) { overLayouts(t, testASumOfTheSameFiles) } // execution §5 (the sum)

func testASumOfTheSameFiles(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	a := r.result("bd-1-1", r.head(), "a.txt", "a\n")
	b := r.result("bd-1-2", a.Commit, "a.txt", "what was made of it\n")
	again := executor.Result{Node: "bd-1-1", Tree: executor.Tree{Commit: r.git("commit-tree", a.Commit+"^{tree}", "-p", r.head(), "-m", "again"), Tree: a.Tree.Tree}, Same: a.Commit}
	e := r.effect(executor.EffectBase, executor.Integration, 0, "")
	e.Inputs = []executor.Result{b, again}
	sum, err := r.space.Base(t.Context(), e)
	if err != nil || sum.Base.Tree != b.Tree.Tree {
		t.Fatalf("got %v, %v", sum, err)
	}
	within := func(want ...string) {
		t.Helper()
		in, err := r.space.Refs.Within(t.Context(), []string{a.Commit, b.Commit, again.Commit, r.head()})
		if err != nil {
			t.Fatal(err)
		}
		for c, is := range in {
			if is != slices.Contains(want, c) {
				t.Errorf("%s is in the branch: %t", c, is)
			}
		}
	}
	within() // there is none
	put := func(commit, old string) string {
		t.Helper()
		p := r.effect(executor.EffectPublish, executor.Integration, 0, commit)
		p.Old = old
		first, err := r.space.Publish(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		p.Seq += 7 // ralph ended before it was on record
		second, err := r.space.Publish(t.Context(), p)
		if err != nil || second != first {
			t.Errorf("once more: %v, %v; was %v", second, err, first)
		}
		return first.Pinned
	}
	if pin := put(b.Commit, ""); pin != "" {
		t.Errorf("%s keeps nothing", pin)
	}
	within(a.Commit, b.Commit, r.head())
	if pin := put(sum.Base.Commit, b.Commit); pin != "" {
		t.Errorf("%s is named, and the new head holds it", pin)
	}
	within(a.Commit, b.Commit, again.Commit, r.head())
	if pin := put(again.Commit, sum.Base.Commit); pin == "" || r.git("rev-parse", pin) != sum.Base.Commit {
		t.Errorf("the old head is kept as %q", pin)
	}
	within(again.Commit, r.head())
}

func TestRebaseMovesThePins(t *testing.T) { overLayouts(t, testRebaseMovesThePins) } // execution §2: --rebase

func testRebaseMovesThePins(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2", "1.3"}, func(e *ir.Epic) { e.Nodes[1].Git.Base = "side" }))
	r.git("branch", "side")
	pinned, own, err := r.space.Bases.Pin(t.Context())
	if err != nil || len(own) != 1 {
		t.Fatalf("%v, %v", own, err)
	}
	a := r.result("bd-1-1", pinned.Commit, "a.txt", "a\n")
	b := r.result("bd-1-2", pinned.Commit, "b.txt", "b\n")
	c := r.result("bd-1-3", pinned.Commit, "c.txt", "c\n")
	r.git("merge", "-q", "--no-edit", a.Commit)
	r.git("merge", "-q", "--squash", b.Commit)
	r.git("commit", "-q", "-m", "squashed")
	r.git("update-ref", "refs/heads/side", a.Commit)
	base, bases, err := r.space.Bases.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.must(r.space.Bases.Rebase(t.Context(), base, bases))
	base, bases, err = r.space.Bases.Pin(t.Context())
	if err != nil || base.Commit != r.head() || len(bases) != 1 || bases[0].Commit != a.Commit {
		t.Fatalf("rebased to %v %v, %v", base, bases, err)
	}
	if again, _, err := r.space.Bases.Pin(t.Context()); err != nil || again != base {
		t.Errorf("pinned %v, %v", again, err)
	}
	done, err := r.space.Results.Merged(t.Context(), base.Commit, []executor.Result{a, b, c, {Node: "bd-none"}})
	if err != nil || !slices.Equal(done, []ir.NodeID{"bd-1-1", "bd-1-2"}) {
		t.Errorf("done by the base: %v, %v", done, err)
	}
}

func TestWhatASquashedResultWasMadeFromIsInTheBase(t *testing.T) { // execution §2: --rebase
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3"}))
	pinned, _, err := r.space.Bases.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := r.result("bd-1-1", pinned.Commit, "a.txt", "first\n")
	b := r.result("bd-1-2", a.Commit, "a.txt", "second\n") // the base never has "first"
	c := r.result("bd-1-3", pinned.Commit, "a.txt", "other\n")
	r.git("merge", "-q", "--squash", b.Commit)
	r.git("commit", "-q", "-m", "squashed")
	done, err := r.space.Results.Merged(t.Context(), r.head(), []executor.Result{a, b, c})
	if want := []ir.NodeID{"bd-1-1", "bd-1-2"}; err != nil || !slices.Equal(done, want) {
		t.Errorf("done by the base: %v, %v; want %v", done, err, want)
	}
}

func TestOrphansAreFound(t *testing.T) { overLayouts(t, testOrphansAreFound) } // execution §1: a journal that lost its tail

func testOrphansAreFound(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base, _, err := r.space.Bases.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := r.result("bd-1-1", base.Commit, "a.txt", "a\n")
	after := r.seq
	r.prepare("bd-1-2", 1, base.Commit)
	r.in("bd-1-2", "b.txt", "<<<<<<< x\n=======\n>>>>>>> y\n")
	b := r.collect("bd-1-2", 1, base.Commit)
	all, err := r.space.Refs.Orphans(t.Context(), 0)
	if err != nil || len(all) != 2 {
		t.Fatalf("found %+v, %v", all, err)
	}
	if o := all[0]; o.Node != "bd-1-1" || o.Step != "implement" || o.Attempt != 1 || o.Start != base.Commit || o.Result != a.Tree || o.Seq != 2 || len(o.Problems) > 0 {
		t.Errorf("found %+v", o)
	}
	late, err := r.space.Refs.Orphans(t.Context(), after)
	if err != nil || len(late) != 1 || late[0].Result != b.Result || len(late[0].Problems) == 0 {
		t.Errorf("after %d: %+v, %v", after, late, err)
	}
	if none, err := r.space.Refs.Orphans(t.Context(), r.seq); err != nil || len(none) != 0 {
		t.Errorf("after all: %+v, %v", none, err)
	}
	r.must(publishSum(r, a.Commit))
	r.git("for-each-ref", "--format=delete %(refname)", "refs/ralph/bd-epic/nodes")
	r.git("update-ref", "-d", "refs/ralph/bd-epic/nodes/bd-1-1/result")
	r.git("update-ref", "-d", "refs/ralph/bd-epic/nodes/bd-1-1/attempts/implement/1")
	r.open()
	if all, err := r.space.Refs.Orphans(t.Context(), 0); err != nil || len(all) != 2 {
		t.Errorf("from the integration branch: %+v, %v", all, err)
	}
}

func publishSum(r *repo, commit string) error {
	_, err := r.space.Publish(r.t.Context(), r.effect(executor.EffectPublish, executor.Integration, 0, commit))
	return err
}

func TestCleanRemovesOnlyWhatIsSafe(t *testing.T) { overLayouts(t, testCleanRemovesOnlyWhatIsSafe) } // S2-63, K9, S2-67

func testCleanRemovesOnlyWhatIsSafe(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2", "1.3"}))
	base := r.head()
	a := r.result("bd-1-1", base, "a.txt", "a\n")
	b := r.result("bd-1-2", base, "b.txt", "b\n")
	r.result("bd-1-3", base, "c.txt", "c\n")
	e := r.effect(executor.EffectBase, executor.Integration, 0, "")
	e.Inputs = []executor.Result{a, b}
	sum, err := r.space.Base(t.Context(), e)
	r.must(err)
	r.must(publishSum(r, sum.Base.Commit))
	r.in("bd-1-2", "new.txt", "not committed\n")
	nodes := []ir.NodeID{"bd-1-1", "bd-1-2", "bd-1-3"}
	kept, err := r.space.Trees.Clean(t.Context(), nodes)
	if err != nil || len(kept) != 2 || !strings.Contains(kept[0].Why, "not committed") || !strings.Contains(kept[1].Why, "not merged") {
		t.Errorf("kept %+v, %v", kept, err)
	}
	for i, id := range nodes {
		if _, err := os.Stat(r.space.Dir(id)); (err == nil) != (i > 0) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if out := r.git("worktree", "list"); strings.Count(out, "\n") != r.linked(2) {
		t.Errorf("worktrees:\n%s", out)
	}
	again, err := r.space.Trees.Clean(t.Context(), nodes)
	if err != nil || len(again) != 2 {
		t.Errorf("again: %+v, %v", again, err)
	}
	r.prepare("bd-1-1", 2, base) // and a removed one can be made again
}

func TestCleanWaitsForThePush(t *testing.T) { overLayouts(t, testCleanWaitsForThePush) } // S2-63

func testCleanWaitsForThePush(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Epic.Integration.PR = "node" }))
	r.forge()
	a := r.result("bd-1-1", r.head(), "a.txt", "a\n")
	r.must(publishSum(r, a.Commit))
	kept, err := r.space.Trees.Clean(t.Context(), []ir.NodeID{"bd-1-1"})
	if err != nil || len(kept) != 1 || kept[0].Why != "its work is not pushed" {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if _, err := r.pull(a, "x"); err != nil {
		t.Fatal(err)
	}
	if kept, err := r.space.Trees.Clean(t.Context(), []ir.NodeID{"bd-1-1"}); err != nil || len(kept) != 0 {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

func TestManualWorkIsTheTipOfItsBranch(t *testing.T) {
	overLayouts(t, testManualWorkIsTheTipOfItsBranch)
} // execution §3: kind manual

func testManualWorkIsTheTipOfItsBranch(t *testing.T) {
	manual := func(e *ir.Epic) { e.Nodes[0].Kind = ir.Manual }
	for name, c := range map[string]struct {
		do      func(r *repo, base string) string // returns the result, "" for the base
		problem string
	}{
		"nothing in git": {func(*repo, string) string { return "" }, ""},
		"a branch made anywhere": {func(r *repo, base string) string {
			c := r.git("commit-tree", base+"^{tree}", "-p", base, "-m", "by hand")
			r.git("branch", "ralph/x/1-1", c)
			return c
		}, ""},
		"checked out by the user": {func(r *repo, base string) string {
			r.git("checkout", "-q", "-b", "ralph/x/1-1")
			r.git("commit", "-q", "--allow-empty", "-m", "by hand")
			return r.head()
		}, ""},
		"a branch that does not have the base": {func(r *repo, base string) string {
			c := r.git("commit-tree", base+"^{tree}", "-m", "from nowhere")
			r.git("branch", "ralph/x/1-1", c)
			return c
		}, "does not contain the base"},
		"edits in its worktree": {func(r *repo, base string) string {
			r.prepare("bd-1-1", 1, base)
			r.in("bd-1-1", "a.txt", "by hand\n")
			return "new"
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two, manual))
			base := r.head()
			want := c.do(r, base)
			e := r.effect(executor.EffectCollect, "bd-1-1", 1, base)
			e.Person = true
			got, err := r.space.Collect(t.Context(), e, executor.Outcome{})
			if err != nil || (c.problem == "") != (len(got.Problems) == 0) || !strings.Contains(strings.Join(got.Problems, ""), c.problem) {
				t.Fatalf("collected %+v, %v", got, err)
			}
			switch want {
			case "":
				want = base
			case "new":
				want = r.git("rev-parse", "ralph/x/1-1")
				if r.git("show", want+":a.txt") != "by hand" {
					t.Error("the edits are not there")
				}
			}
			if got.Result.Commit != want {
				t.Errorf("result %s, want %s", got.Result.Commit, want)
			}
			if c.problem != "" {
				return
			}
			g := r.gate("bd-1-1", got.Result.Commit, "check", false)
			r.opened(g)
			r.closed(g)
			if _, err := r.space.Publish(t.Context(), r.effect(executor.EffectPublish, "bd-1-1", 1, got.Result.Commit)); err != nil {
				t.Error(err)
			}
			if tip := r.git("for-each-ref", "--format=%(objectname)", "refs/heads/ralph/x/1-1"); tip != "" && tip != want {
				t.Errorf("the person's branch moved to %s", tip)
			}
		})
	}
}

// What an event could not take is no trailer of ralph's.
func TestLongTrailersAreNotRalphs(t *testing.T) { // execution §1: an event takes less than 4 kB
	r := newRepo(t, executortest.Epic(two))
	sha := strings.Repeat("a", 40)
	for start, want := range map[string]bool{sha: true, strings.Repeat(sha, 100): false} {
		line := strings.Join([]string{sha, sha, sha, "bd-epic", "bd-1-1", "implement/1", "7", start, "", "w"}, "\x1f")
		if _, ok := r.space.Refs.readTrail(line, 10); ok != want {
			t.Errorf("a start of %d bytes: %v", len(start), ok)
		}
	}
}
