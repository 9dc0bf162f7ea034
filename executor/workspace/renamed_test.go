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

// An empty directory is not one in which everything was deleted: what was saved of it
// would be a commit without files, told as what an agent had left.
func TestOfAWorktreeThatIsGoneNothingIsSaved(t *testing.T) { // execution §3 "nothing of value is thrown away"
	overLayouts(t, func(t *testing.T) {
		for name, again := range map[string]func(*repo){
			"and made anew at once": func(*repo) {},
			"and ralph was killed when it had begun to": func(r *repo) {
				w := r.space.own(&r.epic.Nodes[0])
				r.must(r.space.worktree(t.Context(), w, r.head()))
				w.Refill = true
				r.must(r.space.remember(w))
				r.must(os.Remove(filepath.Join(w.dir, "README.md")))
				r.open()
			},
		} {
			t.Run(name, func(t *testing.T) {
				r := newRepo(t, executortest.Epic(two))
				base := r.head()
				r.prepare("bd-1-1", 1, base)
				r.must(os.RemoveAll(r.space.Dir("bd-1-1")))
				again(r)
				if saved := r.prepare("bd-1-1", 2, base); saved != "" {
					t.Errorf("saved %s:\n%s", saved, r.git("show", "--stat", saved))
				}
				if _, err := os.Stat(r.space.Dir("bd-1-1") + "/README.md"); err != nil {
					t.Error(err)
				}
				r.in("bd-1-1", "a.txt", "a\n")
				if c := r.collect("bd-1-1", 2, base); len(c.Problems) > 0 || c.Files != 1 {
					t.Errorf("the attempt after it: %+v", c)
				}
			})
		}
	})
}

func TestWhatWasStagedInAWorktreeThatIsGoneIsSaved(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.Layout = "worktree" }))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "staged.txt", "precious\n")
	r.git("-C", r.space.Dir("bd-1-1"), "add", "-A")
	r.must(os.RemoveAll(r.space.Dir("bd-1-1")))
	saved := r.prepare("bd-1-1", 2, base)
	if saved == "" || r.git("diff", "--name-status", base, saved) != "A\tstaged.txt" {
		t.Errorf("saved as %q", saved)
	}
}

func TestAPersonsWorktreeThatIsGoneIsNoDeletionOfTheirs(t *testing.T) {
	overLayouts(t, func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) {
			e.Agents["worker"] = ir.Agent{Human: true}
		}))
		base := r.head()
		e := r.effect(executor.EffectPrepare, "bd-1-1", 1, base)
		e.Person = true
		if _, err := r.space.Prepare(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		r.in("bd-1-1", "a.txt", "mine\n")
		r.agentDoes("bd-1-1", "git add a.txt; git commit -qm mine")
		r.must(os.RemoveAll(r.space.Dir("bd-1-1")))
		if _, err := r.space.Prepare(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(r.space.Dir("bd-1-1") + "/README.md"); err != nil {
			t.Error(err)
		}
		r.in("bd-1-1", "b.txt", "mine, too\n")
		c := r.effect(executor.EffectCollect, "bd-1-1", 1, base)
		c.Person = true
		got, err := r.space.Collect(t.Context(), c, executor.Outcome{Result: "success"})
		if err != nil || r.git("ls-tree", "--name-only", got.Result.Commit, "README.md", "b.txt") != "README.md\nb.txt" {
			t.Errorf("collected %+v, %v", got, err)
		}
	})
}

// renamed opens the epic anew with other places for worktrees, as a run does.
func (r *repo) renamed(places ...string) {
	r.t.Helper()
	for i, p := range places {
		r.epic.Nodes[i].Git.Worktree = p
	}
	r.open()
	r.must(r.space.Trees.Recover(r.t.Context()))
}

// A sprint with another title has its worktree elsewhere. What is in the old one is
// still what its attempts left, and its agent's session may go on.
func TestAWorktreeThatIsNamedOtherwiseMoves(t *testing.T) { // execution §2: names change nothing
	overLayouts(t, testAWorktreeThatIsNamedOtherwiseMoves)
}

func testAWorktreeThatIsNamedOtherwiseMoves(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	first := r.space.Dir("bd-1-1")
	r.renamed(".worktrees/deeper/second")
	if _, err := os.Stat(first); err == nil {
		t.Error("the old worktree is still there")
	}
	if saved := r.prepare("bd-1-1", 2, base); saved != "" {
		t.Errorf("saved %s:\n%s", saved, r.git("show", "--stat", saved))
	}
	r.in("bd-1-1", "new.txt", "precious\n")
	r.in("bd-1-1", "build.log", "ignored: stays\n")
	r.renamed(".worktrees/third")
	if got := r.git("-C", r.space.Dir("bd-1-1"), "status", "--porcelain"); got != "?? new.txt" {
		t.Errorf("in the new place: %q", got)
	}
	if edited, err := r.space.Edited(t.Context(), "bd-1-1"); err != nil || !edited {
		t.Errorf("edited: %v, %v", edited, err)
	}
	saved := r.prepare("bd-1-1", 3, base)
	if saved == "" || r.git("diff", "--name-status", base, saved) != "A\tnew.txt" {
		t.Errorf("saved as %q", saved)
	}
	if _, err := os.Stat(r.space.Dir("bd-1-1") + "/build.log"); err != nil {
		t.Error(err)
	}
	if out := r.git("worktree", "list"); strings.Contains(out, "prunable") || strings.Count(out, "\n") != r.linked(1) {
		t.Error(out)
	}
}

func TestOneRenamedWorktreeStandsWhereAnotherStood(t *testing.T) {
	overLayouts(t, func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two))
		base := r.head()
		r.prepare("bd-1-1", 1, base)
		r.prepare("bd-1-2", 1, base)
		r.in("bd-1-1", "one.txt", "1\n")
		r.in("bd-1-2", "two.txt", "2\n")
		r.renamed(r.epic.Nodes[1].Git.Worktree, ".worktrees/other")
		for node, want := range map[ir.NodeID]string{"bd-1-1": "?? one.txt", "bd-1-2": "?? two.txt"} {
			if got := r.git("-C", r.space.Dir(node), "status", "--porcelain"); got != want {
				t.Errorf("%s holds %q, want %q", node, got, want)
			}
		}
	})
}

func TestARenamedWorktreeLeavesAForeignDirectoryAlone(t *testing.T) {
	overLayouts(t, func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two))
		base := r.head()
		r.prepare("bd-1-1", 1, base)
		first := r.space.Dir("bd-1-1")
		r.write(".taken/README.md", "theirs\n")
		r.renamed(".taken")
		_, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 2, base))
		if failure(err) != executor.FailConfig {
			t.Errorf("prepared: %v", err)
		}
		if b, err := os.ReadFile(filepath.Join(r.dir, ".taken/README.md")); err != nil || string(b) != "theirs\n" {
			t.Errorf("%s, %v", b, err)
		}
		if _, err := os.Stat(first + "/README.md"); err != nil {
			t.Error(err)
		}
	})
}

// A copy of the repository has copies of the records: the worktrees that they name are
// those of the original.
func TestACopyOfARepositoryLeavesTheWorktreesOfTheOriginal(t *testing.T) {
	overLayouts(t, func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Nodes[0].Git.Worktree = "../project-worktrees/first" }))
		r.prepare("bd-1-1", 1, r.head())
		first := r.space.Dir("bd-1-1")
		r.in("bd-1-1", "new.txt", "precious\n")
		above := t.TempDir()
		r.must(os.CopyFS(filepath.Join(above, "copy"), os.DirFS(r.dir)))
		r.dir = filepath.Join(above, "copy")
		r.open()
		r.must(r.space.Trees.Recover(t.Context()))
		if b, err := os.ReadFile(filepath.Join(first, "new.txt")); err != nil || string(b) != "precious\n" {
			t.Errorf("the original's: %q, %v", b, err)
		}
	})
}

func TestAProjectThatIsMovedWithItsWorktreesGoesOn(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.Layout = "clone" }))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "precious.txt", "precious\n")
	parent := filepath.Dir(r.dir)
	r.must(os.Rename(parent, parent+"-moved"))
	r.dir = filepath.Join(parent+"-moved", "project")
	r.open()
	r.must(r.space.Trees.Recover(t.Context()))
	saved := r.prepare("bd-1-1", 2, base)
	if saved == "" || r.git("diff", "--name-status", base, saved) != "A\tprecious.txt" {
		t.Errorf("saved as %q", saved)
	}
}

// A hook that is a link makes a clone one that git may not look into before it is mended.
func TestARenamedCloneThatIsNotIntactIsSaved(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.Layout = "clone" }))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	hooks := filepath.Join(r.space.Dir("bd-1-1"), ".git/hooks")
	r.in("bd-1-1", "new.txt", "new\n")
	r.must(os.MkdirAll(hooks, 0o755))
	r.must(os.Symlink("../../tests/a_test.sh", filepath.Join(hooks, "pre-commit")))
	r.renamed(".worktrees/second")
	saved := r.prepare("bd-1-1", 2, base)
	if saved == "" || r.git("diff", "--name-status", base, saved) != "A\tnew.txt" {
		t.Errorf("saved as %q", saved)
	}
}

func TestAWorktreeThatCannotMoveKeepsNoRunFromStarting(t *testing.T) {
	overLayouts(t, func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two))
		r.prepare("bd-1-1", 1, r.head())
		r.renamed(r.epic.Nodes[0].Git.Worktree + "/deeper")
	})
}
