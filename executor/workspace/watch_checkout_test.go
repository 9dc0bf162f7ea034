//go:build unix

package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/temptest"
)

// usersWork is a checkout in which somebody is at work: README.md is changed, staged.txt
// staged and changed again, mine.txt and its like are new, and one thing is stashed.
const usersWork = `printf '*.tmp\n' > .gitignore; mkdir sub; echo a > a.txt; echo b > sub/b.txt; git add -A; git commit -qm more
echo stashed > a.txt; git stash -q
echo mine >> README.md; echo one > staged.txt; git add staged.txt; echo two > staged.txt
echo new > mine.txt; echo odd > './-odd name'; echo deep > sub/deep.txt; echo noise > x.tmp`

// execution §5: whatever others do to the user's checkout, no command that ralph prints
// about it loses anything that is there, each works as it is printed, in any order, and
// those that put something back do.
func TestNoPrintedCommandLosesWork(t *testing.T) {
	for name, c := range map[string]struct {
		does  string
		want  []string // said
		back  []string // files that are as before when every command was run
		never string   // not printed
	}{
		"a stash":               {`git stash -q`, []string{"2 stashes", "stashed meanwhile", "what you had not committed is gone", "git stash apply"}, []string{"README.md"}, "drop"},
		"a stash of all":        {`git stash -q -u`, []string{"stashed meanwhile", "gone: -odd name, mine.txt"}, []string{"README.md", "mine.txt", "sub/deep.txt", "-odd name"}, "drop"},
		"two stashes":           {`git stash -q; echo x >> README.md; git stash -q`, []string{"3 stashes", "git stash list"}, nil, "git stash apply"},
		"a dropped stash":       {`git stash drop -q`, []string{"dropped or popped", "git stash store -m"}, nil, "apply"},
		"a popped stash":        {`git checkout -q -- README.md staged.txt; git stash pop -q`, []string{"dropped or popped"}, []string{"README.md", "a.txt"}, "drop "},
		"a cleared stash":       {`git stash clear`, []string{"git stash store"}, nil, "apply"},
		"dropped and stashed":   {`git stash drop -q; git stash -q`, []string{"stashed meanwhile", "dropped or popped"}, nil, "apply"},
		"a hard reset":          {`git reset -q --hard`, []string{"what you had not committed is gone, it is as in HEAD: README.md", "gone: staged.txt", "not staged any more: staged.txt ("}, []string{"README.md", "staged.txt"}, "stash"},
		"a checkout of all":     {`git checkout -q -- .`, []string{"gone, it is as in HEAD: README.md"}, []string{"README.md", "staged.txt"}, "stash"},
		"a clean":               {`git clean -qfd`, []string{"gone: -odd name, mine.txt"}, []string{"mine.txt", "-odd name", "sub/deep.txt"}, "stash"},
		"a directory goes":      {`rm -r sub`, []string{"gone: sub/b.txt"}, []string{"sub/b.txt", "sub/deep.txt"}, "stash"},
		"scribbles":             {`echo agent >> README.md; echo agent >> mine.txt; rm sub/deep.txt; echo junk > junk.txt; echo a2 > a.txt`, []string{"changed: README.md, a.txt, mine.txt", "new: junk.txt", "gone: sub/deep.txt"}, []string{"README.md", "mine.txt", "sub/deep.txt", "a.txt"}, "stash"},
		"a commit":              {`echo e > e.txt; git add e.txt; git commit -qm evil e.txt`, []string{"HEAD of your checkout was main at", "1 commit further", "git log --stat", "git branch main-"}, []string{"README.md", "mine.txt"}, "your checkout: "},
		"two commits":           {`git commit -qm evil --allow-empty; git commit -qm evil --allow-empty`, []string{"2 commits further"}, []string{"README.md"}, "git stash"},
		"a commit of the work":  {`git add -A; git commit -qm evil`, []string{"it has what you had not committed in"}, []string{"README.md", "mine.txt"}, "git switch"},
		"a commit over it":      {`echo evil > e.txt; git add e.txt; git commit -qm evil e.txt; echo more >> e.txt`, []string{"1 commit further", "new: e.txt"}, []string{"README.md"}, "git switch"},
		"a file gone by commit": {`git rm -q --cached a.txt; git commit -qm evil; echo a.txt >> .git/info/exclude`, []string{"further"}, []string{"a.txt"}, ""},
		"another branch":        {`git switch -q -c other`, []string{"is other at", "git symbolic-ref HEAD refs/heads/main"}, []string{"README.md", "mine.txt"}, "stash"},
		"another tree":          {`git branch other; git stash -q; git switch -q other; echo o > o.txt; git add o.txt; git commit -qm o`, []string{"is other at", "git switch --no-overwrite-ignore main"}, []string{"mine.txt"}, "drop"},
		"a detached commit":     {`git switch -q --detach; git commit -q --allow-empty -m evil`, []string{"detached, 1 commit further", "git branch head-"}, []string{"README.md"}, "stash"},
		"an amended commit":     {`git commit -q --amend --only -m other`, []string{"which does not contain", "git branch main-"}, []string{"README.md"}, "stash"},
		"a rewind":              {`git reset -q --soft HEAD~1`, []string{"which does not contain"}, []string{"README.md"}, "stash"},
		"a branch of theirs":    {`git branch -f theirs $(git commit-tree -m x HEAD^{tree})`, []string{"git branch theirs-"}, nil, ""},
		"a tag":                 {`git tag -f v1 $(git commit-tree -m x HEAD^{tree}) >&2`, []string{"git tag v1-"}, nil, ""},
		"notes":                 {`git notes add -m mine HEAD`, []string{"refs/notes"}, nil, "update-ref"},
		"a hook":                {`printf mine > .git/hooks/pre-push; echo mine >> .git/hooks/pre-commit`, []string{"mv .git/hooks/pre-push"}, nil, " rm "},
		"a hidden setting":      {`git config remote.up.url https://me:secret@host/x; git config color.ui never`, []string{"remote.up.url"}, nil, ""},
		"nothing":               {`touch README.md mine.txt; git status > /dev/null`, nil, []string{"README.md"}, ""},
	} {
		for _, reversed := range []bool{false, true} {
			if reversed && testing.Short() {
				continue
			}
			t.Run(fmt.Sprintf("%s, reversed %v", name, reversed), func(t *testing.T) {
				t.Parallel()
				temptest.Share(t, 4)
				w := newWatching(t)
				w.git("config", "--local", "advice.detachedHead", "false")
				for _, h := range []string{"pre-commit", "post-commit"} {
					if err := os.Chmod(filepath.Join(w.dir, ".git/hooks", h), 0o600); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
				}
				w.sh(usersWork)
				w.w = w.space.Checkout.Watch(nil)
				w.w.Start(nil, false, nil, nil)
				begun := w.files()
				w.sh(c.does)
				seen := w.w.Finish()
				said := ""
				seen = slices.DeleteFunc(seen, func(s executor.Sighting) bool { return s.Thing == executor.ThingForeign && s.Forward }) // nobody is told
				for _, s := range seen {
					said += fmt.Sprintf("%s\n  look: %s\n  back: %s\n", s.Drift, s.Look, s.Back)
				}
				for _, want := range c.want {
					if !strings.Contains(said, want) {
						t.Errorf("it does not say %q", want)
					}
				}
				if c.never != "" && strings.Contains(said, c.never) || c.want == nil && said != "" {
					t.Errorf("it says %q", c.never)
				}
				if reversed {
					slices.Reverse(seen)
				}
				had := w.everything()
				for _, s := range seen {
					for _, command := range []string{s.Look, s.Back} {
						if command == "" {
							continue
						}
						cmd := exec.Command("/bin/sh", "-uc", command)
						cmd.Dir, cmd.Env = w.dir, withoutVar(os.Environ(), "GIT_DIR")
						if out, err := cmd.CombinedOutput(); err != nil {
							t.Errorf("%s: %v\n%s", command, err, out)
						}
					}
				}
				has := w.everything()
				for what := range had {
					if !has[what] {
						t.Errorf("lost: %q", what)
					}
				}
				now := w.files()
				for _, f := range c.back {
					if now[f] != begun[f] {
						t.Errorf("%s is %q, want %q", f, now[f], begun[f])
					}
				}
				if t.Failed() {
					t.Logf("said:\n%s", said)
				}
			})
		}
	}
}

// files are the contents of the checkout's files.
func (w *watching) files() map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if b, rerr := os.ReadFile(path); rerr == nil {
			rel, _ := filepath.Rel(w.dir, path)
			out[rel] = string(b)
		}
		return nil
	})
	return out
}

// everything is what a checkout holds: contents of files, also of hooks and settings,
// what is staged, and every commit that git would keep.
func (w *watching) everything() map[string]bool {
	out := map[string]bool{}
	for _, b := range w.files() {
		out["content "+w.w.(*watch).content([]byte(b))] = true
	}
	for _, dir := range []string{".git/hooks", ".git/config", ".git/config.now", ".git/ralph"} {
		_ = filepath.WalkDir(filepath.Join(w.dir, dir), func(path string, _ os.DirEntry, _ error) error {
			if b, err := os.ReadFile(path); err == nil && !strings.HasSuffix(path, ".json") {
				out[string(b)] = true
			}
			return nil
		})
	}
	for _, line := range strings.Split(w.git("ls-files", "-s"), "\n") {
		if f := strings.Fields(line); len(f) > 1 {
			out["content "+f[1]] = true
		}
	}
	stashed := strings.Fields(w.git("stash", "list", "--format=%H"))
	for _, line := range strings.Split(w.git(slices.Concat([]string{"rev-list", "--objects", "--all"}, stashed)...), "\n") { // committed is as good as staged
		oid, _, _ := strings.Cut(line, " ")
		out["content "+oid] = true
	}
	for _, line := range strings.Split(w.git(slices.Concat([]string{"rev-list", "--all", "HEAD"}, stashed)...), "\n") {
		out["commit "+line] = true
	}
	for _, line := range stashed {
		out["stash "+line] = true
	}
	return out
}

// What is kept of the user's work is small, not what git ignores, and not for ever.
func TestWhatIsKeptOfTheUsersWork(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	r.write(".git/info/exclude", "*.tmp\n")
	r.write("secret.tmp", "x")
	r.write("large.txt", strings.Repeat("x", maxCopy+1))
	for i := range keptRuns + 3 {
		r.write("mine.txt", fmt.Sprint(i))
		r.space.Checkout.Watch(nil).Start(nil, false, nil, nil)
	}
	var kept []string
	dirs, _ := filepath.Glob(filepath.Join(r.space.State(), "trusted", keptPrefix+"*"))
	for _, dir := range dirs {
		list, _ := os.ReadDir(dir)
		for _, f := range list {
			kept = append(kept, f.Name())
		}
	}
	if len(dirs) != keptRuns || !slices.Equal(slices.Compact(kept), []string{"mine.txt"}) {
		t.Errorf("%d directories with %q", len(dirs), kept)
	}
}
