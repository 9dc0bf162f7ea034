package ir

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// StepIndex is the place of a step, -1 if the node has none of this name.
func (n *Node) StepIndex(name string) int {
	for i := range n.Steps {
		if n.Steps[i].Name == name {
			return i
		}
	}
	return -1
}

// Step is the step of a name, nil if the node has none. It is the node's own.
func (n *Node) Step(name string) *Step {
	return lists.Find(n.Steps, func(s *Step) bool { return s.Name == name })
}

// PhaseTitle returns the title of the node's phase in the plan, "Phase 1:
// Schema", or "Phase 1" if only its id is known; "" without a phase.
func (n *Node) PhaseTitle() string {
	if n.Phase == "" {
		return ""
	}
	// The section is a path of headings that ends at the node itself; the
	// nearest that names the phase is the phase's. In a list the item above is it.
	path, own, _ := cutLast(n.Section, listMark)
	if own != "" {
		if _, group, found := cutLast(path, listMark); found {
			return group
		}
		if group, is := strings.CutPrefix(path, "- "); is {
			return group
		}
	}
	outer := strings.Split(n.Section, " > ")
	last := outer[len(outer)-1]
	outer = outer[:len(outer)-1]
	for _, h := range slices.Backward(outer) {
		if wordIndex(h, n.Phase) >= 0 && (n.Key == "" || wordIndex(h, string(n.Key)) < 0) {
			return plainHeading(h)
		}
	}
	if leads, is := strings.CutPrefix(last, "- "); is && string(n.Key) == n.Phase {
		return leads
	}
	if len(outer) > 0 && plainHeading(outer[0]) != "" {
		return plainHeading(outer[0])
	}
	return "Phase " + n.Phase
}

// PhaseTitles returns the titles of e's phases, by id. Where several phases share a
// title, because they are below the same heading, their ids are added to it.
func (e *Epic) PhaseTitles() map[string]string {
	out, called := map[string]string{}, map[string]int{}
	for _, n := range lists.Each(e.Nodes) {
		if _, known := out[n.Phase]; !known {
			out[n.Phase] = n.PhaseTitle()
			called[out[n.Phase]]++
		}
	}
	for id, title := range out {
		if called[title] > 1 {
			out[id] = title + " · " + id
		}
	}
	return out
}

// listMark is in a path before an item of a list.
const listMark = " > - "

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
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
