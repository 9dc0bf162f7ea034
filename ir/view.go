package ir

import (
	"slices"
	"strings"
)

// PhaseTitle returns what the node's phase is called in the plan, "Phase 1:
// Schema", or "Phase 1" if only its id is known; "" without a phase.
func (n *Node) PhaseTitle() string {
	if n.Phase == "" {
		return ""
	}
	// The section is a path of headings that ends at the node itself; the
	// nearest that names the phase is the phase's.
	outer := strings.Split(n.Section, " > ")
	outer = outer[:len(outer)-1]
	for _, h := range slices.Backward(outer) {
		if wordIndex(h, n.Phase) >= 0 && (n.Key == "" || wordIndex(h, string(n.Key)) < 0) {
			return plainHeading(h)
		}
	}
	if len(outer) > 0 && plainHeading(outer[0]) != "" {
		return plainHeading(outer[0])
	}
	return "Phase " + n.Phase
}

func plainHeading(h string) string { return strings.TrimSpace(strings.TrimLeft(h, "#")) }

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
