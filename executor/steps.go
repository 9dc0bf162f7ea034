package executor

import "github.com/ralph-compiler/ralph/ir"

// Step returns the step of a node by its name: one of the epic, or one that the
// machine makes up while it runs, such as "merge" or the sum's. It returns nil if
// there is none. It must not be changed.
func (r *Run) Step(id ir.NodeID, name string) *ir.Step {
	n := r.byID[id]
	if n == nil || n.ir == nil {
		return nil
	}
	if i := n.stepIndex(name); i >= 0 {
		return &n.ir.Steps[i]
	}
	return nil
}
