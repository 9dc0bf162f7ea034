package executor

import "fmt"

// tailLost takes note of commits that the journal does not know. Their numbers
// are not given again.
func (r *Run) tailLost(b TailLost) error {
	for _, o := range b.Found {
		n := r.byID[o.Node]
		if n == nil {
			if !r.foreign && r.begun {
				continue // of a node that is gone
			}
			n = &node{id: o.Node, index: -1, numbers: map[string]int{}}
			r.byID[o.Node] = n
		}
		if o.Attempt < 1 {
			return fmt.Errorf("a commit of %s has attempt %d", o.Node, o.Attempt)
		}
		if l := &n.life; !l.stale && l.attempt.status == AttemptRunning && l.attempt.step == o.Step && l.attempt.number == o.Attempt && l.attempt.collected.Result.Commit == "" {
			l.lost = len(o.Problems) == 0
		}
		n.numbers[o.Step] = max(n.numbers[o.Step], o.Attempt)
		if len(o.Problems) == 0 { // else it would be judged without them
			n.orphans = append(n.orphans, o)
		}
	}
	return nil
}

// orphan returns the newest commit that was found for a step, was made for the
// work as it is now and starts where the node stands now, unless it was judged
// already.
func (n *node) orphan(step, start string) (Orphan, bool) {
	best, found := Orphan{}, false
	for _, o := range n.orphans {
		if o.Step == step && o.Start == start && n.meant(o) && (!found || o.Attempt > best.Attempt) {
			best, found = o, true
		}
	}
	return best, found && !n.tried(best)
}

// meant reports whether a commit that was found was made for the work as it is
// now: attempts belong to their digest.work.
func (n *node) meant(o Orphan) bool {
	return o.Work == "" || n.ir == nil || o.Work == n.ir.Digest.Work
}

// tried reports whether an attempt has begun on a commit that was found.
func (n *node) tried(o Orphan) bool {
	for i := range n.logs {
		if n.logs[i].Rejudge && n.logs[i].From == o.Result.Commit {
			return true
		}
	}
	return false
}
