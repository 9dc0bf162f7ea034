//go:build unix

package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// The sum is judged again only where its tree came out another: the agents here
// write the same for the same sprint.

// ran applies and returns for which nodes agents and gates ran.
func (r *applyRepo) ran(args ...string) string {
	r.t.Helper()
	a := r.run(exit.Done, append([]string{"--events", "jsonl"}, args...)...)
	agents, gates := map[string]bool{}, map[string]bool{}
	sc := bufio.NewScanner(&a.out)
	for sc.Scan() {
		var e executor.Event
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			r.t.Fatal(err)
		}
		if b, ok := e.Body.(executor.EffectStarted); ok {
			switch b.Kind {
			case executor.EffectAgent:
				agents[string(e.Node)] = true
			case executor.EffectGate:
				gates[string(e.Node)] = true
			}
		}
	}
	list := func(m map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(m)), " ") }
	return fmt.Sprintf("agents: %s; gates: %s", list(agents), list(gates))
}

// accountIsTrue checks that everything is done and in the branch, as status says
// and as git does. execution §5 (the sum)
func (r *applyRepo) accountIsTrue() {
	r.t.Helper()
	var s record.StatusJSON
	if err := json.Unmarshal([]byte(r.ralph(exit.Done, "status", "--json")), &s); err != nil {
		r.t.Fatal(err)
	}
	sum := s.Nodes[len(s.Nodes)-1]
	held := map[string]bool{}
	for _, h := range sum.Holds {
		held[h.Commit] = true
		r.git("merge-base", "--is-ancestor", h.Commit, "ralph/x/integration")
	}
	for _, n := range s.Nodes[:len(s.Nodes)-1] {
		if !held[n.Commit] {
			r.t.Errorf("%s is %s with %s, which is not in the branch: %+v", n.Key, n.Status, n.Commit, sum.Holds)
		}
	}
}

func TestApplyRunsAgainExactlyWhatChanged(t *testing.T) { // S2-18
	t.Parallel()
	epic := func(lines []string, change ...func(*ir.Epic)) *ir.Epic {
		return executortest.Epic(lines, append([]func(*ir.Epic){func(e *ir.Epic) { e.Epic.Integration.Gates = []string{"check"} }}, change...)...)
	}
	lines := []string{"1.1", "1.2: 1.1", "1.3"}
	r := newApplyRepo(t, epic(lines))
	if got := r.ran(); got != "agents: bd-1-1 bd-1-2 bd-1-3; gates: bd-1-1 bd-1-2 bd-1-3 integration" {
		t.Fatalf("first ran %s", got)
	}
	for _, c := range []struct {
		name string
		next *ir.Epic
		args []string
		want string
	}{
		{"nothing", epic(lines), nil, "agents: ; gates: "},
		{
			"the text of a sprint; its result comes out the same, so what needs it stays",
			epic(lines, func(e *ir.Epic) { e.Nodes[0].Prompt = []string{"Do it well."} }), nil, "agents: bd-1-1; gates: bd-1-1",
		},
		{
			"a gate: only the gates",
			epic(lines, func(e *ir.Epic) { g := e.Gates["check"]; g.Run = "test -e agent.sh"; e.Gates["check"] = g }), nil,
			"agents: ; gates: bd-1-1 bd-1-2 bd-1-3 integration",
		},
		{
			"limits, labels, priority, concurrency",
			epic(lines, func(e *ir.Epic) {
				n := &e.Nodes[1]
				n.Steps[0].Limits.Attempts, n.Steps[0].Limits.TimeoutMS, n.Labels, n.Priority = 9, 1234567, []string{"urgent"}, 0
				e.Run.Concurrency.Nodes = 1
			}), nil, "agents: ; gates: ",
		},
		{
			"done is ticked",
			epic(lines, func(e *ir.Epic) { e.Nodes[2].Done = true }), nil, "agents: ; gates: ",
		},
		{
			"a sprint is gone: it is left out of the sum",
			epic(lines[:2]), nil, "agents: ; gates: integration",
		},
		{
			"a sprint has another number",
			epic(lines, func(e *ir.Epic) { e.Nodes[2].Key = "1.9" }), nil, "agents: ; gates: ",
		},
		{
			"a number is given to another sprint",
			epic(lines, func(e *ir.Epic) {
				e.Nodes[2].ID = "bd-new"
				e.Nodes[2].Git.Branch += "-new"
				e.Nodes[2].Git.Worktree += "-new"
			}), nil,
			"agents: bd-new; gates: bd-new",
		},
		{
			"a new dependency",
			epic([]string{"1.1", "1.2: 1.1", "1.3: 1.1"}), nil, "agents: bd-1-3; gates: bd-1-3",
		},
		{
			"a new sprint",
			epic(append(slices.Clone(lines), "1.4: 1.3")), nil, "agents: bd-1-4; gates: bd-1-4 integration",
		},
		{
			"a sprint by --rerun; what needs it stays",
			epic(lines),
			[]string{"--rerun", "1.1"},
			"agents: bd-1-1; gates: bd-1-1",
		},
	} {
		r.epic(c.next)
		if got := r.ran(c.args...); got != c.want {
			t.Errorf("%s: ran %s\nwant %s", c.name, got, c.want)
		}
		r.accountIsTrue()
		if got := r.ran(); got != "agents: ; gates: " {
			t.Errorf("%s: and once more ran %s", c.name, got)
		}
		r.epic(epic(lines)) // changed back: what is on record counts again
		if got := r.ran(); strings.Contains(got, "agents: bd") {
			t.Errorf("%s: changed back, it ran %s", c.name, got)
		}
		r.accountIsTrue()
	}
}
