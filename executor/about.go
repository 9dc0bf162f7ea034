package executor

import (
	"fmt"

	"github.com/ralph-compiler/ralph/ir"
)

// Bind is a decision for a letter: it says what its sender sees, so that it does not
// count for what came in between. The error is a *Refused if it does not apply.
func (r *Run) Bind(id ir.NodeID, d Decision) (Decision, error) {
	bound, _, err := r.consider(id, d)
	if err != nil {
		return d, err
	}
	bound.About = r.about(id, d.Verb)
	return bound, nil
}

// about is what a decision is about: the text of a node and, where the decision ends
// a wait or begins something again, where the node stands.
func (r *Run) about(id ir.NodeID, v Verb) string {
	n := r.byID[id]
	if n == nil || n.ir == nil {
		return ""
	}
	text := fmt.Sprintf("the text %.12s", n.ir.Digest.Work)
	switch v {
	case Skip, Cancel, Pause:
		return text
	case Resume:
		if n.status != Waiting {
			return text
		}
	case Approve, Reject, RetryNode:
	}
	out := r.standing(n)
	if n.wait.Gate != "" && n.status == Waiting {
		out += ", gate " + n.wait.Gate
	}
	if k := len(n.logs); k > 0 {
		out += fmt.Sprintf(", %s #%d after %d turns", n.logs[k-1].Step, n.logs[k-1].Number, n.logs[k-1].Turns)
	}
	return out + ", " + text
}

// stillAbout refuses a letter whose node stands elsewhere by now.
func (r *Run) stillAbout(id ir.NodeID, d Decision) error {
	if d.About == "" {
		return nil
	}
	now := r.about(id, d.Verb)
	if now == d.About {
		return nil
	}
	n := r.byID[id]
	if n == nil || n.ir == nil {
		return nil // consider says so
	}
	return r.refuse(n, "the decision was made when it was %s, and now it is %s", d.About, now)
}
