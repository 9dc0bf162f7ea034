package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// Refuse names, all at once and before anything starts, everything the epic requires that
// this version of ralph does not support. Nothing is silently ignored.
func Refuse(epic *ir.Epic) error {
	l := &refusals{seen: map[string]int{}}
	in := epic.Epic.Integration
	l.gates(epic, executor.Integration, in.Gates)
	l.runner(epic, executor.Integration, in.ConflictAgent)
	run := epic.Run
	if run.Worktree.Submodules {
		l.at("", "submodules (worktree { submodules = true })")
	}
	for i := range epic.Nodes {
		if !epic.Nodes[i].Done {
			l.node(epic, &epic.Nodes[i])
		}
	}
	for _, name := range inUse(epic) {
		l.sandbox("", name, epic.Sandboxes[name].Kind)
	}
	for _, what := range project.Unrunnable(epic) {
		l.at("", what)
	}
	if len(l.list) == 0 {
		return nil
	}
	return exit.Unstartedf("this epic needs what ralph apply cannot do yet:\n%s", strings.TrimSuffix(l.text(), "\n"))
}

type refusals struct {
	list []string
	seen map[string]int // index in list, by text
	keys [][]ir.Key
}

// at adds what is refused, of a sprint; "" is the epic.
func (l *refusals) at(key ir.Key, what string) {
	i, known := l.seen[what]
	if !known {
		i = len(l.list)
		l.seen[what] = i
		l.list = append(l.list, what)
		l.keys = append(l.keys, nil)
	}
	if key != "" && !slices.Contains(l.keys[i], key) {
		l.keys[i] = append(l.keys[i], key)
	}
}

func (l *refusals) text() string {
	var b strings.Builder
	for i, what := range l.list {
		fmt.Fprintf(&b, "  - %s", what)
		if k := l.keys[i]; len(k) > 0 {
			fmt.Fprintf(&b, ": %s", words.ListOf(lists.Map(k, func(key ir.Key) string { return string(key) })))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (l *refusals) node(epic *ir.Epic, n *ir.Node) {
	for s := range lists.Refs(n.Steps) {
		l.gates(epic, n.Key, s.Gates)
		c := epic.StepConfined(s, false)
		l.sandbox(n.Key, c.Name, c.Sandbox.Kind)
		if n.Kind == ir.GateKind || n.Kind == ir.Manual || s.Agent == "" {
			continue
		}
		l.runner(epic, n.Key, s.Agent)
		for _, name := range s.Fallback {
			l.runner(epic, n.Key, name)
		}
		if s.Stall.Action == "diagnose" {
			l.runner(epic, n.Key, s.Stall.Agent)
		}
	}
}

// Makes reports whether this version of ralph makes sandboxes of a kind, where the machine
// allows it. None is made of the kind none.
func Makes(kind string) bool {
	return kind == "auto" || kind == string(wall.None) || kind == string(wall.Landlock) || slices.Contains(wall.Confining, wall.Kind(kind))
}

// sandbox refuses one that this ralph cannot make; "" is none.
func (l *refusals) sandbox(key ir.Key, name, kind string) {
	if name != "" && !Makes(kind) {
		l.at(key, fmt.Sprintf("sandbox %q of kind %s: write kind = \"auto\"", name, kind))
	}
}

// runner refuses an agent that this ralph cannot run.
func (l *refusals) runner(epic *ir.Epic, key ir.Key, name string) {
	agent := epic.Agents[name]
	if kind := epic.Runners[agent.Runner].Kind; name != "" && !agent.Human && !slices.Contains(RunnerKinds, kind) {
		l.at(key, fmt.Sprintf("runner kind %q (agent %q; there are %s)", kind, name, strings.Join(RunnerKinds, ", ")))
	}
}

// gates refuses gates whose agent this ralph cannot run.
func (l *refusals) gates(epic *ir.Epic, key ir.Key, names []string) {
	for _, name := range names {
		if g := epic.Gates[name]; g.Kind == "agent" || g.Kind == "review" {
			l.runner(epic, key, g.Agent)
		}
	}
}
