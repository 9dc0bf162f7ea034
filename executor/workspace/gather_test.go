package workspace

import (
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// result makes a commit on top of main that writes one file, as the result of a
// node of some epic.
func (r *repo) resultOf(epic, node, file, text string) string {
	r.t.Helper()
	r.git("checkout", "-q", "--detach", "main")
	r.write(file, text)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", node)
	commit := r.head()
	r.git("checkout", "-q", "main")
	r.git("update-ref", "refs/ralph/"+epic+"/nodes/"+node+"/result", commit)
	return commit
}

func TestWorkStartsFromResultsOfOtherEpics(t *testing.T) { // S4-17, S4-21, execution §1: refs
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	a := r.resultOf("bd-e1", "bd-a", "a.txt", "a\n")
	b := r.resultOf("bd-e2", "bd-b", "b.txt", "b\n")
	r.resultOf("bd-e3", "bd-twice", "c.txt", "one\n")
	r.resultOf("bd-e4", "bd-twice", "c.txt", "two\n")
	r.resultOf("bd-e5", "bd-clash", "a.txt", "another\n")
	r.git("commit", "-q", "--allow-empty", "-m", "main goes on")

	of := map[ir.NodeID]ir.NodeID{"bd-twice": "bd-e4"}
	g, err := r.space.Results.Gather(t.Context(), []ir.NodeID{"bd-a", "bd-b", "bd-none", "bd-twice", "bd-*"}, of)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Missing, []ir.NodeID{"bd-none", "bd-*"}) || len(g.Results) != 3 || len(g.Paths) > 0 {
		t.Errorf("gathered %+v", g)
	}
	for name, want := range map[string]string{"a.txt": "a", "b.txt": "b", "c.txt": "two"} {
		if got := r.git("show", g.Base.Commit+":"+name); got != want {
			t.Errorf("%s of the base reads %q, want %q", name, got, want)
		}
	}
	for _, in := range []string{a, b, "main"} {
		r.git("merge-base", "--is-ancestor", in, g.Base.Commit)
	}
	again, err := r.space.Results.Gather(t.Context(), []ir.NodeID{"bd-a", "bd-b", "bd-none", "bd-twice"}, of)
	if err != nil || again.Base != g.Base {
		t.Errorf("the same inputs gave %v and %v, %v", g.Base, again.Base, err)
	}
	if g, err := r.space.Results.Gather(t.Context(), []ir.NodeID{"bd-twice"}, nil); err != nil || len(g.Missing) != 1 {
		t.Errorf("two epics have such a node, and nothing says which: %+v, %v", g, err)
	}

	g, err = r.space.Results.Gather(t.Context(), []ir.NodeID{"bd-a", "bd-clash"}, nil)
	if err != nil || g.Base.Commit != "" || g.Culprit != "bd-clash" || !slices.Equal(g.Paths, []string{"a.txt"}) {
		t.Errorf("a conflict: %+v, %v", g, err)
	}
}

func TestABaseIsPinnedWhereItIsTold(t *testing.T) { // execution §2: the base is pinned
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	a := r.resultOf("bd-e1", "bd-a", "a.txt", "a\n")
	in := []executor.Result{{Node: "bd-a", Tree: executor.Tree{Commit: a}}}
	if holds, err := r.space.Results.Holds(t.Context(), in); err != nil || holds {
		t.Errorf("nothing is pinned and it holds %v, %v", holds, err)
	}
	for _, want := range []string{r.head(), a} {
		got, _, err := r.space.Bases.PinAt(t.Context(), want)
		if err != nil || got.Commit != want {
			t.Errorf("pinned at %s, %v; want %s", got.Commit, err, want)
		}
		if holds, err := r.space.Results.Holds(t.Context(), in); err != nil || holds != (want == a) {
			t.Errorf("a base at %s holds %v, %v", want, holds, err)
		}
	}
	if _, _, err := r.space.Bases.PinAt(t.Context(), "nonsense"); err == nil {
		t.Error("what is no commit was pinned")
	}
}
