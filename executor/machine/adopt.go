package machine

import (
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
)

// tailLost takes note of commits that the journal does not know. Their numbers
// are not given again.
func (r *Run) tailLost(b executor.TailLost) error {
	for _, o := range b.Found {
		n := r.byID[o.Node]
		if n == nil {
			if !r.runs.foreign && r.runs.begun {
				continue // of a node that is gone
			}
			n = r.addGone(o.Node)
		}
		if o.Attempt < 1 {
			return fmt.Errorf("a commit of %s has attempt %d", o.Node, o.Attempt)
		}
		if l := &n.life; !l.stale && l.attempt.status == executor.AttemptRunning && l.attempt.step == o.Step && l.attempt.number == o.Attempt && l.attempt.collected.Result.Commit == "" {
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
// work as it is now and starts where the node is now, unless it was judged
// already.
func (n *node) orphan(step, start string) (executor.Orphan, bool) {
	best, found := executor.Orphan{}, false
	for _, o := range n.orphans {
		if o.Step == step && o.Start == start && n.meant(o) && (!found || o.Attempt > best.Attempt) {
			best, found = o, true
		}
	}
	return best, found && !n.tried(best)
}

// meant reports whether a commit that was found was made for the work as it is
// now: attempts belong to their digest.work.
func (n *node) meant(o executor.Orphan) bool {
	return o.Work == "" || n.ir == nil || o.Work == n.ir.Digest.Work
}

// mergeOrphan returns the newest resolution that was found of exactly what the
// merge step merges now.
func (l *lineage) mergeOrphan(n *node) (executor.Orphan, bool) {
	inputs := n.life.aside.inputs
	best, found := executor.Orphan{}, false
	for _, o := range n.orphans {
		if o.Step == executor.MergeStep && (!found || o.Attempt > best.Attempt) && l.mergeOf(o.Merged, inputs) && !n.tried(o) {
			best, found = o, true
		}
	}
	return best, found
}

// mergeOf reports whether a commit with these parents merges the inputs: it has no
// others, and each remaining input is an ancestor of one.
func (l *lineage) mergeOf(parents []string, inputs []executor.Result) bool {
	within, like := l.ancestors(inputs)
	for _, in := range inputs {
		if !slices.Contains(parents, in.Commit) && !within[in.Commit] && like[in.Commit] == "" && in.Node != "base" {
			return false
		}
	}
	commits := commitsOf(inputs)
	return len(parents) > 1 && !slices.ContainsFunc(parents, func(p string) bool { return !slices.Contains(commits, p) })
}

// tried reports whether an attempt has begun on a commit that was found.
func (n *node) tried(o executor.Orphan) bool {
	return slices.ContainsFunc(n.logs, func(l AttemptLog) bool { return l.Rejudge && l.From == o.Result.Commit })
}
