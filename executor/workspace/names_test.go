package workspace

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func (r *repo) clashes(joined bool) string {
	r.t.Helper()
	found, err := r.space.Names.Clashes(func(*ir.Node) bool { return true }, joined)
	if err != nil {
		r.t.Fatal(err)
	}
	var lines []string
	for _, c := range found {
		lines = append(lines, c.What+" | "+strings.Join(c.Ways, "; or "))
	}
	return strings.Join(lines, "\n")
}

// applied is another epic of the repository, as its last apply left it.
func (r *repo) applied(change func(*ir.Epic)) {
	r.t.Helper()
	e := executortest.Epic(two, func(e *ir.Epic) {
		e.Epic.ID, e.Epic.Plan, e.Epic.Integration.Branch = "bd-other", "other.md", "ralph/other/integration"
		for i := range e.Nodes {
			e.Nodes[i].ID, e.Nodes[i].Git.Branch = "bd-o"+e.Nodes[i].ID[3:], "other/"+string(e.Nodes[i].Key)
		}
		change(e)
	})
	b, err := json.Marshal(e)
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(".git/ralph/bd-other/epic.json", string(b))
}

func TestNamesThatAreTaken(t *testing.T) { // K8
	elsewhere := "../project-worktrees/"
	for _, c := range []struct {
		name string
		do   func(r *repo)
		want []string // "" is none
	}{
		{"nothing is taken", func(*repo) {}, nil},
		{
			"a branch that is the directory of all", func(r *repo) { r.git("branch", "ralph") },
			[]string{"the branch ralph and ralph/x/integration, ralph/x/1-1, ralph/x/1-2 cannot be beside each other: branches are files | git branch -m ralph OTHER"},
		},
		{"packed", func(r *repo) { r.git("branch", "ralph"); r.git("pack-refs", "--all") }, []string{"git branch -m ralph OTHER"}},
		{
			"of the epic's slug", func(r *repo) { r.git("branch", "ralph/x") },
			[]string{"git branch -m ralph/x OTHER; or give the plan another slug"},
		},
		{
			"below a name that is needed", func(r *repo) { r.git("branch", "ralph/x/1-1/try/2") },
			[]string{"the branch ralph/x/1-1/try/2 and ralph/x/1-1 cannot be beside each other: branches are files | git branch -m ralph/x/1-1/try/2 OTHER; or name another in the plan (**Branch**)"},
		},
		{
			"one of the names, of somebody", func(r *repo) { r.git("branch", "ralph/x/1-1"); r.git("branch", "ralph/x/integration") },
			[]string{"the branch ralph/x/integration of integration exists and is not ralph's", "the branch ralph/x/1-1 of 1.1 exists and is not ralph's | git branch -m ralph/x/1-1 OTHER; or name another in the plan (**Branch**)"},
		},
		{"of a remote, and a tag", func(r *repo) {
			r.git("update-ref", "refs/remotes/origin/ralph", "HEAD")
			r.git("tag", "ralph")
		}, nil},
		{"by case, where it counts", func(r *repo) { r.git("branch", "Ralph/x/1-1") }, nil},
		{
			"by case, where it does not", func(r *repo) { r.space.carried["core.ignorecase"] = "true"; r.git("branch", "Ralph/X/1-1") },
			[]string{"the branch Ralph/X/1-1 and ralph/x/1-1 cannot be beside each other: where case does not count they are one file"},
		},
		{"ralph's own", func(r *repo) { r.prepare("bd-1-1", 1, r.head()) }, nil},
		{"the branch of what a person does", func(r *repo) {
			r.epic.Nodes[0].Kind = ir.Manual
			r.git("branch", "ralph/x/1-1")
			r.write(elsewhere+"ralph/x/1-1/f", "theirs")
		}, nil},
		{"what is done by the plan", func(r *repo) { r.epic.Nodes[0].Done = true; r.git("branch", "ralph/x/1-1") }, nil},
		{
			"a directory", func(r *repo) { r.write(elsewhere+"ralph/x/1-2/f", "theirs") },
			[]string{"the place of the worktree of 1.2, ", "ralph/x/1-2, is taken by something that is not of this epic | move it away; or name another place in the plan (**Worktree**)"},
		},
		{"an empty one", func(r *repo) {
			r.write(elsewhere+"ralph/x/1-2/f", "")
			_ = os.Remove(filepath.Join(r.dir, elsewhere+"ralph/x/1-2/f"))
		}, nil},
		{"a file", func(r *repo) { r.write(elsewhere+"ralph/x/1-2", "theirs") }, []string{"cannot be used"}},
		{
			"a worktree of the user's", func(r *repo) { r.git("worktree", "add", "-q", "--detach", elsewhere+"ralph/x/1-2") },
			[]string{"the place of the worktree of 1.2"},
		},
		{"another epic of the same branches", func(r *repo) {
			r.applied(func(e *ir.Epic) { e.Nodes[0].Git.Branch = "ralph/x/1-1" })
		}, []string{"the branch ralph/x/1-1 of 1.1 is that of 1.1 of another epic (other.md, bd-other)", "or if the other epic is over, move "}},
		{"that has made it", func(r *repo) {
			r.applied(func(e *ir.Epic) { e.Nodes[0].Git.Branch = "ralph/x/1-1" })
			r.git("branch", "ralph/x/1-1")
			r.git("update-ref", "refs/ralph/bd-other/nodes/bd-o1-1/result", "HEAD")
		}, []string{"the branch ralph/x/1-1 of 1.1 is that of 1.1 of another epic (other.md, bd-other) | name another", "or if the other epic is over, git branch -m ralph/x/1-1 OTHER"}},
		{"that has made it, and it was deleted since", func(r *repo) {
			r.applied(func(e *ir.Epic) { e.Nodes[0].Git.Branch = "ralph/x/1-1" })
			r.git("update-ref", "refs/ralph/bd-other/nodes/bd-o1-1/result", "HEAD")
		}, nil},
		{"another epic of the same slug", func(r *repo) {
			r.applied(func(e *ir.Epic) { e.Epic.Integration.Branch = "ralph/x/integration" })
		}, []string{"another epic uses the branch ralph/x/integration: other.md, id bd-other (this one is plan.md, id bd-epic)", "<!-- beads-ralph-epic: bd-other -->"}},
		{"another epic whose branch is a directory of ours", func(r *repo) {
			r.applied(func(e *ir.Epic) { e.Nodes[0].Git.Branch = "ralph/x" })
		}, []string{"the branch ralph/x of 1.1 of another epic (other.md, bd-other) and ralph/x/integration, ralph/x/1-1, ralph/x/1-2 cannot be beside each other"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two))
			c.do(r)
			got := r.clashes(false)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("got:\n%s\nwant:\n%s", got, want)
				}
			}
			if (got == "") != (c.want == nil) {
				t.Errorf("got:\n%s", got)
			}
			// Without a process, and without settings, the same is found: but for case.
			glance, err := Glance(r.dir, r.epic).Names.Clashes(func(*ir.Node) bool { return true }, false)
			if (len(glance) == 0) != (got == "") && !strings.HasPrefix(c.name, "by case") || err != nil {
				t.Errorf("at a glance: %v, %v", glance, err)
			}
		})
	}
}

// An integration branch that ralph has put somewhere is no clash.
func TestTheIntegrationBranchIsOurs(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	r.git("branch", "ralph/x/integration")
	if got := r.clashes(true); got != "" {
		t.Error(got)
	}
}

// A branch that comes in the way during a run is nothing that goes away by itself. K8
func TestABranchInTheWayIsNoTransientFault(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	r.git("branch", "ralph")
	_, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 1, r.head()))
	var f *executor.Failure
	if !errors.As(err, &f) || f.Class != executor.FailConfig || !strings.Contains(err.Error(), "git branch -m ralph OTHER") {
		t.Errorf("prepare: %v", err)
	}
}
