//go:build unix

package workspace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

// newWithModules watches a repository with submodules, one of them in another, and a
// second worktree of the user's with configuration of its own.
func newWithModules(t *testing.T) *watching {
	t.Helper()
	r := newFrom(t, "modules", withModules, executortest.Epic(two))
	if err := os.RemoveAll(filepath.Join(r.dir, ".git/hooks")); err != nil { // they are programs of nobody
		t.Fatal(err)
	}
	w := &watching{repo: r, w: r.space.Checkout.Watch(nil)}
	w.sh(`git update-index -q --refresh; git -C sub update-index -q --refresh`) // their files are copies
	if s := w.w.Start(nil, false, nil, nil); len(s) > 0 {
		t.Fatalf("at the start: %+v", s)
	}
	return w
}

func withModules(r *repo) {
	watched(r)
	(&watching{repo: r}).sh(`
for m in inner outer; do
	git init -q -b main ../$m
	git -C ../$m config user.email a@b; git -C ../$m config user.name A
	echo x > ../$m/x; git -C ../$m add x; git -C ../$m commit -qm x
done
git -C ../outer submodule -q add ../inner in
git -C ../outer commit -qm inner
git submodule -q add --name libs/outer ../outer sub
git submodule -q update --init --recursive
git commit -qm sub
git config extensions.worktreeConfig true
git worktree add -q ../mine -b mine
git -C ../mine config --worktree core.editor vi
git -C ../mine submodule -q update --init
`)
}

// Programs of git in submodules and in other worktrees are seen as those of the
// checkout are, and put back. execution §5 (tampering)
func TestProgramsInOtherGitDirectoriesAreSeenAndPutBack(t *testing.T) {
	const module = ".git/modules/libs/outer"
	for name, c := range map[string]struct{ does, what string }{
		"a program":                {`git config -f ` + module + `/config core.fsmonitor /evil`, "core.fsmonitor in " + module + "/config"},
		"one with a worktree":      {`git -C sub config core.fsmonitor /evil`, "core.fsmonitor in " + module + "/config"},
		"a hook":                   {`printf x > ` + module + `/hooks/post-checkout`, "hook " + module + "/hooks/post-checkout"},
		"attributes":               {`echo '* filter=x' > ` + module + `/info/attributes`, "file " + module + "/info/attributes"},
		"where it goes":            {`git -C sub remote set-url origin https://evil/x.git`, "remote.origin.url in " + module + "/config"},
		"another directory":        {`git config -f ` + module + `/config core.worktree /nowhere`, "core.worktree in " + module + "/config"},
		"a submodule of one":       {`git config -f ` + module + `/modules/in/config core.sshCommand /evil`, "core.sshCommand in " + module + "/modules/in/config"},
		"configuration of its own": {`git -C sub config extensions.worktreeConfig true; git -C sub config --worktree core.pager evil`, "core.pager in " + module + "/config.worktree"},
		"another worktree":         {`git config -f .git/worktrees/mine/config.worktree core.fsmonitor /evil`, "core.fsmonitor in .git/worktrees/mine/config.worktree"},
		"a changed one there":      {`git -C ../mine config --worktree core.editor evil`, "core.editor in .git/worktrees/mine/config.worktree"},
		"a submodule there":        {`printf x > .git/worktrees/mine/modules/libs/outer/hooks/pre-push`, "hook .git/worktrees/mine/modules/libs/outer/hooks/pre-push"},
		"a new one with a program": {`git init -q --bare .git/modules/new; git config -f .git/modules/new/config core.fsmonitor /evil`, "core.fsmonitor in .git/modules/new/config"},
		"a new one with a hook":    {`git init -q --bare .git/modules/new; mkdir -p .git/modules/new/hooks; printf x > .git/modules/new/hooks/pre-push`, "hook .git/modules/new/hooks/pre-push"},
		"instaweb":                 {`git config instaweb.httpd evil`, "instaweb.httpd in .git/config"},
		"a strategy":               {`git config pull.twohead evil`, "pull.twohead in .git/config"},
		"options of a merge":       {`git config branch.main.mergeOptions '-s evil'`, "branch.main.mergeOptions in .git/config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWithModules(t)
			seen := w.around(func() { w.sh(c.does) })
			i := slices.IndexFunc(seen, func(s executor.Sighting) bool { return s.What == c.what })
			if i < 0 || seen[i].Thing != executor.ThingSetting {
				t.Fatalf("sighted %+v, want %s", seen, c.what)
			}
			undone := w.around(func() { w.sh(seen[i].Back) })
			if !slices.ContainsFunc(undone, func(u executor.Sighting) bool { return u.What == c.what && u.Is == seen[i].Was }) {
				t.Errorf("%s did not put it back: %+v", seen[i].Back, undone)
			}
		})
	}
}

// What people do with submodules and worktrees meanwhile is no tampering.
func TestWhatAPersonDoesWithSubmodulesAndWorktrees(t *testing.T) {
	for name, does := range map[string]string{
		"adds one":          `git submodule -q add "$PWD/../inner" another`,
		"updates":           `git submodule -q update --init --recursive`,
		"takes one out":     `git submodule -q deinit -f sub; git rm -qf sub; rm -rf .git/modules/libs`,
		"one after another": `git submodule -q deinit -f sub; git submodule -q update --init --recursive`,
		"switches away":     `git switch -q --recurse-submodules -c old HEAD~1`,
		"adds a worktree":   `git worktree add -q ../third -b third; git -C ../third submodule -q update --init --recursive`,
		"copies its own":    `git -C ../mine worktree add -q ../third -b third`,
		"removes one":       `git worktree remove --force ../mine`,
		"works in one":      `git -C sub switch -qc feature; git -C sub config user.name >/dev/null || :; git -C sub branch -q --track follow origin/main`,
		"fetches in one":    `git -C sub fetch -q; git -C sub gc -q`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWithModules(t)
			for _, s := range append(w.around(func() { w.sh(does) }), w.around(func() {})...) {
				if s.Thing == executor.ThingSetting {
					t.Errorf("it is taken for tampering: %+v", s)
				}
			}
		})
	}
}

// What the last release did not watch is trusted as it is when its run goes on.
func TestOtherGitDirectoriesOfAnOlderRecord(t *testing.T) {
	w := newWithModules(t)
	if err := w.w.Keep(nil); err != nil {
		t.Fatal(err)
	}
	old := w.w.(*watch)
	b, err := os.ReadFile(old.trusted())
	var r trustedFile
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name := range r.Facts.Settings {
		if r.Facts.dirOf(name) != "" {
			delete(r.Facts.Settings, name)
		}
	}
	r.Version, r.Facts.Dirs = 2, nil
	if b, err = json.Marshal(r); err == nil {
		err = os.WriteFile(old.trusted(), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.w = w.space.Checkout.Watch(nil)
	if seen := w.w.Start(nil, true, nil, nil); len(seen) > 0 {
		t.Errorf("sighted %+v", seen)
	}
	seen := w.around(func() { w.sh(`git -C sub config core.pager evil`) })
	if len(seen) != 1 || !strings.Contains(seen[0].What, "core.pager") {
		t.Errorf("sighted %+v", seen)
	}
}

// Many directories do not push out those that are known.
func TestGitDirectoriesAreBounded(t *testing.T) {
	w := newWithModules(t)
	seen := w.around(func() {
		for i := range maxDirs {
			dir := filepath.Join(w.dir, ".git/modules", "a"+strings.Repeat("a", i))
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "HEAD"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w.sh(`git -C sub config core.pager evil`)
	})
	for _, what := range []string{"core.pager in .git/modules/libs/outer/config", "file .git/modules"} {
		if !slices.ContainsFunc(seen, func(s executor.Sighting) bool { return s.What == what }) {
			t.Errorf("sighted %+v, want %s", seen, what)
		}
	}
}
