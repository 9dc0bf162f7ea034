package machine

import (
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// sumNext is what the sum needs when nothing else goes on: to be made, or to wait
// for a person, because what the branch holds would be lost by a failure.
func (r *Run) sumNext() []executor.Event {
	inputs, due := r.sumDue()
	if !due {
		return nil
	}
	n := r.sum
	if !r.wouldLose() {
		return n.starts(inputs)
	}
	loses := r.loses()
	named := commitsOf(loses)
	if n.waitsFor(executor.CauseOlder) && slices.Equal(n.wait.Loses, named) {
		return nil
	}
	return []executor.Event{n.event(executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseOlder, Detail: r.losesText(loses), Loses: named})}
}

// sumDue reports whether the results have to be joined, and of what: the run is
// about the whole epic, and they are not what was joined last, nor what a person
// has to look at.
func (r *Run) sumDue() ([]executor.Result, bool) {
	if r.sum == nil || len(r.started.Only) > 0 {
		return nil, false
	}
	inputs := r.sumInputs()
	if len(inputs) == 0 || r.sumDone(inputs) != nil {
		return nil, false
	}
	switch r.sum.status {
	case executor.Pending, executor.Done:
		return inputs, true
	case executor.Blocked:
		return inputs, r.sum.life.print != fingerprint(inputs)
	case executor.Waiting:
		w := &r.sum.wait
		return inputs, w.For == executor.ForHuman && w.Cause != executor.CausePaused && (w.Cause == executor.CauseOlder || r.sum.life.print != fingerprint(inputs))
	}
	return nil, false
}

// sumDone returns the record that says that these inputs are joined already.
func (r *Run) sumDone(inputs []executor.Result) *success {
	last := r.lastSum()
	if last == nil || last.judge != r.sum.ir.Digest.Judge || r.joins() && (last.result.Commit != r.sumRef || r.others()) {
		return nil
	}
	same := slices.Equal(last.inputs, inputs)
	nothingNew := len(inputs) == 1 && inputs[0].Node == executor.Integration && inputs[0].Commit == last.result.Commit
	if same || nothingNew {
		return last
	}
	return nil
}

func (r *Run) lastSum() *success {
	if r.sum == nil {
		return nil
	}
	for i := len(r.sum.successes) - 1; i >= 0; i-- {
		s := &r.sum.successes[i]
		if s.seq <= r.sum.after {
			return nil
		}
		if !s.pullOnly || !r.joins() {
			return s
		}
	}
	return nil
}

// sumInputs is what the integration branch is made of: where it begins, and every
// result that no other one contains. It begins at the last sum, so that
// resolutions and accepted commits stay, as long as everything in that is still
// a current result or an ancestor of one; else at the base, which is all there is
// when no node has a result. It is empty when there is no branch either.
func (r *Run) sumInputs() []executor.Result {
	if !r.joins() {
		return r.landedInputs()
	}
	var all []executor.Result
	for _, n := range r.nodes {
		if n.accepted != nil && !n.sum {
			all = append(all, executor.Result{Node: n.id, Tree: n.accepted.result})
		}
	}
	if len(all) == 0 && (r.sumRef == "" || r.sumInBase()) {
		return nil
	}
	base := executor.Result{Node: "base", Tree: r.started.Base}
	contained, like := r.ancestors(all)
	seen, current := make(map[string]bool, len(all)), make(map[string]bool, len(all))
	var parts, same []executor.Result
	for _, x := range all {
		current[x.Commit] = true
		switch old := like[x.Commit]; {
		case contained[x.Commit] || seen[x.Commit]:
		case old != "":
			x.Same = old
			same = append(same, x)
		default:
			parts = append(parts, x)
		}
		seen[x.Commit] = true
	}
	parts = append(parts, same...) // behind what holds the same
	if r.accepted.Commit != "" {
		return append([]executor.Result{{Node: executor.Integration, Tree: r.accepted}}, parts...)
	}
	last := r.lastSum()
	if last == nil || r.rebuild && r.sumUnder != nil || r.sumBase != r.started.Base || !r.sumStays(current, contained) {
		return append([]executor.Result{base}, parts...)
	}
	parts = slices.DeleteFunc(parts, func(x executor.Result) bool { return r.sumHolds[x.Node].Commit == x.Commit })
	return append([]executor.Result{{Node: executor.Integration, Tree: last.result}}, parts...)
}

// sumInBase reports whether all that the last sum was made of is done by the base:
// who merged the branch has it, and nothing has to leave it.
func (r *Run) sumInBase() bool {
	for id := range inOrder(r.sumHolds) {
		if n := r.byID[id]; n.ir == nil || n.status != executor.Done || !n.byBase {
			return false
		}
	}
	return len(r.sumHolds) > 0
}

// joins reports whether the sum merges results. Else they have landed one by one,
// and what is left to do is the branch's pull request.
func (r *Run) joins() bool { return r.epic.Epic.Integration.Mode == "dag" }

// landedInputs is the integration branch as it stands, once something landed.
func (r *Run) landedInputs() []executor.Result {
	for _, n := range r.nodes {
		if n.accepted != nil && !n.sum && r.head.Commit != "" {
			return []executor.Result{{Node: executor.Integration, Tree: r.head}}
		}
	}
	return nil
}

// sumStays reports whether all that the last sum holds is still true.
func (r *Run) sumStays(current, contained map[string]bool) bool {
	for _, x := range inOrder(r.sumHolds) {
		if !current[x.Commit] && !contained[x.Commit] {
			return false
		}
	}
	return true
}

// ancestors is the set of commits that the given results were made from; like
// names, of each given one that is none of them, such a commit of the same node
// with exactly its files: it ran again and came out the same, and what was made
// from it before is kept.
func (r *Run) ancestors(all []executor.Result) (contained map[string]bool, like map[string]string) {
	contained, like = make(map[string]bool, len(all)), map[string]string{}
	type files struct {
		of   ir.NodeID
		tree string
	}
	within := make(map[files]string, len(all))
	todo := make([]string, 0, len(all))
	for _, x := range all {
		todo = append(todo, x.Commit)
	}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, in := range r.madeFrom[c] {
			within[files{in.Node, in.Tree.Tree}] = in.Commit
			if in.Commit != c && !contained[in.Commit] {
				contained[in.Commit] = true
				todo = append(todo, in.Commit)
			}
		}
	}
	for _, x := range all {
		if old := within[files{x.Node, x.Tree.Tree}]; x.Tree.Tree != "" && old != "" && !contained[x.Commit] {
			like[x.Commit] = old
		}
	}
	return contained, like
}

// madeOf remembers what a result was made from. A gate's result is what it
// judged, which says nothing new.
func (r *Run) madeOf(result executor.Tree, inputs []executor.Result) {
	if _, known := r.madeFrom[result.Commit]; known || len(inputs) == 1 && inputs[0].Commit == result.Commit {
		return
	}
	r.madeFrom[result.Commit] = inputs
}

// sumIsJudged reports whether the gates passed exactly these files before, as the
// last sum, and would judge as they did then.
func (r *Run) sumIsJudged(t executor.Tree) bool {
	last := r.lastSum()
	return last != nil && r.accepted.Commit == "" && last.judge == r.sum.ir.Digest.Judge && last.result.Tree == t.Tree
}

// sumMade records what the integration branch holds now, and what has left it.
func (r *Run) sumMade(s, last *success) {
	before := r.sumPut.before
	switch start := s.inputs[0]; {
	case start.Node != executor.Integration:
		clear(r.sumHolds)
		r.sumUnder = nil
		r.leftOthers, r.sumOthers = slices.Concat(r.acceptedOthers(), r.asideOthers), nil
	case last == nil || start.Commit == r.accepted.Commit || start.Commit != last.result.Commit: // what is under the accepted commits stays, whoever needs it
		r.sumUnder = append([]string{}, slices.Sorted(maps.Keys(before))...)
		clear(r.sumHolds)
		r.leftOthers, r.sumOthers = nil, r.acceptedOthers()
	default:
		r.leftOthers = slices.Concat(r.newOthers, r.asideOthers)
	}
	r.leftOthers = slices.DeleteFunc(r.leftOthers, func(c string) bool { return slices.Contains(r.baseOthers, c) })
	r.newOthers, r.asideOthers = nil, nil
	for _, in := range s.inputs[1:] {
		in.Same = ""
		r.sumHolds[in.Node] = in
	}
	r.sumBase, r.accepted, r.rebuild, r.mayLose, r.sumPut, r.sumTold = r.started.Base, executor.Tree{}, false, nil, nil, nil
	r.sumLeft = r.gone(before, r.inBranch())
}

// sumMoved is told where the branch stands now.
func (r *Run) sumMoved(n *node, b executor.Published) {
	r.putAt(n.life.inputs)
	r.sumRef, r.sumMeant, r.sumPinned = b.Result.Commit, "", b.Pinned
	r.seen(b.Result)
}

// empty reports whether the sum has no parts: the branch goes back to the base.
func (r *Run) empty(n *node) bool {
	return r.joins() && len(n.life.inputs) == 1 && n.life.inputs[0].Node == "base"
}

const sumStepName = "integrate"

// sumStep is the step in which the sum is judged; the epic's conflict agent, if
// there is one, mends what the gates find.
func sumStep(epic *ir.Epic, in ir.Integration) ir.Step {
	s := ir.Step{
		Name: sumStepName, Gates: in.Gates, GateMode: "parallel", Access: "read", Session: "fresh", OnFailure: "keep", Next: sumStepName,
		Limits: ir.StepLimits{Attempts: 1, Iterations: 1, RunnerRetries: 5},
		Retry:  ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 300000},
	}
	if name := in.ConflictAgent; name != "" && !epic.Agents[name].Human {
		s.Agent, s.Model, s.Access, s.Limits.Attempts, s.Limits.Breaker = name, epic.Agents[name].Model, "write", mergeAttempts, 2
	}
	return s
}
