package machine

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

func TestWhereAgentsAndGatesRanIsOneSentence(t *testing.T) {
	t.Parallel()
	box := &executor.Sandboxed{Name: "default", Kind: "namespaces"}
	strict := &executor.Sandboxed{Name: "strict", Kind: "namespaces"}
	none := &executor.Sandboxed{Name: "default", Kind: "none"}
	confined := &ir.Epic{
		Sandboxes: map[string]ir.Sandbox{"default": {Kind: "auto"}},
		Gates:     map[string]ir.Gate{"check": {Kind: "command", Sandbox: "default"}, "images": {Kind: "command"}, "approval": {Kind: "human"}},
	}
	open := &ir.Epic{Gates: confined.Gates}
	ran := func(agent *executor.Sandboxed, gates ...executor.GateJudged) NodeView {
		return NodeView{ID: "a", Attempts: []AttemptLog{{Step: "implement", Turn: "agent-1", Agent: "dev", Sandbox: agent, Gates: gates}}}
	}
	gate := func(name string, s *executor.Sandboxed) executor.GateJudged {
		return executor.GateJudged{Gate: name, Sandbox: s}
	}
	for want, c := range map[string]struct {
		epic  *ir.Epic
		nodes []NodeView
	}{
		"": {confined, []NodeView{{ID: "a"}}},
		"Agents and gates ran in sandbox default (namespaces).":                                                {confined, []NodeView{ran(box, gate("check", box), gate("approval", nil))}},
		"Agents and gates ran in sandbox default (namespaces), strict (namespaces).":                           {confined, []NodeView{ran(box), ran(strict)}},
		"Agents and gates ran in sandbox default (namespaces); without a sandbox: gate images.":                {confined, []NodeView{ran(box, gate("images", nil))}},
		"Agents and gates ran without a sandbox (--sandbox none).":                                             {confined, []NodeView{ran(none, gate("check", none))}},
		"Agents and gates ran in sandbox default (namespaces); without a sandbox (--sandbox none): agent dev.": {confined, []NodeView{ran(none, gate("check", box))}},
		"Agents and gates ran without a sandbox.":                                                              {open, []NodeView{ran(nil, gate("images", nil))}},
	} {
		if got, all := SandboxesSaid(c.epic, c.nodes...); got != want || all == strings.Contains(want, "without") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
