package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// planned renders what a run of another epic would do.
func (s *stage) planned(epic *ir.Epic, change ...func(*executor.RunStarted)) string {
	s.t.Helper()
	run, err := machine.New(epic)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range s.events {
		if err := run.Apply(e); err != nil {
			s.t.Fatal(err)
		}
	}
	start := executortest.Start(epic)
	start.Head = s.branchAt()
	for _, c := range change {
		c(&start)
	}
	plan, err := machine.Plan(run, start, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range plan {
		fmt.Fprintf(&b, "%s: %s", p.Key, p.Action)
		if p.Cause != "" {
			b.WriteString(", " + p.Cause)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestPlanSaysWhatARunWouldDo(t *testing.T) { // execution §2, the table
	lines := []string{"1.1", "1.2: 1.1", "1.3: 1.2", "2.1", "2.2: 2.1"}
	s := newStage(t, lines)
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-2-1": {failed(), failed(), failed()}})
	want := func(name, got, want string) {
		t.Helper()
		if want = strings.ReplaceAll(strings.TrimPrefix(want, "\n"), "\t", ""); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	want("nothing is done", s.planned(s.epic), `
		1.1: run
		1.2: run
		1.3: run
		2.1: run
		2.2: run
		integration: run
`)
	s.begin()
	s.end()
	again := func(change func(*ir.Epic)) *ir.Epic {
		return executortest.Epic(lines, change, func(e *ir.Epic) { e.Digest = "sha256:2" })
	}
	want("the same again", s.planned(s.epic), `
		1.1: keep
		1.2: keep
		1.3: keep
		2.1: blocked, the 3 attempts of step implement used up; last: the agent reported failure: cannot
		2.2: blocked, needs 2.1 (blocked)
		integration: keep
`)
	want("a text and a blocked text changed", s.planned(again(func(e *ir.Epic) {
		e.Nodes[0].Prompt, e.Nodes[3].Prompt = []string{"Do it well."}, []string{"Do it otherwise."}
	})), `
		1.1: re-run, its text changed
		1.2: may re-run, needs 1.1 again
		1.3: may re-run, needs 1.2 again
		2.1: run, changed since it was blocked
		2.2: run
		integration: may re-run, its parts may change
`)
	want("a gate changed", s.planned(again(func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run = "make test"
		e.Gates["check"] = g
	})), `
		1.1: judge, its gates changed
		1.2: may re-run, needs 1.1 again
		1.3: may re-run, needs 1.2 again
		2.1: blocked, the 3 attempts of step implement used up; last: the agent reported failure: cannot
		2.2: blocked, needs 2.1 (blocked)
		integration: may re-run, its parts may change
`)
	want("limits changed, a node is gone", s.planned(executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Nodes[0].Steps[0].Limits.Attempts = 9
		e.Nodes[0].Limits.StepLimits = e.Nodes[0].Steps[0].Limits
		e.Digest = "sha256:2"
	})), `
		1.1: keep
		1.2: keep
		integration: re-run, its parts changed
		1.3: gone, its result stays pinned and is left out of the integration
		2.1: gone, never done
`)
	want("--rerun", s.planned(s.epic, func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-2"} }), `
		1.1: keep
		1.2: re-run, --rerun
		1.3: may re-run, needs 1.2 again
		2.1: blocked, the 3 attempts of step implement used up; last: the agent reported failure: cannot
		2.2: blocked, needs 2.1 (blocked)
		integration: may re-run, its parts may change
`)
	want("--only", s.planned(s.epic, func(r *executor.RunStarted) { r.Only = []ir.NodeID{"bd-2-2"} }), `
		1.1: keep
		1.2: keep
		1.3: keep
		2.1: blocked, the 3 attempts of step implement used up; last: the agent reported failure: cannot
		2.2: blocked, needs 2.1 (blocked)
		integration: leave, not selected by --only
`)
	want("--rebase", s.planned(s.epic, func(r *executor.RunStarted) { r.Base = executor.Tree{Commit: "new", Tree: "tree-new"} }), `
		1.1: re-run, what it starts from changed (the base)
		1.2: may re-run, needs 1.1 again
		1.3: may re-run, needs 1.2 again
		2.1: blocked, the 3 attempts of step implement used up; last: the agent reported failure: cannot
		2.2: blocked, needs 2.1 (blocked)
		integration: may re-run, its parts may change
`)
	s.ok("2.1", executor.Decision{Verb: executor.Skip, Message: "later"})
	want("skipped", s.planned(s.epic), `
		1.1: keep
		1.2: keep
		1.3: keep
		2.1: skipped, skipped by ann: later
		2.2: run
		integration: may re-run, its parts may change
`)
	if _, err := machine.Plan(s.run, executor.RunStarted{Digest: "other"}, s.now); err == nil {
		t.Error("another epic was planned")
	}
}

// plan and status name the same of several that hold a sprint back: what is blocked
// before what waits, then what is held itself.
func TestPlanAndStatusNameTheSameNeed(t *testing.T) {
	s := newStage(t, []string{"1.1", "1.2", "1.3: 1.1", "1.4: 1.1 1.2", "1.5", "1.6: 1.2 1.5", "1.7: 1.2 1.3"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}, "bd-1-2": {asks("which?")}, "bd-1-5": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	for key, want := range map[string]string{
		"1.3": "needs 1.1 (blocked)", "1.4": "needs 1.1 (blocked)",
		"1.6": "needs 1.5 (blocked)", "1.7": "needs 1.1 (blocked)",
	} { // execution §4 "the one reason"
		if got := s.view(key).Reason; got != want {
			t.Errorf("status of %s: %q, want %q", key, got, want)
		}
		if plan := s.planned(s.epic); !strings.Contains(plan, key+": blocked, "+want+"\n") {
			t.Errorf("the plan has not %s of %s:\n%s", want, key, plan)
		}
	}
}

// A sprint that is gone is called what it was called.
func TestAPlanCallsWhatIsGoneByItsKey(t *testing.T) { // execution §2, "shows all of this"
	s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3: 1.2"})
	s.begin()
	s.end()
	if got, want := s.planned(executortest.Epic([]string{"1.1", "1.3: 1.1"}, func(e *ir.Epic) { e.Digest = "other" })), "1.3: re-run, what it starts from changed (1.1, without the former 1.2)\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%swant %s", got, want)
	}
}

// What a sprint starts from is not known before what it needs has run: that it was
// judged on the same while that was skipped says nothing of its gates.
func TestAPlanForesaysNoResultOfWhatRunsAgain(t *testing.T) { // execution §2, the table
	s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3: 1.1", "1.4: 1.2 1.3"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	s.ok("1.2", executor.Decision{Verb: executor.Skip})
	s.begin()
	s.end()
	s.is("1.4", executor.Done, "", "")
	s.ok("1.2", executor.Decision{Verb: executor.RetryNode})
	if got, want := s.planned(s.epic), "1.4: may re-run, needs 1.2 again\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%swant %s", got, want)
	}
}
