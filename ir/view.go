package ir

import "strings"

// PhaseTitle returns what the node's phase is called in the plan, "Phase 1:
// Schema", or "Phase 1" if only its id is known; "" without a phase.
func (n *Node) PhaseTitle() string {
	if n.Phase == "" {
		return ""
	}
	outer, _, nested := strings.Cut(n.Section, " > ")
	if outer = strings.TrimSpace(strings.TrimLeft(outer, "#")); nested && outer != "" {
		return outer
	}
	return "Phase " + n.Phase
}

// HumanGates returns the names of the gates of n that a person decides, in the
// order of its steps.
func (e *Epic) HumanGates(n *Node) []string {
	var out []string
	for i := range n.Steps {
		for _, g := range n.Steps[i].Gates {
			if e.Gates[g].Kind == "human" {
				out = append(out, g)
			}
		}
	}
	return out
}
