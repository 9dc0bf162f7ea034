package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// asIs prepares once more, for a session that is to go on in the tree.
func (r *repo) asIs(e executor.Effect) executor.Prepared {
	r.t.Helper()
	e.AsIs, e.Redo = true, true
	p, err := r.space.Prepare(r.t.Context(), e)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// agentDoes is sh with a git that runs no hooks of the user's.
func (r *repo) agentDoes(node ir.NodeID, script string) {
	r.t.Helper()
	r.sh(node, `git() { command git -c core.hooksPath=/dev/null "$@"; }; `+script)
}

func TestASessionGoesOnInTheTreeAsItIs(t *testing.T) { // execution §3 "nothing of value is thrown away", §6
	overLayouts(t, testASessionGoesOnInTheTreeAsItIs)
}

func testASessionGoesOnInTheTreeAsItIs(t *testing.T) {
	const dirty = "echo new > a.txt; echo staged > b.txt; git add b.txt; echo more >> README.md"
	for name, c := range map[string]struct {
		before string // what the agent, or a person, did
		then   func(r *repo)
		anew   bool
	}{
		"edits, staged and not, stay":              {before: dirty},
		"commits of the agent's own stay":          {before: "echo new > a.txt; git add a.txt; git commit -qm own; " + dirty},
		"nothing was done yet":                     {},
		"ralph ended meanwhile":                    {before: dirty, then: func(r *repo) { r.open() }},
		"the worktree is gone":                     {before: dirty, then: func(r *repo) { r.must(os.RemoveAll(r.space.Dir("bd-1-1"))) }, anew: true},
		"another branch is checked out":            {before: dirty + "; git checkout -qb other", anew: true},
		"the branch was set to before the attempt": {before: "git commit -q --allow-empty -m x; git reset -q --hard; git checkout -q --orphan gone; git commit -qm root; git branch -f ralph/x/1-1 gone; git checkout -q ralph/x/1-1", anew: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two))
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			if c.before != "" {
				r.agentDoes("bd-1-1", c.before)
			}
			if c.then != nil {
				c.then(r)
			}
			dir := r.space.Dir("bd-1-1")
			before := map[string]string{}
			if !c.anew {
				before = files(t, dir)
			}
			p := r.asIs(r.effect(executor.EffectPrepare, "bd-1-1", 1, base))
			if p.Anew != c.anew {
				t.Fatalf("prepared %+v, want anew %v", p, c.anew)
			}
			if c.anew {
				if got := r.git("-C", dir, "status", "--porcelain"); got != "" || r.git("-C", dir, "rev-parse", "HEAD") != base {
					t.Errorf("it is not put back:\n%s", got)
				}
				return
			}
			after := files(t, dir)
			for path, text := range before {
				if after[path] != text && filepath.Base(filepath.Dir(path)) != ".git" {
					t.Errorf("%s changed", path)
				}
			}
			if c.before == "" {
				return
			}
			made := r.collect("bd-1-1", 1, base)
			if got := r.git("show", made.Result.Commit+":a.txt"); got != "new" || r.git("show", made.Result.Commit+":b.txt") != "staged" {
				t.Errorf("collected a.txt %q", got)
			}
		})
	}
}

func TestASessionGoesOnInAHalfResolvedMerge(t *testing.T) { // execution §3 "MERGE_HEAD restored after a crash"
	overLayouts(t, testASessionGoesOnInAHalfResolvedMerge)
}

func testASessionGoesOnInAHalfResolvedMerge(t *testing.T) {
	r, in := quarrel(t)
	again := r.merge(executor.EffectPrepare, "bd-1-4", 1, in[0].Commit, in)
	r.prepareMerge("bd-1-4", 1, in[0].Commit, in)
	r.agentDoes("bd-1-4", "echo both > README.md")
	if p := r.asIs(again); p.Anew {
		t.Fatal("half resolved, and not gone on with")
	}
	r.agentDoes("bd-1-4", "git add README.md; git commit -qm resolved")
	if p := r.asIs(again); p.Anew {
		t.Fatal("resolved, and not gone on with")
	}
	r.agentDoes("bd-1-4", "git reset -q --hard "+in[0].Commit)
	if p := r.asIs(again); !p.Anew || len(p.Paths) != 1 {
		t.Fatalf("given up, and prepared %+v", p)
	}
	r.agentDoes("bd-1-4", "echo both > README.md; git add README.md")
	if c := r.collectMerge("bd-1-4", 1, in[0].Commit, in); len(c.Problems) > 0 {
		t.Errorf("problems %q", c.Problems)
	}
}
