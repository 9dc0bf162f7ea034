package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// refuse names, all at once and before anything starts, what the epic asks for
// and this ralph cannot do yet. Nothing is ignored in silence.
func refuse(epic *ir.Epic) error {
	l := &refusals{seen: map[string]int{}}
	in := epic.Epic.Integration
	if in.Mode != "dag" {
		l.add("integration mode %q (only dag)", in.Mode)
	}
	if in.PR != "none" && in.PR != "" {
		l.add("pull requests (pr = %q)", in.PR)
	}
	l.gates(epic, "the integration", in.Gates)
	run := epic.Run
	if run.Tracker != nil {
		l.add("a tracker (%s)", run.Tracker.Kind)
	}
	if run.Worktree.Layout == "clone" || run.Worktree.Submodules {
		l.add("worktree layout clone and submodules")
	}
	for i := range epic.Nodes {
		if !epic.Nodes[i].Done {
			l.node(epic, &epic.Nodes[i])
		}
	}
	for _, what := range unrunnable(epic) {
		l.add("%s", what)
	}
	if len(l.list) == 0 {
		return nil
	}
	return inputErrorf("this epic asks for what ralph apply cannot do yet:\n%s  Nothing was started.", l.text())
}

// unused says what apply does not use yet and can do without.
func unused(epic *ir.Epic) string {
	for i := range epic.Nodes {
		for j := range epic.Nodes[i].Steps {
			if len(epic.Nodes[i].Steps[j].Fallback) > 0 {
				return "note: fallback agents are not used yet; a step whose runner fails waits for you\n"
			}
		}
	}
	return ""
}

type refusals struct {
	list []string
	seen map[string]int // index in list, by text
	keys [][]ir.Key
}

func (l *refusals) add(format string, args ...any) { l.at("", format, args...) }

func (l *refusals) at(key ir.Key, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
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
			names := make([]string, 0, len(k))
			for _, key := range k[:min(len(k), 8)] {
				names = append(names, string(key))
			}
			fmt.Fprintf(&b, ": %s", strings.Join(names, ", "))
			if len(k) > 8 {
				fmt.Fprintf(&b, " and %d more", len(k)-8)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (l *refusals) node(epic *ir.Epic, n *ir.Node) {
	for i := range n.Steps {
		s := &n.Steps[i]
		l.gatesAt(epic, n.Key, s.Gates)
		if kind := epic.Sandboxes[s.Sandbox].Kind; s.Sandbox != "" && s.Sandbox != "none" && kind != "none" {
			l.at(n.Key, "sandbox %q", s.Sandbox)
		}
		if s.Stall.Action == "diagnose" {
			l.at(n.Key, "stall action diagnose")
		}
		if s.Session == "resume" {
			l.at(n.Key, "sessions that are resumed")
		}
		if n.Kind == ir.GateKind || n.Kind == ir.Manual || s.Agent == "" {
			continue
		}
		agent := epic.Agents[s.Agent]
		r := epic.Runners[agent.Runner]
		if !l.runner(epic, n.Key, s.Agent) {
			continue
		}
		if r.LimitedWhen != nil {
			l.at(n.Key, "limited_when (runner %q)", agent.Runner)
		}
		if r.RPM > 0 {
			l.at(n.Key, "limits.rpm (runner %q)", agent.Runner)
		}
	}
}

// runner refuses an agent that this ralph cannot run, and reports whether it can.
func (l *refusals) runner(epic *ir.Epic, key ir.Key, name string) bool {
	agent := epic.Agents[name]
	kind := epic.Runners[agent.Runner].Kind
	if agent.Human || kind == "command" {
		return true
	}
	l.at(key, "runner kind %q (agent %q; only command)", kind, name)
	return false
}

func (l *refusals) gates(epic *ir.Epic, of string, names []string) {
	for _, name := range names {
		if k := epic.Gates[name].Kind; k == "human" {
			l.add("gate kind %q (gate %q of %s)", k, name, of)
		}
	}
}

func (l *refusals) gatesAt(epic *ir.Epic, key ir.Key, names []string) {
	for _, name := range names {
		g := epic.Gates[name]
		switch {
		case g.Kind == "human":
			l.at(key, "gate kind %q (gate %q)", g.Kind, name)
		case g.Kind == "agent", g.Kind == "review":
			l.runner(epic, key, g.Agent)
		case g.RedFirst:
			l.at(key, "red_first (gate %q)", name)
		case g.Evidence:
			l.at(key, "evidence (gate %q)", name)
		}
	}
}
