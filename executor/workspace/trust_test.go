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

// An agent weakens a protected test and makes git blind to it: it must show, and
// what gates are shown is the commit.
func TestGitCannotBeMadeBlindToAChange(t *testing.T) {
	overLayouts(t, testGitCannotBeMadeBlindToAChange)
} // execution §3: gates see exactly the collected commit; §7

func testGitCannotBeMadeBlindToAChange(t *testing.T) {
	const weak = "exit 0 # always\n"
	filter := func(r *repo) {
		r.git("config", "filter.e.clean", "echo exit 0")
		r.git("config", "filter.e.smudge", "touch "+filepath.Join(r.dir, "../smudged")+"; echo exit 0 # always")
		r.write(".git/info/attributes", "tests/* filter=e\n")
	}
	for name, blind := range map[string]func(r *repo, dir string){
		"flag: skip-worktree":    func(r *repo, dir string) { r.git("-C", dir, "update-index", "--skip-worktree", "tests/a_test.sh") },
		"flag: assume-unchanged": func(r *repo, dir string) { r.git("-C", dir, "update-index", "--assume-unchanged", "tests/a_test.sh") },
		"filter of its own":      func(r *repo, _ string) { filter(r) },
		"filter of its own, staged": func(r *repo, dir string) {
			filter(r)
			r.in("bd-1-1", "tests/a_test.sh", weak)
			r.git("-C", dir, "add", "tests/a_test.sh")
		},
		"a sparse checkout": func(r *repo, dir string) { r.git("-C", dir, "sparse-checkout", "set", "--no-cone", "/README.md") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) {
				g := e.Gates["check"]
				g.Protect = []string{"tests/**"}
				e.Gates["check"] = g
			}))
			r.must(r.space.Trees.Recover(t.Context())) // as when a run starts
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			dir := r.space.Dir("bd-1-1")
			blind(r, dir)
			r.in("bd-1-1", "tests/a_test.sh", weak)
			c := r.collect("bd-1-1", 1, base)
			if !strings.Contains(strings.Join(c.Problems, "\n"), "protects what was changed: tests/a_test.sh") {
				t.Errorf("the change was not seen: %+v", c)
			}
			if got := r.git("show", c.Result.Commit+":tests/a_test.sh") + "\n"; got != weak {
				t.Errorf("the commit holds %q, and gates would be shown %q", got, weak)
			}

			// The same by what a gate runs: the next one is shown the commit again.
			r.prepare("bd-1-1", 2, base)
			blind(r, dir)
			r.in("bd-1-1", "tests/a_test.sh", weak)
			if _, err := r.space.Close(t.Context(), r.effect(executor.EffectGate, "bd-1-1", 2, base)); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "tests/a_test.sh")); err != nil || string(b) != "exit 0\n" {
				t.Errorf("the next gate is shown %q, %v", b, err)
			}
			if _, err := os.Lstat(filepath.Join(r.dir, "../smudged")); err == nil {
				t.Error("ralph ran a program that the agent named")
			}
		})
	}
}

func TestAFileThatASparseCheckoutHidIsNotDeleted(t *testing.T) {
	overLayouts(t, testAFileThatASparseCheckoutHidIsNotDeleted)
} // execution §3: gates see exactly the collected commit

func testAFileThatASparseCheckoutHidIsNotDeleted(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	r.git("-C", dir, "sparse-checkout", "set", "--no-cone", "/README.md")
	r.in("bd-1-1", "a.txt", "a\n")
	c := r.collect("bd-1-1", 1, base)
	if len(c.Changes) != 1 || c.Changes[0].Path != "a.txt" {
		t.Errorf("collected %+v", c)
	}
	if _, err := os.Lstat(filepath.Join(dir, "tests/a_test.sh")); err != nil {
		t.Errorf("gates are not shown what the commit holds: %v", err)
	}
}

func TestWhatAnAgentStagedCounts(t *testing.T) { overLayouts(t, testWhatAnAgentStagedCounts) } // execution §3, collect: also what git ignores, if it was added

func testWhatAnAgentStagedCounts(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	r.in("bd-1-1", "kept.log", "a\n")
	r.git("-C", dir, "add", "-f", "kept.log")
	r.in("bd-1-1", ".gitignore", "*.log\n*.sh\n")
	r.git("-C", dir, "rm", "-q", "--cached", "tests/a_test.sh")
	c := r.collect("bd-1-1", 1, base)
	got := r.git("ls-tree", "-r", "--name-only", c.Result.Commit)
	if got != ".gitignore\nREADME.md\nkept.log" {
		t.Errorf("collected %q: %+v", got, c)
	}
}

// A worktree that was replaced by a link: nothing is done behind it.
func TestNothingIsTouchedBehindALink(t *testing.T) { overLayouts(t, testNothingIsTouchedBehindALink) } // reliability D1: nothing of the user's is touched

func testNothingIsTouchedBehindALink(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	precious := filepath.Join(r.dir, "../precious")
	r.write(filepath.Join(precious, "README.md"), "mine\n")
	r.write(filepath.Join(precious, "own.txt"), "mine\n")
	r.git("init", "-q", precious)
	r.must(os.RemoveAll(dir))
	r.must(os.Symlink(precious, dir))
	c := r.collect("bd-1-1", 1, base)
	if len(c.Problems) == 0 {
		t.Errorf("nobody noticed: %+v", c)
	}
	r.prepare("bd-1-1", 2, base)
	if b, err := os.ReadFile(filepath.Join(precious, "README.md")); err != nil || string(b) != "mine\n" {
		t.Errorf("a file behind the link is %q, %v", b, err)
	}
	for _, f := range []string{"own.txt", ".git/HEAD"} {
		if _, err := os.Lstat(filepath.Join(precious, f)); err != nil {
			t.Errorf("behind the link: %v", err)
		}
	}
	if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
		t.Errorf("the worktree is %v, %v", st, err)
	}
}

func TestOtherSettingsOfTheRepositoryStay(t *testing.T) { // execution §7
	r := newRepo(t, executortest.Epic(two))
	r.git("config", "remote.origin.promisor", "true")
	r.git("config", "remote.a \"b\"\\c.partialclonefilter", "blob:none")
	r.git("config", "core.fileMode", "false")
	r.git("config", "core.worktree", "/nowhere")
	r.write(".git/info/exclude", "mine.txt\n")
	r.must(r.space.Trees.Recover(t.Context()))
	r.must(r.space.Trees.Recover(t.Context())) // as the next run does
	got, err := r.space.git.line(t.Context(), place{}, "config", "--file", filepath.Join(r.space.State(), "repository", "config"), "--list")
	r.must(err)
	for _, want := range []string{"core.filemode=false", "remote.origin.promisor=true", "remote.a \"b\"\\c.partialclonefilter=blob:none", "core.repositoryformatversion=0"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not carried:\n%s", want, got)
		}
	}
	if strings.Contains(got, "worktree") {
		t.Errorf("what steers git is carried:\n%s", got)
	}
	r.git("config", "--unset", "core.worktree")
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "mine.txt", "x\n")
	r.in("bd-1-1", "a.txt", "x\n")
	if c := r.collect("bd-1-1", 1, base); len(c.Changes) != 1 || c.Changes[0].Path != "a.txt" {
		t.Errorf("collected %+v", c)
	}
}

// An agent pretends that the journal has lost commits.
func TestForgedCommitsOfRalphAreNotBelieved(t *testing.T) {
	overLayouts(t, testForgedCommitsOfRalphAreNotBelieved)
} // execution §1: trailers; attempts belong to (digest.work, base identity)

func testForgedCommitsOfRalphAreNotBelieved(t *testing.T) {
	epic := executortest.Epic(two)
	ir.Seal(epic)
	r := newRepo(t, epic)
	base, _, err := r.space.Bases.Pin(t.Context())
	r.must(err)
	forge := func(seq, attempt, more string) string {
		return "x\n\nRalph-Epic: bd-epic\nRalph-Node: bd-1-1\nRalph-Attempt: implement/" + attempt + "\nRalph-Seq: " + seq + "\nRalph-Start: " + base.Commit + more
	}
	r.prepare("bd-1-1", 1, base.Commit)
	dir := r.space.Dir("bd-1-1")
	r.in("bd-1-1", "a.txt", "a\n")
	r.git("-C", dir, "add", "-A")
	r.git("-C", dir, "commit", "-q", "-m", forge("999999", "2", ""))
	c := r.collect("bd-1-1", 1, base.Commit)
	if !strings.Contains(strings.Join(c.Problems, "\n"), "says that ralph made it (Ralph-Seq: 999999)") {
		t.Errorf("collected %+v", c)
	}
	r.prepare("bd-1-1", 2, base.Commit)
	r.in("bd-1-1", "a.txt", "a\n")
	r.git("-C", dir, "add", "-A")
	r.git("-C", dir, "commit", "-q", "-m", forge("1", "1", "")) // as one that was picked from another branch
	if c := r.collect("bd-1-1", 2, base.Commit); len(c.Problems) > 0 {
		t.Errorf("collected %+v", c)
	}

	tree := r.git("rev-parse", c.Result.Commit+"^{tree}")
	pin := func(ref, message string) {
		r.git("update-ref", "refs/ralph/bd-epic/nodes/bd-1-1/attempts/implement/"+ref, r.git("commit-tree", tree, "-p", base.Commit, "-m", message))
	}
	pin("7", forge("1000", "8", "\nRalph-Work: "+epic.Nodes[0].Digest.Work)) // in another place than it says
	pin("8", forge("9223372036854775807", "8", ""))
	pin("9", forge("1001", "9", "")) // made for whatever comes
	pin("10", forge("1002", "10", "\nRalph-Work: other"))
	found, err := r.space.Refs.Orphans(t.Context(), r.seq)
	r.must(err)
	if len(found) != 2 || found[0].Attempt != 9 || len(found[0].Problems) == 0 || found[1].Work != "other" {
		t.Errorf("found %+v", found)
	}
}

// An attempt before, or another sprint's, left a commit in the place of this
// attempt's, with its key.
func TestACommitThatWasLaidBeforehandIsNotCollected(t *testing.T) { // execution §1: effect key; §3: collect
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	key := executor.Effect{Kind: executor.EffectCollect, Node: "bd-1-1", Step: "implement", Attempt: 2}.Key("bd-epic")
	r.git("update-ref", "refs/ralph/bd-epic/nodes/bd-1-1/attempts/implement/2",
		r.git("commit-tree", base+"^{tree}", "-p", base, "-m", "x\n\nRalph-Key: "+key))
	r.prepare("bd-1-1", 2, base)
	r.in("bd-1-1", "a.txt", "a\n")
	c := r.collect("bd-1-1", 2, base)
	if got := r.git("ls-tree", "--name-only", c.Result.Commit, "a.txt"); got != "a.txt" || len(c.Problems) > 0 {
		t.Errorf("the work of the attempt was not collected: %+v", c)
	}
	if at := r.git("rev-parse", "refs/ralph/bd-epic/nodes/bd-1-1/attempts/implement/2"); at != c.Result.Commit {
		t.Errorf("the attempt is pinned at %s, not %s", at, c.Result.Commit)
	}
	if again := r.collect("bd-1-1", 2, base); again.Result != c.Result { // ralph's own is
		t.Errorf("collected %v and then %v", c.Result, again.Result)
	}
}
