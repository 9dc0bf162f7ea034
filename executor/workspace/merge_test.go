package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// quarrel is a repository whose nodes 1.1, 1.2 and 1.3 all wrote README.md, and
// each a file of its own; 1.4 needs them.
func quarrel(t *testing.T, change ...func(*ir.Epic)) (*repo, []executor.Result) {
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2", "1.3", "1.4: 1.1 1.2 1.3"}, change...))
	base := r.head()
	var in []executor.Result
	for _, id := range []ir.NodeID{"bd-1-1", "bd-1-2", "bd-1-3"} {
		r.prepare(id, 1, base)
		r.in(id, string(id)+".txt", "own\n")
		if id != "bd-1-3" {
			r.in(id, "README.md", "by "+string(id)+"\n")
		} else {
			r.in(id, "tests/a_test.sh", "exit 3\n")
		}
		in = append(in, executor.Result{Node: id, Tree: r.collect(id, 1, base).Result})
	}
	return r, in
}

func (r *repo) merge(kind executor.EffectKind, node ir.NodeID, attempt int, commit string, in []executor.Result) executor.Effect {
	e := r.effect(kind, node, attempt, commit)
	e.Step, e.Merge, e.Inputs, e.Start, e.Base = executor.MergeStep, true, in, in[0].Commit, in[0].Commit
	return e
}

func (r *repo) prepareMerge(node ir.NodeID, attempt int, commit string, in []executor.Result) executor.Prepared {
	r.t.Helper()
	p, err := r.space.Prepare(r.t.Context(), r.merge(executor.EffectPrepare, node, attempt, commit, in))
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *repo) collectMerge(node ir.NodeID, attempt int, commit string, in []executor.Result) executor.Collected {
	r.t.Helper()
	c, err := r.space.Collect(r.t.Context(), r.merge(executor.EffectCollect, node, attempt, commit, in), executor.Outcome{})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func TestAConflictIsLeftAsGitMergeLeavesIt(t *testing.T) {
	overLayouts(t, testAConflictIsLeftAsGitMergeLeavesIt)
} // execution §3: a real git merge in the worktree

func testAConflictIsLeftAsGitMergeLeavesIt(t *testing.T) {
	for _, node := range []ir.NodeID{"bd-1-4", executor.Integration} {
		t.Run(string(node), func(t *testing.T) {
			r, in := quarrel(t)
			p := r.prepareMerge(node, 1, in[0].Commit, in)
			if !slices.Equal(p.Paths, []string{"README.md"}) || p.Saved != "" {
				t.Errorf("prepared %+v", p)
			}
			dir := r.space.Dir(node)
			wt := func(args ...string) string { return r.git(append([]string{"-C", dir}, args...)...) }
			if got := wt("rev-parse", "HEAD"); got != in[0].Commit {
				t.Errorf("HEAD is %s", got)
			}
			if got := wt("diff", "--name-only", "--diff-filter=U"); got != "README.md" {
				t.Errorf("unmerged: %q", got)
			}
			b, err := os.ReadFile(filepath.Join(dir, "README.md"))
			if err != nil || !strings.Contains(string(b), "by bd-1-1\n=======\nby bd-1-2\n>>>>>>> ralph/x/1-2") {
				t.Errorf("README.md reads %s, %v", b, err)
			}
			if edited, err := r.space.Edited(t.Context(), node); err != nil || edited {
				t.Errorf("edited %v, %v", edited, err)
			}

			r.open() // after a crash
			if p := r.prepareMerge(node, 1, in[0].Commit, in); p.Saved != "" || len(p.Paths) != 1 {
				t.Errorf("prepared again: %+v", p)
			}
			r.must(os.Remove(wt("rev-parse", "--absolute-git-dir") + "/MERGE_HEAD"))
			r.write(dir+"/half.txt", "half done\n")
			p = r.prepareMerge(node, 1, in[0].Commit, in)
			if p.Saved == "" || r.git("show", p.Saved+":half.txt") != "half done" {
				t.Errorf("what was there was saved as %q", p.Saved)
			}
			if got := wt("rev-parse", "MERGE_HEAD"); got != in[1].Commit {
				t.Errorf("MERGE_HEAD is %s", got)
			}

			r.write(dir+"/README.md", "by both\n") // and no git add: the file says it
			c := r.collectMerge(node, 1, in[0].Commit, in)
			if len(c.Problems) > 0 || !slices.Equal(c.Changed, []string{"README.md"}) {
				t.Errorf("collected %+v", c)
			}
			if got := r.git("log", "-1", "--format=%P", c.Result.Commit); got != in[0].Commit+" "+in[1].Commit+" "+in[2].Commit {
				t.Errorf("parents %s", got)
			}
			if got := r.git("log", "-1", "--format=%s", c.Result.Commit); !strings.Contains(got, ": merge 1.1, 1.2, 1.3 (") {
				t.Errorf("subject %q", got)
			}
			if out := wt("status", "--porcelain", "--branch"); strings.Contains(out, "\n") {
				t.Errorf("the worktree is left with %q", out)
			}
			if _, err := os.Stat(wt("rev-parse", "--absolute-git-dir") + "/MERGE_HEAD"); err == nil {
				t.Error("a merge is still under way")
			}
			if again := r.collectMerge(node, 1, in[0].Commit, in); again.Result != c.Result {
				t.Errorf("collected again: %v", again.Result)
			}
			if edited, err := r.space.Edited(t.Context(), node); err != nil || edited {
				t.Errorf("edited %v, %v", edited, err)
			}
		})
	}
}

func TestEveryConflictOfANodeIsLeftAtOnce(t *testing.T) {
	overLayouts(t, testEveryConflictOfANodeIsLeftAtOnce)
} // execution §3

func testEveryConflictOfANodeIsLeftAtOnce(t *testing.T) {
	r, in := quarrel(t)
	e := r.effect(executor.EffectPrepare, "bd-1-3", 2, r.head())
	if _, err := r.space.Prepare(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	r.in("bd-1-3", "README.md", "by bd-1-3\n")
	in[2].Tree = r.collect("bd-1-3", 2, r.head()).Result
	r.prepareMerge("bd-1-4", 1, in[0].Commit, in)
	dir := r.space.Dir("bd-1-4")
	b, err := os.ReadFile(filepath.Join(dir, "README.md"))
	for _, side := range []string{"by bd-1-1", "by bd-1-2", "by bd-1-3"} {
		if err != nil || !strings.Contains(string(b), side) {
			t.Errorf("README.md lacks %q: %s, %v", side, b, err)
		}
	}
	m, err := os.ReadFile(r.git("-C", dir, "rev-parse", "--absolute-git-dir") + "/MERGE_HEAD")
	if err != nil || string(m) != in[1].Commit+"\n"+in[2].Commit+"\n" {
		t.Errorf("MERGE_HEAD holds %q, %v", m, err)
	}
	r.in("bd-1-4", "README.md", "by all\n")
	r.git("-C", dir, "commit", "-q", "-a", "-m", "the agent commits")
	if c := r.collectMerge("bd-1-4", 1, in[0].Commit, in); len(c.Problems) > 0 {
		t.Errorf("collected %+v", c)
	}
}

func TestWhatIsNoResolution(t *testing.T) { overLayouts(t, testWhatIsNoResolution) } // execution §3: checks of the merge step

func testWhatIsNoResolution(t *testing.T) {
	protect := func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Protect = []string{"README.md"}
		e.Gates["check"] = g
	}
	for name, c := range map[string]struct {
		change func(*ir.Epic)
		do     func(r *repo, dir string)
		want   string // part of a problem, "" for none
		class  executor.FailureClass
	}{
		"markers are left": {nil, func(r *repo, d string) {
			r.write(d+"/README.md", "x\n<<<<<<< a\nb\n=======\nc\n>>>>>>> d\n")
		}, "conflict marker at README.md", ""},
		"nothing was done":      {nil, func(*repo, string) {}, "not resolved", ""},
		"markers, and added":    {nil, func(r *repo, d string) { r.git("-C", d, "add", "README.md") }, "conflict marker at README.md", ""},
		"the merge was aborted": {nil, func(r *repo, d string) { r.git("-C", d, "merge", "--abort") }, "the merge was given up", ""},
		"another file was edited": {nil, func(r *repo, d string) {
			r.write(d+"/README.md", "both\n")
			r.write(d+"/bd-1-1.txt", "changed\n")
		}, "changed files that were not in conflict (they must stay as git merged them): bd-1-1.txt", ""},
		"a protected file became something new": {protect, func(r *repo, d string) { r.write(d+"/README.md", "both\n") }, "", executor.FailProtected},
		"a protected file is one side's":        {protect, func(r *repo, d string) { r.write(d+"/README.md", "by bd-1-2\n") }, "", ""},
		"the file was deleted":                  {nil, func(r *repo, d string) { r.git("-C", d, "rm", "-q", "-f", "README.md") }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*ir.Epic)
			if c.change != nil {
				change = append(change, c.change)
			}
			r, in := quarrel(t, change...)
			r.prepareMerge("bd-1-4", 1, in[0].Commit, in)
			c.do(r, r.space.Dir("bd-1-4"))
			e := r.merge(executor.EffectCollect, "bd-1-4", 1, in[0].Commit, in)
			got, err := r.space.Collect(t.Context(), e, executor.Outcome{})
			problems := strings.Join(got.Problems, "\n")
			if failure(err) != c.class || err != nil && c.class == "" {
				t.Errorf("got %v, want class %q", err, c.class)
			}
			if c.want == "" && problems != "" || !strings.Contains(problems, c.want) {
				t.Errorf("problems %q, want %q", problems, c.want)
			}
			if c.class == executor.FailProtected { // a person says that it is right
				e := r.merge(executor.EffectCollect, "bd-1-4", 2, in[0].Commit, in)
				e.Person = true
				got, err := r.space.Collect(t.Context(), e, executor.Outcome{})
				if err != nil || len(got.Problems) > 0 || !strings.Contains(strings.Join(got.Listed, "\n"), "neither side's") {
					t.Errorf("a person's: %+v, %v", got, err)
				}
				if who := r.git("log", "-1", "--format=%an", got.Result.Commit); who != "Test User" {
					t.Errorf("written by %s", who)
				}
			}
		})
	}
}

func TestTheNextAttemptGoesOnFromAHalfResolvedMerge(t *testing.T) {
	overLayouts(t, testTheNextAttemptGoesOnFromAHalfResolvedMerge)
} // execution §3: on_failure keep

func testTheNextAttemptGoesOnFromAHalfResolvedMerge(t *testing.T) {
	r, in := quarrel(t)
	r.prepareMerge("bd-1-4", 1, in[0].Commit, in)
	first := r.collectMerge("bd-1-4", 1, in[0].Commit, in)
	if len(first.Problems) == 0 {
		t.Fatal("an untouched conflict has no problem")
	}
	p := r.prepareMerge("bd-1-4", 2, first.Result.Commit, in)
	if !slices.Equal(p.Paths, []string{"README.md"}) {
		t.Errorf("prepared %+v", p)
	}
	if c := r.collectMerge("bd-1-4", 2, first.Result.Commit, in); len(c.Problems) == 0 {
		t.Errorf("untouched again: %+v", c)
	}
	third := r.prepareMerge("bd-1-4", 3, first.Result.Commit, in)
	if len(third.Paths) != 1 {
		t.Errorf("prepared %+v", third)
	}
	r.in("bd-1-4", "README.md", "resolved\n")
	c := r.collectMerge("bd-1-4", 3, first.Result.Commit, in)
	if len(c.Problems) > 0 {
		t.Errorf("collected %+v", c)
	}
	if got := r.git("log", "-1", "--format=%P", c.Result.Commit); len(strings.Fields(got)) != 3 {
		t.Errorf("parents %s", got)
	}
}

func TestAResolutionCountsForOtherCommitsOfTheSameTrees(t *testing.T) { // execution §3: used again as long as the list of trees is the same
	r, in := quarrel(t)
	r.prepareMerge("bd-1-4", 1, in[0].Commit, in)
	r.in("bd-1-4", "README.md", "both\n")
	r.git("-C", r.space.Dir("bd-1-4"), "add", "README.md")
	made := r.collectMerge("bd-1-4", 1, in[0].Commit, in)
	if len(made.Problems) > 0 {
		t.Fatalf("not resolved: %q", made.Problems)
	}
	again := slices.Clone(in)
	again[0].Commit = r.git("commit-tree", in[0].Tree.Tree, "-p", r.head(), "-m", "the same files, made again")
	e := r.effect(executor.EffectBase, "bd-1-4", 0, "")
	e.Inputs = again
	if _, err := r.space.Base(t.Context(), e); failure(err) != executor.FailConflict {
		t.Fatalf("without the resolution: %v", err)
	}
	e.Resolved = made.Result.Tree
	got, err := r.space.Base(t.Context(), e)
	if err != nil || got.Base.Tree != made.Result.Tree || got.Base.Commit == made.Result.Commit {
		t.Fatalf("got %+v, %v; want tree %s in a commit of its own", got, err, made.Result.Tree)
	}
	for _, x := range again {
		r.git("merge-base", "--is-ancestor", x.Commit, got.Base.Commit)
	}
	if twice, err := r.space.Base(t.Context(), e); err != nil || twice != got {
		t.Errorf("made twice: %+v, %v; want %+v", twice, err, got)
	}
	e.Resolved = strings.Repeat("0", len(made.Result.Tree)-1) + "1" // a tree that a gc took
	if _, err := r.space.Base(t.Context(), e); failure(err) != executor.FailConflict {
		t.Errorf("with a tree that is gone: %v", err)
	}
}

func TestALostResolutionIsFoundAndCheckedAgain(t *testing.T) { // execution §1: a journal behind the branches
	r, in := quarrel(t)
	r.prepareMerge("bd-1-4", 1, in[0].Commit, in)
	r.in("bd-1-4", "README.md", "both\n")
	good := r.collectMerge("bd-1-4", 1, in[0].Commit, in)
	r.prepareMerge("bd-1-4", 2, in[0].Commit, in)
	r.in("bd-1-4", "README.md", "both\n")
	r.in("bd-1-4", "bd-1-2.txt", "what was not in conflict\n")
	bad := r.collectMerge("bd-1-4", 2, in[0].Commit, in)
	if len(good.Problems) > 0 || len(bad.Problems) == 0 {
		t.Fatalf("problems %q and %q", good.Problems, bad.Problems)
	}
	all, err := r.space.Refs.Orphans(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []executor.Orphan
	for _, o := range all {
		if o.Step == executor.MergeStep {
			got = append(got, o)
		}
	}
	want := []string{in[0].Commit, in[1].Commit, in[2].Commit}
	if len(got) != 2 || got[0].Result != good.Result || !slices.Equal(got[0].Merged, want) || got[0].Start != in[0].Commit || len(got[0].Problems) > 0 {
		t.Fatalf("found %+v, want first %s with parents %s", got, good.Result.Commit, want)
	}
	if got[1].Result != bad.Result || !slices.Equal(got[1].Problems, bad.Problems) {
		t.Errorf("found %+v, want the problems %q", got[1], bad.Problems)
	}
}

// How files merge is what the pinned base says in its attributes. What somebody writes
// into the checkout makes no merge of a conflict. execution §2 (base identity), §5
func TestOnlyAttributesOfTheBaseSayHowFilesMerge(t *testing.T) {
	for name, c := range map[string]struct {
		committed, written string
		merges             bool
	}{
		"none":                    {"", "", false},
		"of the base":             {"* merge=union\n", "", true},
		"of the checkout":         {"", "* merge=union\n", false},
		"of the base, overridden": {"* merge=union\n", "* -merge\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two))
			r.git("config", "core.sharedRepository", "0666")
			r.open()
			if c.committed != "" {
				r.write(".gitattributes", c.committed)
				r.git("add", "-A")
				r.git("commit", "-qm", "attributes")
			}
			base := r.head()
			if _, _, err := r.space.Bases.Pin(t.Context()); err != nil {
				t.Fatal(err)
			}
			in := []executor.Result{r.result("bd-1-1", base, "README.md", "one\n"), r.result("bd-1-2", base, "README.md", "two\n")}
			if c.written != "" {
				r.write(".gitattributes", c.written)
				r.write(".git/info/attributes", c.written)
			}
			e := r.effect(executor.EffectBase, executor.Integration, 0, base)
			e.Inputs = in
			made, err := r.space.Base(t.Context(), e)
			if (err == nil) != c.merges || err != nil && failure(err) != executor.FailConflict {
				t.Errorf("%+v, %v", made, err)
			}
			if err != nil && !strings.Contains(err.Error(), "README.md") {
				t.Error(err)
			}
			if err == nil { // others may read and write what ralph made
				at := filepath.Join(r.dir, ".git/objects", made.Base.Tree[:2], made.Base.Tree[2:])
				if st, err := os.Stat(at); err != nil || st.Mode().Perm() != 0o444 {
					t.Errorf("the merged tree: %v, %v", st, err)
				}
				if st, err := os.Stat(filepath.Dir(at)); err != nil || st.Mode().Perm() != 0o777 {
					t.Errorf("its directory: %v, %v", st.Mode(), err)
				}
			}
		})
	}
}
