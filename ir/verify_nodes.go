package ir

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// nodes checks the graph and each of its nodes.
func (v *verifier) nodes() {
	v.links = newLinks(v.e.Nodes)
	ids := map[NodeID]int{v.e.Epic.ID: -1}
	keys := make(map[Key]int, len(v.e.Nodes))
	for i, n := range lists.Each(v.e.Nodes) {
		at := fmt.Sprintf("nodes[%d]", i)
		if first, twice := ids[n.ID]; twice && first < 0 {
			v.fail(at+".id", "%s is the epic's own id", quote(string(n.ID)))
		} else if twice {
			v.fail(at+".id", "%s is also the id of nodes[%d]", quote(string(n.ID)), first)
		}
		if first, twice := keys[n.Key]; twice {
			v.fail(at+".key", "%s is also the key of nodes[%d]", quote(string(n.Key)), first)
		}
		v.when(n.Key == "integration", at, ".key", "\"integration\" is reserved for the sum of all nodes")
		ids[n.ID], keys[n.Key] = i, i
		v.node(at, n, i)
		if len(v.errs) >= maxBreaches {
			return
		}
	}
	v.inOrder()
	v.highest()
}

func (v *verifier) node(at string, n *Node, i int) {
	v.path = jsonPath{{name: "nodes", index: -1}, {index: i}}
	v.words(nodeShape(), reflect.ValueOf(n).Elem())
	v.id(at+".id", n.ID)
	v.name(at+".key", string(n.Key))
	v.when(n.Priority > 4, at, ".priority", "%d is not from 0 to 4", n.Priority)
	v.edges(at, n)
	v.merges(at, n)
	v.when(n.Git.Branch == "", at, ".git.branch", "is empty")
	v.worktree(at+".git.worktree", n.Git.Worktree)
	for _, s := range []struct {
		name  string
		globs []string
	}{{"owns", n.Scope.Owns}, {"files", n.Scope.Files}, {"reads", n.Scope.Reads}} {
		for j, p := range s.globs {
			v.inside(fmt.Sprintf("%s.scope.%s[%d]", at, s.name, j), p)
		}
	}
	v.steps(at, n)
	for j, line := range n.Prompt {
		if strings.ContainsRune(line, '\n') {
			v.fail(fmt.Sprintf("%s.prompt[%d]", at, j), "is more than one line")
		}
	}
	v.when((n.Kind == Work || n.Kind == Merge) && len(n.Prompt) == 0, at, ".prompt", "is empty: the agent would have no prompt")
	v.when(n.Complexity.Level == "", at, ".complexity.level", "is empty")
	v.when(n.Digest.Work == "" || n.Digest.Judge == "", at, ".digest", "is not sealed")
}

func (v *verifier) edges(at string, n *Node) {
	for j, e := range n.After {
		here := fmt.Sprintf("%s.after[%d]", at, j)
		if _, exists := v.links.index[e.Key]; !exists {
			v.fail(here+".key", "%s is the key of no node", quote(string(e.Key)))
		}
		v.when(e.Key == n.Key, here, ".key", "the node waits for itself")
		if j == 0 {
			continue
		}
		switch before := n.After[j-1]; {
		case before.Key == e.Key && before.Type == e.Type:
			v.fail(here, "repeats the edge before it")
		case compareEdges(before, e) > 0:
			v.fail(here, "is out of order: edges are sorted by key, then by type")
		}
	}
}

func (v *verifier) merges(at string, n *Node) {
	want := BlockingKeys(n.After)
	if len(want) < 2 {
		want = nil
	}
	v.when(!slices.Equal(n.Merges, want), at, ".merges", "is not what the node waits for (two or more keys of after, type blocks, in their order)")
}

func (v *verifier) steps(at string, n *Node) {
	if _, ok := Deadline(n.Limits.Deadline); !ok && n.Limits.Deadline != "" {
		v.fail(at+".limits.deadline", "%s is neither a day nor a time with its zone", quote(n.Limits.Deadline))
	}
	if len(n.Steps) == 0 {
		v.when(n.Kind != Manual && n.Kind != GateKind, at, ".steps", "is empty")
		return
	}
	names := make(map[string]bool, len(n.Steps))
	for j, s := range lists.Each(n.Steps) {
		here := fmt.Sprintf("%s.steps[%d]", at, j)
		if names[s.Name] {
			v.fail(here+".name", "%s is also the name of a step before it", quote(s.Name))
		}
		names[s.Name] = true
		v.name(here, s.Name)
		v.agent(here+".agent", s.Agent)
		v.agents(here+".fallback", s.Fallback)
		v.agent(here+".stall.agent", s.Stall.Agent)
		v.gates(here+".gates", s.Gates)
		v.sandbox(here, s.Sandbox)
		v.when(s.Limits.Attempts < 1 && s.Agent != "", here, ".limits.attempts", "a step needs at least one attempt")
		v.when(s.Limits.Iterations < 1 && s.Agent != "", here, ".limits.iterations", "an attempt needs at least one iteration")
		v.when(s.Retry.JitterPercent > 100, here, ".retry.jitter_percent", "%d is more than 100", s.Retry.JitterPercent)
	}
	for j := range n.Steps {
		// A fail goes back, or to the step itself.
		next := n.Steps[j].Next
		if !slices.ContainsFunc(n.Steps[:j+1], func(s Step) bool { return s.Name == next }) && next != "" {
			v.fail(fmt.Sprintf("%s.steps[%d].next", at, j), "%s is neither this step nor one before it", quote(next))
		}
	}
	if w := WorkStep(n); n.Limits.StepLimits != n.Steps[w].Limits {
		v.fail(at+".limits", "differ from the limits of its work step %s", quote(n.Steps[w].Name))
	}
}

// WorkStep returns the index of the step whose limits are the node's: the
// first that may write, else the first; -1 if the node has no steps.
func WorkStep(n *Node) int {
	first := slices.IndexFunc(n.Steps, func(s Step) bool { return s.Access == "write" })
	return max(first, min(0, len(n.Steps)-1))
}

func (v *verifier) inOrder() {
	order, acyclic := v.links.order()
	if !acyclic {
		for _, c := range Cycles(v.e.Nodes) {
			v.fail(fmt.Sprintf("nodes[%d].after", v.links.index[c[0]]), "a cycle: %s", showCycle(c))
		}
		return
	}
	for i, at := range order {
		if i != at {
			v.fail(fmt.Sprintf("nodes[%d]", i), "is not in order: %s comes here", quote(string(v.e.Nodes[at].Key)))
			return
		}
	}
}

func showCycle(c []Key) string {
	shown := c[:min(len(c), 20)]
	parts := make([]string, 0, len(shown)+2)
	for _, k := range shown {
		parts = append(parts, string(k))
	}
	if len(shown) < len(c) {
		parts = append(parts, fmt.Sprintf("… %d more …", len(c)-len(shown)))
	}
	return strings.Join(append(parts, string(c[0])), " → ")
}

// highest checks that the epic's complexity is a level that one of its nodes
// has; the ranks of levels are policy, which the IR does not hold.
func (v *verifier) highest() {
	if len(v.e.Nodes) == 0 {
		return
	}
	if !slices.ContainsFunc(v.e.Nodes, func(n Node) bool { return n.Complexity.Level == v.e.Epic.Complexity }) {
		v.fail("epic.complexity", "%s is the level of no node", quote(v.e.Epic.Complexity))
	}
}
