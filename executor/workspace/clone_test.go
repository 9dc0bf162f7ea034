package workspace

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func cloning(e *ir.Epic) { e.Run.Worktree.Layout = "clone" }

// sh runs a script as an agent would, in a node's worktree.
func (r *repo) sh(node ir.NodeID, script string) {
	r.t.Helper()
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = r.space.Dir(node)
	cmd.Env = append(userEnv(), "TOP="+r.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// stored is manifest with the user's objects and ralph's refs.
func (r *repo) stored() map[string]string {
	r.t.Helper()
	all := r.manifest()
	for path, text := range files(r.t.(*testing.T), filepath.Join(r.dir, ".git")) {
		all[path] = text
	}
	return all
}

func TestNothingIsWrittenThroughAClone(t *testing.T) { overWalls(t, testNothingIsWrittenThroughAClone) } // facts: reliability §0.2; N5

func testNothingIsWrittenThroughAClone(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.2", "1.1: 1.2"}, cloning))
	r.result("bd-1-2", r.head(), "b.txt", "b\n")
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	before := r.stored()
	r.sh("bd-1-1", `
test "$(git rev-parse --abbrev-ref HEAD)" = ralph/x/1-1
test -z "$(git remote)"
git diff --quiet main
git log --oneline ralph/x/1-2 >/dev/null
echo a > a.txt; git add a.txt; git commit -qm one
git tag evil; git branch -f main; git branch -f ralph/x/1-2
git update-ref -d refs/heads/ralph/x/1-2
git config user.name Evil; git config core.hooksPath hooks
git pack-refs --all
git gc -q --prune=now
echo b > b.txt; git add b.txt; git commit -qm two
`)
	if after := r.stored(); !maps.Equal(before, after) {
		t.Errorf("the user's repository changed: %v", diffKeys(before, after))
	}
	c := r.collect("bd-1-1", 1, base)
	if len(c.Problems) > 0 || c.Files != 2 || len(c.Listed) > 0 {
		t.Errorf("collected %+v", c)
	}
	if got := r.git("log", "--format=%an %s", base+".."+c.Result.Commit); !strings.HasSuffix(got, "Evil two\nTest User one") {
		t.Errorf("its commits are %q", got)
	}
	if got := r.git("rev-parse", "ralph/x/1-1"); got != c.Result.Commit {
		t.Errorf("the branch is at %s", got)
	}
	r.sh("bd-1-1", `test "$(git rev-parse HEAD)" = `+c.Result.Commit+`; test -z "$(git status --porcelain)"`)
	r.must(os.RemoveAll(r.space.Dir("bd-1-1"))) // the result needs the clone no longer
	r.git("gc", "-q", "--prune=now")
	r.git("fsck", "--strict", "--no-dangling")
	r.git("cat-file", "-e", c.Result.Commit+":b.txt")
}

func TestWhatAnAgentDoesToItsCloneIsNotFollowed(t *testing.T) {
	overWalls(t, testWhatAnAgentDoesToItsCloneIsNotFollowed)
} // facts: reliability §3.2

func testWhatAnAgentDoesToItsCloneIsNotFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		do   string
		want string // part of a problem; "" for none
	}{
		"programs in its configuration": {`
git config core.fsmonitor "touch $TOP/pwned"; git config core.hooksPath "$PWD/hooks"; git config filter.x.clean "touch $TOP/pwned"
git config filter.x.smudge "touch $TOP/pwned"; git config diff.external "touch $TOP/pwned"; git config extensions.worktreeConfig true
git config --worktree core.fsmonitor "touch $TOP/pwned"
mkdir -p .git/hooks; printf '#!/bin/sh\ntouch %s/pwned\n' "$TOP" | tee .git/hooks/post-checkout .git/hooks/reference-transaction .git/hooks/post-index-change >/dev/null; chmod +x .git/hooks/*
echo '* filter=x' > .git/info/attributes; echo a > a.txt`, ""},
		"another repository's objects": {`git init -q ../secret; echo secret > ../secret/f; blob=$(git -C ../secret hash-object -w f)
echo "$PWD/../secret/.git/objects" >> .git/objects/info/alternates
git update-index --add --cacheinfo "100644,$blob,stolen"; git commit -qm stolen; echo a > a.txt`, "was replaced"},
		"an index that is the user's":            {`rm .git/index; ln -s "$TOP/.git/index" .git/index; echo a > a.txt`, "was replaced"},
		"a HEAD that leads to the user's":        {`rm .git/HEAD; ln -s "$TOP/.git/HEAD" .git/HEAD; echo a > a.txt`, "was replaced"},
		"objects that are the user's":            {`rm -rf .git/objects; ln -s "$TOP/.git/objects" .git/objects; echo a > a.txt`, "was replaced"},
		"a directory that says it is a worktree": {`echo "$TOP/.git" > .git/commondir; echo a > a.txt`, "was replaced"},
		"a commit that git must not hold": {`
blob=$(echo x | git hash-object -w --stdin); inner=$(printf '100644 blob %s\tconfig\n' $blob | git mktree)
tree=$(printf '040000 tree %s\t.GIT\n' $inner | git mktree); git reset -q --soft $(git commit-tree $tree -p HEAD -m evil); git read-tree HEAD^; echo a > a.txt`, "cannot be taken"},
		"a commit that lacks something": {`
echo x > x; git add x; git commit -qm x; rm -f .git/objects/$(git rev-parse HEAD:x | cut -c1-2)/$(git rev-parse HEAD:x | cut -c3-); echo a > a.txt`, "cannot be taken"},
		"its objects are gone":   {`echo x > x; git add x; git commit -qm x; rm -rf .git/objects/??; echo a > a.txt`, "cannot be taken"},
		"its branch is gone":     {`git update-ref -d HEAD; echo a > a.txt`, "HEAD of its worktree names no commit"},
		"what is staged is gone": {`echo x > x; git add x; rm -rf .git/objects/??; echo a > a.txt`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two, cloning))
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			before := r.manifest()
			r.sh("bd-1-1", c.do)
			got := r.collect("bd-1-1", 1, base)
			problems := strings.Join(got.Problems, "\n")
			if c.want == "" && problems != "" || !strings.Contains(problems, c.want) {
				t.Errorf("problems %q, want %q", problems, c.want)
			}
			if text := r.git("show", got.Result.Commit+":a.txt"); text != "a" {
				t.Errorf("a.txt is %q", text)
			}
			if list := r.git("ls-tree", "-r", "--name-only", got.Result.Commit); strings.Contains(list, "stolen") || strings.Contains(list, ".GIT") {
				t.Errorf("collected %s", list)
			}
			r.prepare("bd-1-1", 2, base)
			r.sh("bd-1-1", `test "$(git -c core.fsmonitor= rev-parse HEAD)" = `+base)
			after := r.manifest()
			for _, p := range diffKeys(before, after) {
				if !strings.HasSuffix(p, "pwned") {
					t.Errorf("%s of the user's changed", p)
				}
			}
			if _, err := os.Stat(r.dir + "/pwned"); err == nil {
				t.Error("what the agent wrote was run")
			}
			r.git("fsck", "--strict", "--no-dangling")
		})
	}
}

func TestWhatIsOnlyStagedInACloneIsCollected(t *testing.T) {
	overWalls(t, testWhatIsOnlyStagedInACloneIsCollected)
}

func testWhatIsOnlyStagedInACloneIsCollected(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.sh("bd-1-1", `echo forced > x.log; git add -f x.log; echo a > a.txt; git add a.txt; echo b > b.txt`)
	c := r.collect("bd-1-1", 1, base)
	if got := strings.Join(c.Changed, " "); got != "a.txt b.txt x.log" || len(c.Problems) > 0 {
		t.Errorf("collected %+v", c)
	}
	r.sh("bd-1-1", `for i in $(seq 150); do echo $i > f$i; done; git add -A; git commit -qm many; echo s > s.txt; git add s.txt`)
	saved := r.prepare("bd-1-1", 2, base)
	if saved == "" || r.git("show", saved+":f150") != "150" || r.git("show", saved+":s.txt") != "s" {
		t.Errorf("saved %q", saved)
	}
	r.git("fsck", "--strict", "--no-dangling")
}

func TestAnotherLayoutBeginsWithTheNextAttempt(t *testing.T) {
	overWalls(t, testAnotherLayoutBeginsWithTheNextAttempt)
}

func testAnotherLayoutBeginsWithTheNextAttempt(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	for i, layout := range []string{"clone", "worktree", "clone"} {
		r.prepare("bd-1-1", 3*i+1, base)
		r.in("bd-1-1", "mine.txt", "precious\n")
		r.epic.Run.Worktree.Layout = layout
		r.open()
		saved := r.prepare("bd-1-1", 3*i+2, base)
		if saved == "" || r.git("show", saved+":mine.txt") != "precious" {
			t.Errorf("saved %q", saved)
		}
		if st, err := os.Lstat(r.space.Dir("bd-1-1") + "/.git"); err != nil || st.IsDir() != (layout == "clone") {
			t.Errorf("%s: .git is %v, %v", layout, st, err)
		}
		r.in("bd-1-1", "a.txt", layout)
		if c := r.collect("bd-1-1", 3*i+2, base); len(c.Problems) > 0 || c.Files != 1 {
			t.Errorf("%s: %+v", layout, c)
		}
	}
}

func TestAMergeInACloneSurvivesTheUsersGc(t *testing.T) {
	overWalls(t, testAMergeInACloneSurvivesTheUsersGc)
} // facts: D9

func testAMergeInACloneSurvivesTheUsersGc(t *testing.T) {
	r, in := quarrel(t, cloning)
	r.prepareMerge("bd-1-4", 1, in[0].Commit, append(in[2:3:3], in[0], in[1]))
	r.git("reflog", "expire", "--expire=now", "--all")
	r.git("gc", "-q", "--prune=now")
	r.sh("bd-1-4", `git fsck --no-dangling; test "$(git diff --name-only --diff-filter=U)" = README.md; echo both > README.md; git add README.md`)
	if c := r.collectMerge("bd-1-4", 1, in[0].Commit, append(in[2:3:3], in[0], in[1])); len(c.Problems) > 0 {
		t.Errorf("collected %+v", c)
	}
}

func TestCommitsThatOthersPutOnANodesBranchArePinned(t *testing.T) {
	overWalls(t, testCommitsThatOthersPutOnANodesBranchArePinned)
}

func testCommitsThatOthersPutOnANodesBranchArePinned(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	theirs := r.git("commit-tree", base+"^{tree}", "-p", base, "-m", "theirs")
	r.git("update-ref", "refs/heads/ralph/x/1-1", theirs)
	r.prepare("bd-1-1", 2, base)
	if got := r.git("for-each-ref", "--format=%(objectname)", "refs/ralph/bd-epic/nodes/bd-1-1/saved/"); got != theirs {
		t.Errorf("pinned %q, want %s", got, theirs)
	}
	if got := r.git("rev-parse", "ralph/x/1-1"); got != base {
		t.Errorf("the branch is at %s", got)
	}
}

func TestACloneThatWasCutWhileItWasMadeIsMadeAgain(t *testing.T) {
	overWalls(t, testACloneThatWasCutWhileItWasMadeIsMadeAgain)
} // execution §9

func testACloneThatWasCutWhileItWasMadeIsMadeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		cut func(r *repo, dir string)
		ok  bool
	}{
		"half of it":   {func(r *repo, d string) { r.must(os.RemoveAll(d + "/.git")); r.write(d+"/.git.ralph/ralph", "") }, true},
		"all but HEAD": {func(r *repo, d string) { r.must(os.Remove(d + "/.git/HEAD")) }, true},
		"somebody else's repository": {func(r *repo, d string) {
			r.must(os.RemoveAll(d + "/.git"))
			r.git("init", "-q", d)
		}, false},
		"somebody else's link": {func(r *repo, d string) {
			r.must(os.RemoveAll(d + "/.git"))
			r.must(os.Symlink(r.dir, d+"/.git"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two, cloning))
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			dir := r.space.Dir("bd-1-1")
			for _, f := range []string{"README.md", ".gitignore", "tests"} {
				r.must(os.RemoveAll(filepath.Join(dir, f)))
			}
			r.must(os.RemoveAll(filepath.Join(r.space.State(), "worktrees"))) // it was not on record yet
			c.cut(r, dir)
			r.open()
			_, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 1, base))
			if (err == nil) != c.ok || err != nil && failure(err) != executor.FailConfig {
				t.Fatalf("prepared: %v", err)
			}
			if _, err := os.Lstat(dir + "/.git"); err != nil {
				t.Errorf("its .git: %v", err)
			}
		})
	}
}

func TestLocksThatAKilledGitLeftInACloneAreTakenAway(t *testing.T) {
	overWalls(t, testLocksThatAKilledGitLeftInACloneAreTakenAway)
} // execution §9; facts: reliability D3

func testLocksThatAKilledGitLeftInACloneAreTakenAway(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.sh("bd-1-1", `
echo a > a.txt
mkdir -p .git/objects/info .git/info
touch .git/index.lock .git/HEAD.lock .git/packed-refs.lock .git/refs/heads/ralph/x/1-1.lock .git/refs/heads/other.lock \
	.git/config.lock .git/shallow.lock .git/info/sparse-checkout.lock .git/objects/info/commit-graph.lock`)
	if saved := r.prepare("bd-1-1", 2, base); saved == "" {
		t.Error("what the agent left was not saved")
	}
	r.sh("bd-1-1", `test -z "$(find .git -name '*.lock')"; git config user.name Agent; echo b > b.txt; git add b.txt; git commit -qm two`)
	if c := r.collect("bd-1-1", 2, base); len(c.Problems) > 0 {
		t.Errorf("problems: %v", c.Problems)
	}
}
