package machine

import "github.com/ralph-compiler/ralph/ir"

// rules is the epic as the machine asks it about gates, agents and steps. Its methods
// know the epic and the node that they are given, and nothing else of the run.
type rules struct {
	epic    *ir.Epic
	plans   string            // Epic.Plans
	digests map[string]string // of gates, computed when first needed
}
