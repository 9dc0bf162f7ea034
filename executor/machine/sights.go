package machine

import "github.com/ralph-compiler/ralph/ir"

// What others ask a Run is in types by who asks; each reads the run as it is when
// it is asked, and none changes it.
type (
	// Node is what is on record of one node.
	Node struct {
		r  *Run
		id ir.NodeID
	}
	// Summary is what is on record of the epic as a whole.
	Summary struct{ r *Run }
	// Decisions says what people may decide now.
	Decisions struct{ r *Run }
	// Bases are the pinned commits that nodes start from, and what a preflight found there.
	Bases struct{ r *Run }
	// Integration is the branch on which results are joined.
	Integration struct{ r *Run }
	// Watch is what is on record of changes that others made to refs and settings.
	Watch struct{ r *Run }
)

// Node returns the view of one node; it is empty for a node that is not on record.
func (r *Run) Node(id ir.NodeID) Node { return Node{r, id} }

// Summary returns the view of the epic as a whole.
func (r *Run) Summary() Summary { return Summary{r} }

// Decisions returns the view of what people may decide.
func (r *Run) Decisions() Decisions { return Decisions{r} }

// Bases returns the view of the pinned bases.
func (r *Run) Bases() Bases { return Bases{r} }

// Integration returns the view of the integration branch.
func (r *Run) Integration() Integration { return Integration{r} }

// Watch returns the view of changes by others.
func (r *Run) Watch() Watch { return Watch{r} }
