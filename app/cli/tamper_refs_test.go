//go:build unix

package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/temptest"
	"github.com/ralph-compiler/ralph/ir"
)

// movedInClones are the cases that clones play, too: one of each kind of ref. The agent
// moves them in the user's repository, whatever it works in.
var movedInClones = []string{
	"the base moves", "a result moves", "an attempt's pin moves", "the merge that is to begin with",
	"its own branch leads elsewhere", "its own pin leads elsewhere", "the sum is rewound",
}

// An agent moves, deletes or makes anew refs of the epic between two sprints: it is
// seen, the command that is named puts it back, and nothing that ralph makes
// afterwards rests on it. execution §5 (tampering)
func TestRefsOfTheEpicThatAnAgentMoves(t *testing.T) {
	t.Parallel()
	const evil = `EVIL=$(GIT_INDEX_FILE="$TOP/evil.index" sh -c 'git read-tree HEAD && git update-index --add --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),evil.txt && git commit-tree -p HEAD -m evil $(git write-tree)')
`
	for name, c := range map[string]struct{ does, what string }{
		"the base moves":                  {`git update-ref refs/ralph/bd-epic/base $EVIL`, "refs/ralph/bd-epic/base"},
		"the base is deleted":             {`git update-ref -d refs/ralph/bd-epic/base`, "refs/ralph/bd-epic/base"},
		"the base is made anew":           {`git update-ref -d refs/ralph/bd-epic/base; sleep 0.1; git update-ref refs/ralph/bd-epic/base $EVIL`, "refs/ralph/bd-epic/base"},
		"a result moves":                  {`git update-ref refs/ralph/bd-epic/nodes/bd-1-1/result $EVIL`, "refs/ralph/bd-epic/nodes/bd-1-1/result"},
		"a result is deleted":             {`git update-ref -d refs/ralph/bd-epic/nodes/bd-1-1/result`, "refs/ralph/bd-epic/nodes/bd-1-1/result"},
		"an attempt's pin moves":          {`git update-ref refs/ralph/bd-epic/nodes/bd-1-1/attempts/implement/1 $EVIL`, "refs/ralph/bd-epic/nodes/bd-1-1/attempts/implement/1"},
		"a branch moves":                  {`git update-ref refs/heads/ralph/x/1-1 $EVIL`, "refs/heads/ralph/x/1-1"},
		"a branch is deleted":             {`git update-ref -d refs/heads/ralph/x/1-1`, "refs/heads/ralph/x/1-1"},
		"a branch is made anew":           {`git update-ref -d refs/heads/ralph/x/1-1; sleep 0.1; git update-ref refs/heads/ralph/x/1-1 $EVIL`, "refs/heads/ralph/x/1-1"},
		"a branch becomes symbolic":       {`git symbolic-ref refs/heads/ralph/x/1-1 refs/heads/main`, "refs/heads/ralph/x/1-1"},
		"the branch of a later sprint":    {`git update-ref refs/heads/ralph/x/1-4 $EVIL`, "refs/heads/ralph/x/1-4"},
		"the result of a later sprint":    {`git update-ref refs/ralph/bd-epic/nodes/bd-1-4/result $EVIL`, "refs/ralph/bd-epic/nodes/bd-1-4/result"},
		"the merge that is to begin with": {`git update-ref refs/ralph/bd-epic/nodes/bd-1-4/joined $EVIL`, "refs/ralph/bd-epic/nodes/bd-1-4/joined"},
		"a later branch leads elsewhere":  {`git symbolic-ref refs/heads/ralph/x/1-4 refs/heads/main`, "refs/heads/ralph/x/1-4"},
		"a later result leads elsewhere":  {`git symbolic-ref refs/ralph/bd-epic/nodes/bd-1-4/result refs/heads/main`, "refs/ralph/bd-epic/nodes/bd-1-4/result"},
		"its own branch leads elsewhere":  {`git symbolic-ref refs/heads/ralph/x/1-2 refs/heads/main`, "refs/heads/ralph/x/1-2"},
		"its own pin leads elsewhere":     {`git symbolic-ref refs/ralph/bd-epic/nodes/bd-1-2/attempts/implement/1 refs/heads/main`, "refs/ralph/bd-epic/nodes/bd-1-2/attempts/implement/1"},
		"the sum leads elsewhere":         {`git symbolic-ref refs/heads/ralph/x/integration refs/heads/main`, "refs/heads/ralph/x/integration"},
		"an earlier sum moves":            {`for r in $(git for-each-ref --format='%(refname)' refs/ralph/bd-epic/sum); do git update-ref $r $EVIL; done`, "refs/ralph/bd-epic/sum/"},
		"an earlier sum is deleted":       {`for r in $(git for-each-ref --format='%(refname)' refs/ralph/bd-epic/sum); do git update-ref -d $r; done`, "refs/ralph/bd-epic/sum/"},
		"the sum is deleted":              {`git update-ref -d refs/heads/ralph/x/integration`, "refs/heads/ralph/x/integration"},
		"the sum is rewound":              {`git update-ref refs/heads/ralph/x/integration refs/heads/main`, "refs/heads/ralph/x/integration"},
	} {
		for _, layout := range []string{"worktree", "clone"} {
			if layout == "clone" && !slices.Contains(movedInClones, name) {
				continue
			}
			t.Run(name+"/"+layout, func(t *testing.T) {
				t.Parallel()
				temptest.Share(t, 4)
				work := siteWork + `
if [ "$RALPH_NODE" = 1.2 ] && [ -e "$TOP/armed" ]; then
	rm "$TOP/armed"
	cd "$TOP/project"
	` + evil + c.does + `
fi`
				s := newSite(t, work, executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3: 1.1", "1.4: 1.2 1.3"}, func(e *ir.Epic) { e.Run.Worktree.Layout = layout }))
				first := !strings.Contains(c.what, "sum") && !strings.Contains(c.what, "integration")
				if !first { // there is a sum, and one before
					s.apply(exit.Done)
					s.apply(exit.Done, "--rerun", "1.2")
				}
				s.write("../armed", "")
				main := s.git("rev-parse", "main")
				args := []string{"apply", "--rerun", "1.2"}
				got := s.ralph(args[:map[bool]int{true: 1, false: 3}[first]]...)
				if !slices.ContainsFunc(s.tampered(), func(what string) bool { return strings.HasPrefix(what, "tampered "+c.what) }) {
					t.Errorf("not seen: %q\n%s", s.tampered(), got.all())
				}
				left := s.changes()
				for _, ch := range left {
					if ch.Back == "" {
						t.Errorf("%s: no way back", ch.What)
						continue
					}
					if out, err := s.command("/bin/sh", "-euc", ch.Back).CombinedOutput(); err != nil {
						t.Errorf("%s: %v\n%s", ch.Back, err, out)
					}
					if is, _ := s.tryGit("rev-parse", "--verify", "--quiet", ch.What); is != ch.Was {
						t.Errorf("%s is at %q, want %q", ch.What, is, ch.Was)
					}
				}
				if (got.code == exit.Done) != (len(left) == 0) {
					t.Errorf("exit %d with %+v\n%s", got.code, left, got.all())
				}
				s.apply(exit.Done)
				if left := s.changes(); len(left) > 0 {
					t.Errorf("left: %+v", left)
				}
				if at := s.git("rev-parse", "main"); at != main {
					t.Errorf("main moved from %s to %s", main, at)
				}
				for _, r := range []string{"refs/ralph/bd-epic/nodes/bd-1-4/result", "refs/heads/ralph/x/1-4"} {
					if out, err := s.tryGit("merge-base", "--is-ancestor", r, "ralph/x/integration"); err != nil {
						t.Errorf("the sum does not hold %s: %s", r, out)
					}
					if to, err := s.tryGit("symbolic-ref", "--quiet", r); err == nil {
						t.Errorf("%s still leads to %s", r, to)
					}
				}
				files := s.git("ls-tree", "-r", "--name-only", "ralph/x/integration")
				if strings.Contains(files, "evil") || !strings.Contains(files, "out-1.4.txt") {
					t.Errorf("the sum holds\n%s", files)
				}
				if log := s.git("log", "--format=%s", "ralph/x/integration"); strings.Contains(log, "evil") {
					t.Errorf("the sum holds\n%s", log)
				}
			})
		}
	}
}

// A pinned base that was moved or deleted is pinned again where the journal says, not
// at what the branch is by then, and no mode takes the ref's word for it.
// execution §5 (tampering)
func TestABaseThatIsGoneIsPinnedWhereItWas(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]string{
		"deleted":   `git update-ref -d refs/ralph/bd-epic/base`,
		"moved":     `git update-ref refs/ralph/bd-epic/base $(git commit-tree -p HEAD -m evil HEAD^{tree})`,
		"elsewhere": `git symbolic-ref refs/ralph/bd-epic/base refs/heads/main`,
		"all of it": `for r in $(git for-each-ref --format='%(refname)' refs/ralph/bd-epic); do git update-ref -d $r; done`,
	} {
		for _, layout := range []string{"worktree", "clone"} {
			t.Run(name+"/"+layout, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, siteWork+"\n"+`if [ "$RALPH_NODE" = 1.1 ]; then cd "$TOP/project"; `+does+`; fi`,
					executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) { e.Run.Worktree.Layout = layout }))
				base := s.git("rev-parse", "main")
				s.apply(exit.NotDone)
				s.git("commit", "-q", "--allow-empty", "-m", "mine")
				got := s.ralph("apply")
				if at, err := s.tryGit("rev-parse", "--verify", "--quiet", "refs/ralph/bd-epic/base"); err != nil || at != base {
					t.Errorf("the base is %s, want %s\n%s", at, base, got.all())
				}
				if to, err := s.tryGit("symbolic-ref", "--quiet", "refs/ralph/bd-epic/base"); err == nil {
					t.Errorf("it leads to %s", to)
				}
				if strings.Contains(s.ralph("log").out, "base pinned at "+s.git("rev-parse", "main")) || strings.Contains(got.out, "▶ implement") {
					t.Errorf("the base moved:\n%s", got.out)
				}
			})
		}
	}
}

// Where results land on a branch while it runs, what comes first begins at the base
// that the journal knows. execution §5 (tampering)
func TestWhatLandsFirstBeginsAtTheBaseOfTheJournal(t *testing.T) {
	t.Parallel()
	s := newSite(t, siteWork+`
if [ "$RALPH_NODE" = 1.1 ]; then
	cd "$TOP/project"; git update-ref refs/ralph/bd-epic/base $(git commit-tree -p HEAD -m evil HEAD^{tree}); exit 3
fi`, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Epic.Integration.Mode, e.Run.Concurrency.Nodes, e.Nodes[0].Steps[0].Limits.Attempts = "branch", 1, 1
	}))
	got := s.apply(exit.NotDone)
	if log := s.git("log", "--format=%s", "ralph/x/integration"); strings.Contains(log, "evil") || !strings.Contains(log, "1.2") {
		t.Errorf("it landed on what an agent made:\n%s\n%s", log, got.all())
	}
}
