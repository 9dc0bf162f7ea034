package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// SandboxesSaid says in one sentence in what sandboxes the agents and gates of nodes ran; ""
// if none ran. all: none ran without.
func SandboxesSaid(epic *ir.Epic, nodes ...NodeView) (text string, all bool) {
	in, without := map[string]bool{}, map[string]bool{}
	asked := false // for none, in place of what the policy says
	took := func(who string, s *executor.Sandboxed) {
		if s.Confined() {
			in[fmt.Sprintf("%s (%s)", s.Name, s.Kind)] = true
			return
		}
		without[who] = true
		asked = asked || s != nil
	}
	for _, n := range nodes {
		for _, a := range n.Attempts {
			if a.Turn != "" {
				took("agent "+a.Agent, a.Sandbox)
			}
			for _, g := range a.Gates {
				if epic.Gates[g.Gate].Runs() && g.By == "" {
					took("gate "+g.Gate, g.Sandbox)
				}
			}
		}
	}
	said := "without a sandbox"
	if asked {
		said += " (--sandbox none)"
	}
	boxes := "in sandbox " + strings.Join(slices.Sorted(maps.Keys(in)), ", ")
	switch {
	case len(in) == 0 && len(without) == 0:
		return "", true
	case len(without) == 0:
		return "Agents and gates ran " + boxes + ".", true
	case len(in) == 0:
		return "Agents and gates ran " + said + ".", false
	}
	return "Agents and gates ran " + boxes + "; " + said + ": " + strings.Join(slices.Sorted(maps.Keys(without)), ", ") + ".", false
}
