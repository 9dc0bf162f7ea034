package executor

import (
	"slices"

	"github.com/ralph-compiler/ralph/ir"
)

// sumDue reports whether the results have to be joined: there are some, the run
// is about the whole epic, and they are not what was joined last, nor what a
// person has to look at.
func (r *Run) sumDue() bool {
	if r.sum == nil || len(r.started.Only) > 0 {
		return false
	}
	inputs := r.sumInputs()
	if len(inputs) == 0 || r.sumDone(inputs) != nil {
		return false
	}
	switch r.sum.status {
	case Pending, Done:
		return true
	case Blocked:
		return r.sum.life.print != fingerprint(inputs)
	case Waiting:
		return r.sum.wait.For == ForHuman && r.sum.wait.Cause != CausePaused && r.sum.life.print != fingerprint(inputs)
	}
	return false
}

// sumDone returns the record that says that these inputs are joined already.
func (r *Run) sumDone(inputs []Result) *success {
	last := r.lastSum()
	if last == nil || last.judge != r.sum.ir.Digest.Judge || r.joins() && (last.result.Commit != r.sumRef || r.others()) {
		return nil
	}
	same := slices.Equal(last.inputs, inputs)
	nothingNew := len(inputs) == 1 && inputs[0].Node == Integration && inputs[0].Commit == last.result.Commit
	if same || nothingNew {
		return last
	}
	return nil
}

func (r *Run) lastSum() *success {
	if r.sum == nil || len(r.sum.successes) == 0 {
		return nil
	}
	last := &r.sum.successes[len(r.sum.successes)-1]
	if last.seq <= r.sum.after {
		return nil
	}
	return last
}

// sumInputs is what the integration branch is made of: where it begins, and every
// result that no other one contains. It begins at the last sum, so that
// resolutions and accepted commits stay, as long as everything in that is still
// a current result or an ancestor of one; else at the base. A node that was part
// of it and is being run again keeps its old part: the branch never loses work
// by itself. It is empty when no node has a result.
func (r *Run) sumInputs() []Result {
	if !r.joins() {
		return r.landedInputs()
	}
	var all []Result
	for _, n := range r.nodes {
		switch {
		case n.sum:
		case n.accepted != nil:
			all = append(all, Result{Node: n.id, Tree: n.accepted.result})
		case n.status != Done && n.status != Skipped && n.status != Cancelled:
			if old, ok := r.sumHolds[n.id]; ok {
				all = append(all, old)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	contained := r.ancestors(all)
	seen := map[string]bool{}
	current := map[string]bool{}
	for _, x := range all {
		current[x.Commit] = true
	}
	all = slices.DeleteFunc(all, func(x Result) bool {
		gone := contained[x.Commit] || seen[x.Commit]
		seen[x.Commit] = true
		return gone
	})
	start := Result{Node: "base", Tree: r.started.Base}
	if r.accepted.Commit != "" {
		return append([]Result{{Node: Integration, Tree: r.accepted}}, all...)
	}
	if last := r.lastSum(); last != nil && r.sumBase == r.started.Base && r.sumStays(current, contained) {
		start = Result{Node: Integration, Tree: last.result}
		all = slices.DeleteFunc(all, func(x Result) bool { return r.sumHolds[x.Node].Commit == x.Commit })
	}
	return append([]Result{start}, all...)
}

// joins reports whether the sum merges results. Else they have landed one by one,
// and what is left to do is the branch's pull request.
func (r *Run) joins() bool { return r.epic.Epic.Integration.Mode == "dag" }

// landedInputs is the integration branch as it stands, once something landed.
func (r *Run) landedInputs() []Result {
	for _, n := range r.nodes {
		if n.accepted != nil && !n.sum && r.head.Commit != "" {
			return []Result{{Node: Integration, Tree: r.head}}
		}
	}
	return nil
}

// seen notes where the integration branch stands.
func (r *Run) seen(head Tree) {
	if head.Commit != "" && (head.Commit != r.head.Commit || head.Tree != "") {
		r.head, r.headAt = head, r.seq
	}
}

// others reports whether the integration branch stands where ralph did not put it.
func (r *Run) others() bool {
	return r.sumRef != "" && r.head.Commit != "" && r.head.Commit != r.sumRef
}

// sumStays reports whether all that the last sum holds is still true.
func (r *Run) sumStays(current, contained map[string]bool) bool {
	for _, x := range r.sumHolds {
		if !current[x.Commit] && !contained[x.Commit] {
			return false
		}
	}
	return true
}

// ancestors is the set of commits that the given results were made from, and of
// those given ones that are no ancestor but have exactly the files of one: a node
// ran again and came out the same, and what was made from it before is kept.
func (r *Run) ancestors(all []Result) map[string]bool {
	out := map[string]bool{}
	type files struct {
		of   ir.NodeID
		tree string
	}
	within := map[files]bool{}
	var todo []string
	for _, x := range all {
		todo = append(todo, x.Commit)
	}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, in := range r.madeFrom[c] {
			within[files{in.Node, in.Tree.Tree}] = true
			if in.Commit != c && !out[in.Commit] {
				out[in.Commit] = true
				todo = append(todo, in.Commit)
			}
		}
	}
	for _, x := range all {
		if x.Tree.Tree != "" && within[files{x.Node, x.Tree.Tree}] {
			out[x.Commit] = true
		}
	}
	return out
}

// madeOf remembers what a result was made from. A gate's result is what it
// judged, which says nothing new.
func (r *Run) madeOf(result Tree, inputs []Result) {
	if _, known := r.madeFrom[result.Commit]; known || len(inputs) == 1 && inputs[0].Commit == result.Commit {
		return
	}
	r.madeFrom[result.Commit] = inputs
}

// sumIs reports whether the last sum was judged as it would be now and holds
// exactly these files: the branch stays where it is.
func (r *Run) sumIs(t Tree) bool {
	last := r.lastSum()
	return last != nil && r.accepted.Commit == "" && !r.others() && last.judge == r.sum.ir.Digest.Judge && last.result.Tree == t.Tree && last.result.Commit == r.sumRef
}

// sumIsJudged reports whether these are the files of the last sum, judged as they
// would be now.
func (r *Run) sumIsJudged(t Tree) bool {
	last := r.lastSum()
	return last != nil && r.accepted.Commit == "" && last.judge == r.sum.ir.Digest.Judge && last.result == t
}

// sumMade records what the integration branch holds now.
func (r *Run) sumMade(s *success) {
	if s.inputs[0].Node != Integration || r.accepted.Commit != "" {
		clear(r.sumHolds)
	}
	for _, in := range s.inputs[1:] {
		r.sumHolds[in.Node] = in
	}
	r.sumBase, r.accepted = r.started.Base, Tree{}
}

// acceptForeign lets the next sum begin at what others have put on the
// integration branch; rebuildSum lets it replace that, which stays pinned.
func (r *Run) acceptForeign() { r.accepted, r.sumRef = r.foreignHead, r.foreignHead.Commit }
func (r *Run) rebuildSum()    { r.sumRef = r.foreignHead.Commit }

// sumStep is the step in which the sum is judged; the epic's conflict agent, if
// there is one, mends what the gates find.
func sumStep(epic *ir.Epic, in ir.Integration) ir.Step {
	s := ir.Step{
		Name: "integrate", Gates: in.Gates, GateMode: "parallel", Access: "read", Session: "fresh", OnFailure: "keep", Next: "integrate",
		Limits: ir.StepLimits{Attempts: 1, Iterations: 1, RunnerRetries: 5},
		Retry:  ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 300000},
	}
	if name := in.ConflictAgent; name != "" && !epic.Agents[name].Human {
		s.Agent, s.Model, s.Access, s.Limits.Attempts, s.Limits.Breaker = name, epic.Agents[name].Model, "write", mergeAttempts, 2
	}
	return s
}
