package executortest

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// Epic makes an epic from lines such as "1.1", "1.2a: 1.1", "1.3: 1.2a 1.2b":
// a key and what it needs. Each node has one step "implement" by the agent "dev"
// of the command runner "sh", with the gate "check", three attempts and no
// waiting. change may alter it before it is sealed. It is valid (ir.Verify) if the
// lines are in the order of an epic: what a node needs before it, else the
// smaller key first.
func Epic(lines []string, change ...func(*ir.Epic)) *ir.Epic {
	e := &ir.Epic{
		IR: ir.Version,
		Epic: ir.Header{
			ID: "bd-epic", Slug: "x", Title: "An epic", Plan: "plan.md",
			Integration: ir.Integration{Branch: "ralph/x/integration", Mode: "dag", PR: "none"},
		},
		Agents:  map[string]ir.Agent{"dev": {Runner: "sh", Access: "write"}},
		Gates:   map[string]ir.Gate{"check": {Kind: "command", Run: "true", From: "policy", OnFailure: "retry", ProtectNew: true, TimeoutMS: 60_000}},
		Runners: map[string]ir.Runner{"sh": {Kind: "command", Run: []string{"./agent.sh"}, Prompt: "stdin", Env: []string{"PATH", "HOME"}, Outcome: "optional"}},
		Run: ir.Run{
			Concurrency: ir.Concurrency{Nodes: 10}, OnExceed: "pause",
			HITL:     ir.HITL{Level: "gates", Plan: "auto", OnHumanMessage: "pause"},
			Git:      ir.GitSettings{Cleanup: "never", Commit: "each"},
			Worktree: ir.Worktree{Layout: "worktree"},
		},
		Digest: "sha256:epic",
	}
	for _, line := range lines {
		key, needs, _ := strings.Cut(line, ":")
		n := ir.Node{
			ID: ir.NodeID("bd-" + strings.ReplaceAll(key, ".", "-")), Key: ir.Key(key), Kind: ir.Work, Title: "Sprint " + key,
			Priority: 2, Prompt: []string{"Do " + key + "."},
			Git: ir.Git{
				Branch:   "ralph/x/" + strings.ReplaceAll(key, ".", "-"),
				Worktree: "../{repo}-worktrees/ralph/x/" + strings.ReplaceAll(key, ".", "-"),
			},
			Steps:      []ir.Step{Step("implement", "check")},
			Complexity: ir.Complexity{Level: "medium", From: "default"},
		}
		for d := range strings.FieldsSeq(needs) {
			n.After = append(n.After, ir.Edge{Key: ir.Key(d), From: "explicit", Type: ir.Blocks})
		}
		ir.SortEdges(n.After)
		if len(n.After) > 1 {
			for _, a := range n.After {
				n.Merges = append(n.Merges, a.Key)
			}
		}
		e.Nodes = append(e.Nodes, n)
	}
	for _, c := range change {
		c(e)
	}
	for i := range e.Nodes {
		if w := ir.WorkStep(&e.Nodes[i]); w >= 0 {
			e.Nodes[i].Limits.StepLimits = e.Nodes[i].Steps[w].Limits
		}
	}
	if len(e.Nodes) > 0 {
		e.Epic.Complexity = e.Nodes[0].Complexity.Level
	}
	ir.Seal(e)
	return e
}

// Step is a write step of the agent "dev" with these gates.
func Step(name string, gates ...string) ir.Step {
	return ir.Step{
		Name: name, Agent: "dev", Access: "write", Session: "fresh", Gates: gates, GateMode: "parallel",
		Limits:    ir.StepLimits{Iterations: 2, Attempts: 3, Breaker: 0, RunnerRetries: 2, TimeoutMS: 60_000},
		Retry:     ir.Retry{Backoff: "fixed"},
		OnFailure: "keep", Next: name,
	}
}

// Start is the RunStarted event that a driver would begin with.
func Start(e *ir.Epic) executor.RunStarted {
	return executor.RunStarted{
		Epic: e.Epic.ID, Plan: e.Epic.Plan, Digest: e.Digest, Slots: max(e.Run.Concurrency.Nodes, 1), By: "tester",
		Base: executor.Tree{Commit: "base", Tree: "tree-base"},
	}
}

// Statuses renders where all nodes are, for comparison.
func Statuses(r *machine.Run) string {
	var b strings.Builder
	for _, v := range r.Views() {
		fmt.Fprintf(&b, "%s %s", v.Key, v.Status)
		if v.Result.Tree != "" {
			fmt.Fprintf(&b, " %s", v.Result.Tree)
		}
		if v.Reason != "" {
			fmt.Fprintf(&b, " (%s)", v.Reason)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
