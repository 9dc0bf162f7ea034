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

func TestApplyRefusesAnotherEpicOfTheSameSlug(t *testing.T) {
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1"}))
	r.run(exit.Done)
	refs := r.git("for-each-ref")
	r.epic(executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Epic.ID, e.Epic.Plan = "bd-other", "docs/plan.md" }))
	a := r.run(exit.Input)
	for _, want := range []string{"another epic uses the branch ralph/x/integration", ": plan.md, id bd-epic (this one is docs/plan.md, id bd-other)", "Nothing was started"} {
		if !strings.Contains(a.err.String(), want) {
			t.Errorf("the refusal lacks %q:\n%s", want, &a.err)
		}
	}
	if got := r.git("for-each-ref"); got != refs {
		t.Errorf("refs changed:\n%s", got)
	}
	if err := os.RemoveAll(filepath.Join(r.dir, ".git/ralph/bd-epic")); err != nil {
		t.Fatal(err)
	}
	r.git("branch", "-q", "-D", "ralph/x/integration")
	if a := r.run(exit.Input); !strings.Contains(a.err.String(), "the branch ralph/x/1-1 of 1.1 exists and is not ralph's") {
		t.Errorf("it said %s%s", &a.out, &a.err)
	}
}

func TestApplyWarnsOfWhatAgentsWillNotSee(t *testing.T) {
	t.Parallel()
	e := executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Run.Policies = []string{"ralph.hcl"}
		g := e.Gates["check"]
		g.Run = `cat "a b.txt" data.txt`
		e.Gates["check"] = g
	})
	r := newApplyRepo(t, e)
	r.write("ralph.hcl", "# one\n")
	r.write("plan.md", "# A plan\n")
	r.write("data.txt", "one\n")
	r.write("a b.txt", "one\n")
	r.git("add", "ralph.hcl", "plan.md", "data.txt", "a b.txt")
	r.git("commit", "-q", "-m", "policy")
	r.write("ralph.hcl", "# two\n")
	r.write("plan.md", "# Another plan\n")
	r.write("data.txt", "two\n")
	r.write("a b.txt", "two\n")
	r.write("untold.txt", "mine\n")
	a := r.run(exit.Done)
	if want := "warning: a b.txt, data.txt: not committed, or different in the commit that agents start from (" + r.git("rev-parse", "HEAD")[:12] + ")"; !strings.Contains(a.err.String(), want) {
		t.Errorf("it lacks %q:\n%s", want, &a.err)
	}
	if a := r.run(exit.Done); strings.Contains(a.err.String(), "not committed") { // nothing will run
		t.Errorf("it said %s", &a.err)
	}
	if strings.Contains(a.err.String(), "done by the plan") {
		t.Errorf("it said %s", &a.err)
	}
	// Somebody does 1.3 by hand on main, after the base was pinned.
	r.epic(executortest.Epic([]string{"1.1", "1.2", "1.3"}, func(e *ir.Epic) {
		for i := range e.Nodes {
			e.Nodes[i].Done = true
		}
	}))
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "by hand")
	a = r.run(exit.Done)
	if !strings.Contains(a.err.String(), "warning: done by the plan: 1.3. Their work may not be in the base") || !strings.Contains(a.err.String(), "--rebase") {
		t.Errorf("it said %s", &a.err)
	}
}

func TestApplyGoesOnAboveAJournalThatLostItsEnd(t *testing.T) { // execution §1
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1"}))
	r.run(exit.Done)
	dir := filepath.Join(r.dir, ".git/ralph/bd-epic")
	for _, name := range []string{"journal.db", "journal.db-wal", "journal.db-shm"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	commit := r.git("rev-parse", "ralph/x/1-1")
	a := r.run(exit.Done)
	for _, want := range []string{"the journal's end was missing after event 0; 1 commit found on branches", "only its gates again", "1 of 1 sprint done"} {
		if !strings.Contains(a.out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &a.out)
		}
	}
	if got := r.git("rev-parse", "ralph/x/1-1"); got != commit {
		t.Errorf("the work was made again: %s, want %s", got, commit)
	}
	r.says("journal verify", "were lost, which is recorded; 1 commit showed it")
}

// A missing program holds nothing up where another agent takes its place, of
// whatever kind: execution §4 "configuration", S4-88.
func TestAStandInOfAnotherKindWorksWhereAProgramIsMissing(t *testing.T) {
	t.Parallel()
	fallback := func(e *ir.Epic) {
		e.Runners["gone"] = ir.Runner{Kind: "claude", Run: []string{"no-such-claude"}, Prompt: "stdin", Env: []string{"PATH"}, Outcome: "optional"}
		e.Agents["first"] = ir.Agent{Runner: "gone", Access: "write"}
		e.Nodes[0].Steps[0].Agent, e.Nodes[0].Steps[0].Fallback = "first", []string{"dev"}
	}
	r := newApplyRepo(t, executortest.Epic([]string{"1.1"}, fallback))
	if a := r.run(exit.Done); !strings.Contains(a.out.String(), "1 of 1 sprint done") {
		t.Errorf("it said %s%s", &a.out, &a.err)
	}
	if got := r.ralph(exit.Done, "show", "1.1"); !strings.Contains(got, "no-such-claude") {
		t.Errorf("it does not say why another took its place:\n%s", got)
	}
	r = newApplyRepo(t, executortest.Epic([]string{"1.1"}, fallback, func(e *ir.Epic) { e.Nodes[0].Steps[0].Fallback = nil }))
	if a := r.run(exit.Input); !strings.Contains(a.err.String(), "programs are missing") {
		t.Errorf("it said %s%s", &a.out, &a.err)
	}
}

// Who looks at a stalled agent, and who resolves conflicts, has to be there before
// anything starts, too: execution §4 "configuration".
func TestAgentsThatAreNeededOnlySometimesAreLookedUp(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ir.Epic){
		"a diagnosis": func(e *ir.Epic) {
			e.Nodes[0].Steps[0].Stall = ir.Stall{AfterMS: 1000, Action: "diagnose", Agent: "doctor"}
		},
		"a conflict": func(e *ir.Epic) { e.Epic.Integration.ConflictAgent = "doctor" },
	} {
		r := newApplyRepo(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
			e.Runners["gone"] = ir.Runner{Kind: "claude", Run: []string{"no-such-claude"}, Prompt: "stdin", Env: []string{"PATH"}, Outcome: "optional"}
			e.Agents["doctor"] = ir.Agent{Runner: "gone", Access: "write"}
			change(e)
		}))
		if a := r.run(exit.Input); !strings.Contains(a.err.String(), "agent doctor") || !strings.Contains(a.err.String(), "no-such-claude") {
			t.Errorf("%s: it said %s%s", name, &a.out, &a.err)
		}
	}
}
