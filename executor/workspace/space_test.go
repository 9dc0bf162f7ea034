package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

var two = []string{"1.1", "1.2"}

func TestNothingOfTheUserIsTouched(t *testing.T) { overLayouts(t, testNothingOfTheUserIsTouched) } // S0-115, S0-116, S2-65

func testNothingOfTheUserIsTouched(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2"}))
	r.write("README.md", "edited by the user\n") // unstaged
	r.write("staged.txt", "x\n")
	r.git("add", "staged.txt")
	r.write("untracked.txt", "y\n")
	before := r.manifest()

	base, _, err := r.space.Bases.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := r.result("bd-1-1", base.Commit, "a.txt", "a\n")
	b := r.result("bd-1-2", base.Commit, "b.txt", "b\n")
	e := r.effect(executor.EffectBase, "bd-1-3", 0, "")
	e.Inputs = []executor.Result{a, b}
	merged, err := r.space.Base(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	c := r.result("bd-1-3", merged.Base.Commit, "c.txt", "c\n")
	sum := r.effect(executor.EffectPublish, executor.Integration, 0, c.Commit)
	if _, err := r.space.Publish(t.Context(), sum); err != nil {
		t.Fatal(err)
	}

	after := r.manifest()
	for _, p := range slices.Sorted(maps.Keys(after)) {
		if before[p] != after[p] {
			t.Errorf("%s changed or is new", p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[p]; !ok {
			t.Errorf("%s is gone", p)
		}
	}
	if got := r.git("ls-tree", "--name-only", "ralph/x/integration"); got != ".gitignore\nREADME.md\na.txt\nb.txt\nc.txt\ntests" {
		t.Errorf("the integration branch holds %q", got)
	}
	want := filepath.Join(filepath.Dir(r.dir), "project-worktrees", "ralph", "x", "1-1")
	if got := r.space.Dir("bd-1-1"); got != want {
		t.Errorf("worktree at %s, want %s", got, want)
	}
}

func TestWorktreePaths(t *testing.T) { // S0-115, S0-116, S0-117, S2-59, S2-60, S2-64, S1-36
	s := &space{repository: &repository{top: "/home/u/beads-ralph"}}
	for name, c := range map[string]struct{ template, want string }{
		"the branch's slashes become directories": {"../{repo}-worktrees/main/1-1-project-setup", "/home/u/beads-ralph-worktrees/main/1-1-project-setup"},
		"a track keeps its letter":                {"../{repo}-worktrees/main/1-2a-auth", "/home/u/beads-ralph-worktrees/main/1-2a-auth"},
		"another base is another directory":       {"../{repo}-worktrees/develop/2-1a-auth-service", "/home/u/beads-ralph-worktrees/develop/2-1a-auth-service"},
		"inside the project is allowed":           {".worktrees/1-1", "/home/u/beads-ralph/.worktrees/1-1"},
		"an absolute path is refused":             {"/tmp/x", ""},
		"a path above the sibling is refused":     {"../../x", ""},
		"a sibling of another name is refused":    {"../other/x", ""},
		"dots in the middle do not help":          {"../{repo}-worktrees/../../../etc/x", ""},
		"the sibling itself is refused":           {"../{repo}-worktrees", ""},
		"the git directory is refused":            {".git/x", ""},
		"the project itself is refused":           {".", ""},
		"nothing is refused":                      {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := s.path(c.template)
			if got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("path(%q) = %q, %v; want %q", c.template, got, err, c.want)
			}
		})
	}
}

func TestCollectMakesOneCommitWithTrailers(t *testing.T) {
	overLayouts(t, testCollectMakesOneCommitWithTrailers)
} // S2-20, S2-28, K32

func testCollectMakesOneCommitWithTrailers(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "a.txt", "a\n")
	c := r.collect("bd-1-1", 1, base)
	msg := r.git("log", "-1", "--format=%an <%ae> | %cn | %B", c.Result.Commit)
	for _, want := range []string{
		"ralph dev <ralph@localhost> | Test User", "1.1: Sprint 1.1 (bd-epic/bd-1-1)", "Ralph-Epic: bd-epic", "Ralph-Node: bd-1-1",
		"Ralph-Sprint: 1.1", "Ralph-Attempt: implement/1", "Ralph-Key: bd-epic/bd-1-1/implement/1/collect//0", "Ralph-Seq: 2",
	} {
		if !strings.Contains(msg, want) {
			t.Errorf("the commit lacks %q:\n%s", want, msg)
		}
	}
	if got := r.git("rev-parse", "refs/ralph/bd-epic/nodes/bd-1-1/attempts/implement/1", "ralph/x/1-1"); got != c.Result.Commit+"\n"+c.Result.Commit {
		t.Errorf("refs are at %s", got)
	}
	again := r.collect("bd-1-1", 1, base)
	if again.Result != c.Result {
		t.Errorf("collected twice: %v, then %v", c.Result, again.Result)
	}
}

func TestCollectKeepsTheAgentsCommits(t *testing.T) { overLayouts(t, testCollectKeepsTheAgentsCommits) }

func testCollectKeepsTheAgentsCommits(t *testing.T) {
	for mode, parents := range map[string]int{"each": 2, "squash": 1} {
		t.Run(mode, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Git.Commit = mode }))
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			r.in("bd-1-1", "a.txt", "a\n")
			r.git("-C", r.space.Dir("bd-1-1"), "add", "-A")
			r.git("-C", r.space.Dir("bd-1-1"), "commit", "-q", "-m", "by the agent")
			r.in("bd-1-1", "b.txt", "b\n")
			c := r.collect("bd-1-1", 1, base)
			if len(c.Problems) > 0 || c.Files != 2 {
				t.Errorf("%+v", c)
			}
			if got := r.git("rev-list", "--count", base+".."+c.Result.Commit); got != fmt.Sprint(parents) {
				t.Errorf("%s commits on top of the base, want %d", got, parents)
			}
		})
	}
}

func TestAReadStepChangesNothing(t *testing.T) { overLayouts(t, testAReadStepChangesNothing) }

func testAReadStepChangesNothing(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Nodes[0].Steps[0].Access = "read" }))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "new.txt", "left behind\n")
	if c := r.collect("bd-1-1", 1, base); len(c.Problems) > 0 || c.Result.Commit != base {
		t.Errorf("a new file: %+v", c)
	}
	r.in("bd-1-1", "README.md", "changed\n")
	if c := r.collect("bd-1-1", 1, base); len(c.Problems) != 1 || c.Result.Commit != base {
		t.Errorf("a changed file: %+v", c)
	}
	if out := r.git("-C", r.space.Dir("bd-1-1"), "status", "--porcelain"); out != "" {
		t.Errorf("the worktree is left with %q", out)
	}
}

func TestWhatIsInTheWayIsSaved(t *testing.T) { overLayouts(t, testWhatIsInTheWayIsSaved) }

func testWhatIsInTheWayIsSaved(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	if saved := r.prepare("bd-1-1", 1, base); saved != "" {
		t.Errorf("a fresh worktree saved %s", saved)
	}
	r.in("bd-1-1", "new.txt", "precious\n")
	r.in("bd-1-1", "README.md", "edited\n")
	r.in("bd-1-1", "build.log", "ignored: stays\n")
	saved := r.prepare("bd-1-1", 2, base)
	if saved == "" || r.git("show", saved+":new.txt") != "precious" || r.git("show", saved+":README.md") != "edited" {
		t.Errorf("saved as %q", saved)
	}
	if _, err := os.Stat(filepath.Join(r.space.Dir("bd-1-1"), "new.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the new file is still there")
	}
	if _, err := os.Stat(filepath.Join(r.space.Dir("bd-1-1"), "build.log")); err != nil {
		t.Error("an ignored file was removed")
	}
	r.git("-C", r.space.Dir("bd-1-1"), "commit", "-q", "--allow-empty", "-m", "a commit")
	tip := r.git("-C", r.space.Dir("bd-1-1"), "rev-parse", "HEAD")
	if saved := r.prepare("bd-1-1", 2, base); saved == "" || r.git("rev-parse", saved) != tip {
		t.Errorf("new commits were saved as %q", saved)
	}
	r.in("bd-1-1", "staged.txt", "all of it is staged\n")
	r.git("-C", r.space.Dir("bd-1-1"), "add", "-A")
	if saved := r.prepare("bd-1-1", 2, base); saved == "" || r.git("show", saved+":staged.txt") != "all of it is staged" {
		t.Errorf("what was staged was saved as %q", saved)
	}
	if saved := r.prepare("bd-1-1", 2, base); saved != "" {
		t.Errorf("nothing was in the way, and %s was saved", saved)
	}
}

func TestPrepareRecovers(t *testing.T) { overLayouts(t, testPrepareRecovers) }

func testPrepareRecovers(t *testing.T) {
	for name, harm := range map[string]func(r *repo, dir string){
		"the worktree was deleted":      func(r *repo, d string) { r.must(os.RemoveAll(d)) },
		"ralph's record of it was lost": func(r *repo, _ string) { r.must(os.RemoveAll(filepath.Join(r.space.State(), "worktrees"))) },
		"git left locks": func(r *repo, d string) {
			r.write(r.admin()+"/index.lock", "")
			r.write(r.dir+"/.git/refs/heads/ralph/x/1-1.lock", "")
		},
		"the administrative part was lost": func(r *repo, d string) { r.must(os.RemoveAll(r.admin())); r.must(os.RemoveAll(d)) },
		"only its link file was made": func(r *repo, d string) {
			r.must(os.RemoveAll(r.admin()))
			r.must(os.RemoveAll(d))
			r.write(d+"/.git", "gitdir: nowhere\n")
		},
		"where the repository is was half written": func(r *repo, _ string) {
			if !r.clone() {
				r.write(r.admin()+"/commondir", "")
			}
		},
		"HEAD names nothing":   func(r *repo, _ string) { r.write(r.admin()+"/HEAD", "ref: refs/heads/none\n") },
		"a merge is under way": func(r *repo, _ string) { r.write(r.admin()+"/MERGE_HEAD", r.head()+"\n") },
		"the index is broken":  func(r *repo, _ string) { r.write(r.admin()+"/index", "garbage") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic([]string{"1.1"}))
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			harm(r, r.space.Dir("bd-1-1"))
			r.open()
			r.prepare("bd-1-1", 1, base)
			r.in("bd-1-1", "a.txt", "a\n")
			if c := r.collect("bd-1-1", 1, base); len(c.Problems) > 0 || c.Files != 1 {
				t.Errorf("%+v", c)
			}
		})
	}
}

func (r *repo) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) admin() string {
	if r.clone() {
		return r.space.Dir("bd-1-1") + "/.git"
	}
	m, err := filepath.Glob(filepath.Join(r.dir, ".git/worktrees/*"))
	if err != nil || len(m) != 1 {
		r.t.Fatalf("worktrees: %v, %v", m, err)
	}
	return m[0]
}

func TestForeignThingsAreNeverOverwritten(t *testing.T) {
	overLayouts(t, testForeignThingsAreNeverOverwritten)
}

func testForeignThingsAreNeverOverwritten(t *testing.T) {
	t.Run("a branch of the node's name", func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two))
		r.git("branch", "ralph/x/1-1")
		_, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 1, r.head()))
		if failure(err) != executor.FailConfig || !strings.Contains(err.Error(), "git branch -m ralph/x/1-1 OTHER") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("files where the worktree should be", func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two))
		r.in("bd-1-1", "mine.txt", "x")
		_, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 1, r.head()))
		if failure(err) != executor.FailConfig {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the node's branch is checked out by the user", func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two))
		r.prepare("bd-1-1", 1, r.head())
		r.git("-C", r.space.Dir("bd-1-1"), "checkout", "-q", "--detach")
		r.git("checkout", "-q", "ralph/x/1-1")
		_, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 1, r.head()))
		if failure(err) != executor.FailConfig {
			t.Errorf("got %v", err)
		}
	})
	t.Run("commits on the integration branch", func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two))
		res := r.result("bd-1-1", r.head(), "a", "a")
		publish := func(commit, old string) error {
			e := r.effect(executor.EffectPublish, executor.Integration, 0, commit)
			e.Old = old
			_, err := r.space.Publish(t.Context(), e)
			return err
		}
		if err := publish(res.Commit, ""); err != nil {
			t.Fatal(err)
		}
		if err := publish(res.Commit, ""); err != nil {
			t.Errorf("done again: %v", err)
		}
		theirs := r.git("commit-tree", res.Commit+"^{tree}", "-p", res.Commit, "-m", "theirs")
		r.git("update-ref", "refs/heads/ralph/x/integration", theirs)
		if err := publish(r.head(), res.Commit); failure(err) != executor.FailForeign {
			t.Errorf("got %v", err)
		}
		if got := r.git("rev-parse", "ralph/x/integration"); got != theirs {
			t.Errorf("the branch moved to %s", got)
		}
	})
}

func TestBasesAreDerived(t *testing.T) { overLayouts(t, testBasesAreDerived) }

func testBasesAreDerived(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2"}))
	base := r.head()
	a := r.result("bd-1-1", base, "README.md", "one\n")
	b := r.result("bd-1-2", base, "b.txt", "two\n")
	e := r.effect(executor.EffectBase, "bd-1-3", 0, "")
	e.Inputs = []executor.Result{a, b}
	first, err := r.space.Base(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.space.Base(t.Context(), e)
	if err != nil || first != again {
		t.Errorf("%v, then %v, %v", first, again, err)
	}
	e.Inputs = []executor.Result{{Node: "base", Tree: executor.Tree{Commit: base}}, a}
	if got, err := r.space.Base(t.Context(), e); err != nil || got.Base.Commit != a.Commit {
		t.Errorf("an ancestor is not merged: %v, %v", got, err)
	}
	e.Inputs = []executor.Result{a, {Node: "bd-1-2", Tree: executor.Tree{Commit: base}}}
	if got, err := r.space.Base(t.Context(), e); err != nil || got.Base.Commit != a.Commit {
		t.Errorf("an ancestor is not merged: %v, %v", got, err)
	}
}

func TestAConflictNamesNodeAndPaths(t *testing.T) { overLayouts(t, testAConflictNamesNodeAndPaths) }

func testAConflictNamesNodeAndPaths(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2"}))
	base := r.head()
	e := r.effect(executor.EffectBase, "bd-1-3", 0, "")
	e.Inputs = []executor.Result{r.result("bd-1-1", base, "README.md", "one\n"), r.result("bd-1-2", base, "README.md", "two\n")}
	_, err := r.space.Base(t.Context(), e)
	if failure(err) != executor.FailConflict || !strings.Contains(err.Error(), "result of 1.2") || !strings.Contains(err.Error(), "README.md") {
		t.Errorf("got %v", err)
	}
}

func TestAResultContainsWhatItDependsOn(t *testing.T) {
	overLayouts(t, testAResultContainsWhatItDependsOn)
}

func testAResultContainsWhatItDependsOn(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}))
	base := r.head()
	a := r.result("bd-1-1", base, "a", "a")
	e := r.effect(executor.EffectPublish, "bd-1-2", 1, base)
	e.Inputs = []executor.Result{a}
	if _, err := r.space.Publish(t.Context(), e); err == nil || !strings.Contains(err.Error(), "does not contain the result of 1.1") {
		t.Errorf("got %v", err)
	}
}

func TestSetupIsNeverCollected(t *testing.T) { overLayouts(t, testSetupIsNeverCollected) }

func testSetupIsNeverCollected(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) {
		e.Run.Worktree.Setup = []string{"echo dep > 'dep [1].txt'; echo changed > README.md; mkdir -p vendor && echo v > vendor/v"}
		e.Run.Worktree.Copy = []string{"local.env"}
	}))
	r.write("local.env", "KEY=1\n")
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	for _, f := range []string{"dep [1].txt", "vendor/v", "local.env"} {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || string(b) != "hello\n" {
		t.Errorf("a tracked file that setup changed reads %q, %v", b, err)
	}
	r.in("bd-1-1", "a.txt", "a\n")
	c := r.collect("bd-1-1", 1, base)
	if len(c.Problems) > 0 || strings.Join(c.Changed, " ") != "a.txt" {
		t.Errorf("collected %+v", c)
	}
	r.git("-C", dir, "add", "-f", "local.env")
	if c := r.collect("bd-1-1", 2, base); !strings.Contains(strings.Join(c.Problems, "\n"), "local.env comes from setup") {
		t.Errorf("collected %+v", c)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(r *repo)
		want string
	}{
		"no commit yet": {func(r *repo) {
			r.must(os.RemoveAll(r.dir + "/.git"))
			r.git("init", "-q")
			r.git("config", "user.name", "x")
			r.git("config", "user.email", "x")
		}, "no commit yet"},
		"no repository":      {func(r *repo) { r.must(os.RemoveAll(r.dir + "/.git")) }, "git init"},
		"nobody who commits": {func(r *repo) { r.git("config", "--unset", "user.name") }, "git config user.name"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, nil)
			c.do(r)
			s, err := Open(t.Context(), r.dir, executortest.Epic(two))
			if err == nil {
				err = s.User.MayCommit()
			}
			var no *Refusal
			if !errors.As(err, &no) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a refusal with %q", err, c.want)
			}
		})
	}
	t.Run("a base that does not exist", func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Epic.Base = "develop" }))
		if _, _, err := r.space.Bases.Pin(context.Background()); err == nil || !strings.Contains(err.Error(), `"develop" does not exist`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheBaseStaysPinned(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	first, _, err := r.space.Bases.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.git("commit", "-q", "--allow-empty", "-m", "later")
	again, _, err := r.space.Bases.Pin(t.Context())
	if err != nil || again != first {
		t.Errorf("%v, then %v, %v", first, again, err)
	}
}

func TestGitVersions(t *testing.T) {
	for in, want := range map[string][2]int{
		"git version 2.39.5":                 {2, 39},
		"git version 2.50.1 (Apple Git-155)": {2, 50},
		"git version 3.0.0":                  {3, 0},
	} {
		if got, ok := parseVersion(in); !ok || got != want {
			t.Errorf("parseVersion(%q) = %v, %v", in, got, ok)
		}
	}
	if _, ok := parseVersion("gitoxide"); ok {
		t.Error("nonsense has a version")
	}
}
