package machine

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Weigh is the first half of taking a decision: it considers it, and reports whether it
// depends on the content of the node's worktree. If so the caller looks there; Decide is
// the second half. It changes nothing.
func (v Decisions) Weigh(node ir.NodeID, d executor.Decision, now time.Time) (look bool, err error) {
	if _, err := v.r.Decisions().Consider(node, d, now); err != nil {
		return false, err
	}
	return d.Verb == executor.RetryNode && d.How == executor.HowPlain && node != "" && !v.r.Decisions().Heard(d.ID) && !v.r.Node(node).GoesOnAsIs() && !v.r.wasCut(node), nil
}

// Decide is the second half of taking a decision. It considers it again, because the run
// may have continued while the worktree was read, and returns the event that records it.
// edited is the place, in words for people, where a person has worked since the last
// attempt; "" if there is none, or if Weigh did not ask. It changes nothing.
func (v Decisions) Decide(node ir.NodeID, d executor.Decision, edited string, now time.Time) (executor.Event, error) {
	bound, err := v.r.Decisions().Consider(node, d, now)
	if err != nil {
		return executor.Event{}, err
	}
	if edited != "" {
		return executor.Event{}, &executor.Refused{
			Why:  "somebody worked in its worktree (" + edited + ") since the last attempt",
			Hint: "ralph retry KEY --gates-only makes an attempt of what is there, ralph retry KEY --discard saves and resets it",
		}
	}
	return executor.Event{Node: node, Body: executor.Decided{Decision: bound}}, nil
}

// wasCut reports whether a cancelled node's agent was cut in its turn: what is in the worktree
// is its own, and is saved before the node begins again.
func (r *Run) wasCut(id ir.NodeID) bool {
	n := r.byID[id]
	if n == nil || n.status != executor.Cancelled || len(n.logs) == 0 {
		return false
	}
	last := &n.logs[len(n.logs)-1]
	return last.Status == executor.AttemptCancelled && last.Commit == "" && last.Person == ""
}
