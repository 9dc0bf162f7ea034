//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// tree is the worktree of a node.
func (r *applyRepo) tree(key string) string {
	return filepath.Join(filepath.Dir(r.dir), "project-worktrees/ralph/x", strings.ReplaceAll(key, ".", "-"))
}

// in writes a file of a node's worktree.
func (r *applyRepo) in(key, name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.tree(key), name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// hopeless is an epic whose first gate passes only if the file good.txt is
// there, which no agent writes.
func hopeless() *ir.Epic {
	return executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run = "test -e good.txt"
		e.Gates["own"] = g
		e.Nodes[0].Steps[0].Gates = []string{"own"}
	})
}

func TestAPersonMendsWhatAnAgentCannot(t *testing.T) { // execution §5 "a person's own fix"
	t.Parallel()
	r := newApplyRepo(t, hopeless())
	r.run(exit.NotDone)
	r.in("1.1", "bad.txt", "no\n")
	if out := r.ralph(exit.Input, "retry", "1.1"); !strings.Contains(out, "--gates-only") || !strings.Contains(out, "--discard") {
		t.Errorf("a retry over edits said %s", out)
	}
	r.says("retry 1.1 --gates-only", "1.1")
	r.run(exit.NotDone)
	r.says("status", "blocked")
	r.in("1.1", "good.txt", "yes\n")
	r.says("retry 1.1 --gates-only")
	r.run(exit.Done)
	if got := r.git("ls-tree", "--name-only", "ralph/x/integration"); !strings.Contains(got, "good.txt") || !strings.Contains(got, "bad.txt") {
		t.Errorf("the integration branch holds\n%s", got)
	}
}

func TestWhatAPersonLeftIsSavedAndReset(t *testing.T) { // execution §5 "--discard"
	t.Parallel()
	r := newApplyRepo(t, hopeless())
	r.run(exit.NotDone)
	r.in("1.1", "mine.txt", "draft\n")
	r.says("retry 1.1 --discard")
	r.run(exit.NotDone)
	if _, err := os.Stat(filepath.Join(r.tree("1.1"), "mine.txt")); err == nil {
		t.Error("the worktree was not reset")
	}
	found := false
	for ref := range strings.FieldsSeq(r.git("for-each-ref", "--format=%(refname)", "refs/ralph")) {
		found = found || strings.Contains(ref, "/saved/") && strings.Contains(r.git("ls-tree", "--name-only", ref), "mine.txt")
	}
	if !found {
		t.Errorf("what was there is not saved:\n%s", r.git("for-each-ref"))
	}
}

func TestAManualSprintIsDoneByAPerson(t *testing.T) { // execution §3 kind manual; S4-16, S4-83
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run = "test -e signed.txt"
		e.Gates["signed"] = g
		n := &e.Nodes[0]
		n.Kind = ir.Manual
		n.Steps = []ir.Step{{
			Name: "manual", Access: "write", Gates: []string{"signed"}, GateMode: "parallel", OnFailure: "keep", AllowEmpty: true,
			Next: "manual", Retry: ir.Retry{Backoff: "fixed"},
		}}
		n.Limits.StepLimits = n.Steps[0].Limits
	}))
	r.run(exit.Waiting)
	r.says("status", "manual", "in its worktree, or on branch ralph/x/1-1", "committed or not", "ralph approve 1.1")
	r.says("approve 1.1")
	r.run(exit.Waiting) // the gate says that it is not done
	r.in("1.1", "signed.txt", "ann\n")
	r.says("approve 1.1")
	r.run(exit.Done)
	if got := r.git("show", "ralph/x/1-2:signed.txt"); got != "ann" {
		t.Errorf("1.2 does not build on it: %q", got)
	}
}

func TestPeopleStopWhatRuns(t *testing.T) { // execution §5 cancel, skip --force, pause, resume
	t.Parallel()
	for _, how := range []string{"cancel 1.1", "skip 1.1 --force"} {
		r := newApplyRepo(t, executortest.Epic([]string{"1.1"}))
		block := r.block()
		a := r.start()
		pid := r.blocked(block)
		if out := r.ralph(exit.Input, "skip", "1.1"); !strings.Contains(out, "--force") {
			t.Errorf("skip said %s", out)
		}
		r.unblock(block)
		r.says(how, "1.1")
		want := exit.Done
		if how == "cancel 1.1" {
			want = exit.NotDone
		}
		if code := a.wait(); code != want {
			t.Errorf("%s: exit %d\n%s%s", how, code, &a.out, &a.err)
		}
		if alive(pid) {
			t.Errorf("%s: the agent is still there", how)
		}
		r.says("retry 1.1", "1.1")
		r.run(exit.Done)
		r.says("status", "1 of 1 sprint done")
	}
}

func TestARunIsPausedAndCancelled(t *testing.T) { // execution §5
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}))
	r.says("pause")
	r.run(exit.Waiting)
	r.says("status", "held")
	r.says("resume")
	block := r.block()
	a := r.start("--grace", "0s")
	pid := r.blocked(block)
	r.says("cancel")
	if code := a.wait(); code != exit.NotDone {
		t.Errorf("cancelled: exit %d\n%s%s", code, &a.out, &a.err)
	}
	if alive(pid) {
		t.Error("the agent outlived the run")
	}
	r.unblock(block)
	r.run(exit.Done)
}
