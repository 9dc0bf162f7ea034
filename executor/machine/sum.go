package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// sum is the integration branch of mode dag: the node that joins all results, where the
// branch is, and what it is made of.
type sum struct {
	*graph
	*clock
	runs    *runs
	landing *landing
	lineage *lineage
	node    *node // nil where results are not joined (mode other than dag)

	ref     string                        // where ralph last put the branch
	meant   string                        // where it was about to
	meantOf []executor.Result             // and of what
	put     *put                          // it did, and that is not on record as made yet
	holds   map[ir.NodeID]executor.Result // what it was made of
	under   []string                      // commits of results, and of the base, under others' commits that were accepted; nil: there are none of others
	base    executor.Tree                 // and on which base
	rebuild bool                          // a person said: of what is done now, without what others put there
	mayLose map[string]bool               // and without these that were named, by commit
	left    []executor.Result             // what the last sum of this run took out
	pinned  string                        // ref that keeps what was there before

	oldOthers   []string // heads of others' commits in the last sum, which were accepted
	newOthers   []string // and of those that were accepted since
	asideOthers []string // and of those that a person set aside since
	baseOthers  []string // those that the pinned base holds
	leftOthers  []string // those that the last sum of this run took out

	foreignHead executor.Tree   // where others have put it
	foreignIs   foreignBranch   // and what that is
	told        map[string]bool // what git found in it, when a person decided about that; nil: it goes on from what ralph put there
	accepted    executor.Tree   // these, when a person accepted them
}

// next is what the sum needs when nothing else goes on: to be made, or to wait
// for a person, because what the branch holds would be lost by a failure.
func (sm *sum) next() []executor.Event {
	inputs, due := sm.due()
	if !due {
		return nil
	}
	n := sm.node
	if !sm.wouldLose() {
		return []executor.Event{n.starts(inputs)}
	}
	loses := sm.loses()
	named := commitsOf(loses)
	if n.waitsFor(executor.CauseOlder) && slices.Equal(n.wait.Loses, named) {
		return nil
	}
	return []executor.Event{n.event(executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseOlder, Detail: sm.losesText(loses), Loses: named})}
}

// due reports whether the results have to be joined, and of what: the run is
// about the whole epic, and they are not what was joined last, nor what a person
// has to look at.
func (sm *sum) due() ([]executor.Result, bool) {
	if sm.node == nil || len(sm.runs.started.Only) > 0 {
		return nil, false
	}
	inputs := sm.inputs()
	if len(inputs) == 0 || sm.doneWith(inputs) != nil {
		return nil, false
	}
	switch sm.node.status {
	case executor.Pending, executor.Done:
		return inputs, true
	case executor.Blocked:
		return inputs, sm.node.life.print != fingerprint(inputs)
	case executor.Waiting:
		w := &sm.node.wait
		return inputs, w.For == executor.ForHuman && w.Cause != executor.CausePaused && (w.Cause == executor.CauseOlder || sm.node.life.print != fingerprint(inputs))
	}
	return nil, false
}

// doneWith returns the record that says that these inputs are joined already.
func (sm *sum) doneWith(inputs []executor.Result) *success {
	last := sm.last()
	if last == nil || last.judge != sm.node.ir.Digest.Judge || sm.joins() && (last.result.Commit != sm.ref || sm.others()) {
		return nil
	}
	same := slices.Equal(last.inputs, inputs)
	nothingNew := len(inputs) == 1 && inputs[0].Node == executor.Integration && inputs[0].Commit == last.result.Commit
	if same || nothingNew {
		return last
	}
	return nil
}

func (sm *sum) last() *success {
	if sm.node == nil {
		return nil
	}
	return newest(sm.node.successes, func(s *success) bool { return s.seq > sm.node.after && (!s.pullOnly || !sm.joins()) })
}

// inputs is what the integration branch is made of: where it begins, and every
// result that no other one contains. It begins at the last sum, so that
// resolutions and accepted commits stay, as long as everything in that is still
// a current result or an ancestor of one; else at the base, which is all there is
// when no node has a result. It is empty when there is no branch either.
func (sm *sum) inputs() []executor.Result {
	if !sm.joins() {
		return sm.landing.inputs()
	}
	all := sm.present()
	if len(all) == 0 && (sm.ref == "" || sm.inBase()) {
		return nil
	}
	base := executor.Result{Node: "base", Tree: sm.runs.started.Base}
	contained, like := sm.lineage.ancestors(all)
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
	if sm.accepted.Commit != "" {
		return append([]executor.Result{{Node: executor.Integration, Tree: sm.accepted}}, parts...)
	}
	last := sm.last()
	if last == nil || sm.rebuild && sm.under != nil || sm.base != sm.runs.started.Base || !sm.stays(current, contained) {
		return append([]executor.Result{base}, parts...)
	}
	parts = slices.DeleteFunc(parts, func(x executor.Result) bool { return sm.holds[x.Node].Commit == x.Commit })
	return append([]executor.Result{{Node: executor.Integration, Tree: last.result}}, parts...)
}

// inBase reports whether all that the last sum was made of is done by the base:
// who merged the branch has it, and nothing has to leave it.
func (sm *sum) inBase() bool {
	for id := range inOrder(sm.holds) {
		if n := sm.byID[id]; n.ir == nil || n.status != executor.Done || !n.byBase {
			return false
		}
	}
	return len(sm.holds) > 0
}

// joins reports whether the sum merges results. Else they have landed one by one,
// and what is left to do is the branch's pull request.
func (r *rules) joins() bool { return r.epic.Epic.Integration.Mode == "dag" }

// inputs is the integration branch as it is, once something landed.
func (ld *landing) inputs() []executor.Result {
	for _, n := range ld.nodes {
		if n.accepted != nil && !n.sum && ld.head.Commit != "" {
			return []executor.Result{{Node: executor.Integration, Tree: ld.head}}
		}
	}
	return nil
}

// stays reports whether all that the last sum holds is still true.
func (sm *sum) stays(current, contained map[string]bool) bool {
	for _, x := range inOrder(sm.holds) {
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
func (l *lineage) ancestors(all []executor.Result) (contained map[string]bool, like map[string]string) {
	contained, like = make(map[string]bool, len(all)), map[string]string{}
	type files struct {
		of   ir.NodeID
		tree string
	}
	within := make(map[files]string, len(all))
	todo := commitsOf(all)
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, in := range l.madeFrom[c] {
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
func (l *lineage) madeOf(result executor.Tree, inputs []executor.Result) {
	if _, known := l.madeFrom[result.Commit]; known || len(inputs) == 1 && inputs[0].Commit == result.Commit {
		return
	}
	l.madeFrom[result.Commit] = inputs
}

// isJudged reports whether the gates passed exactly these files before, as the
// last sum, and would judge as they did then.
func (sm *sum) isJudged(t executor.Tree) bool {
	last := sm.last()
	return last != nil && sm.accepted.Commit == "" && last.judge == sm.node.ir.Digest.Judge && last.result.Tree == t.Tree &&
		(last.asked == "" || last.asked == sm.asked()) // "": all of them, or an earlier release does not say
}

// asked digests the gates that judge what is joined now; "" if none of the sum's is spared.
func (sm *sum) asked() string {
	s := &sm.node.ir.Steps[0]
	spared, h := false, sha256.New()
	for i, g := range sm.gateStates(sm.node, s) {
		if spared = spared || g.spared; !g.spared {
			fmt.Fprintln(h, s.Gates[i])
		}
	}
	if !spared {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// made records what the integration branch holds now, and what has left it.
func (sm *sum) made(s, last *success) {
	before := sm.put.before
	switch start := s.inputs[0]; {
	case start.Node != executor.Integration:
		clear(sm.holds)
		sm.under = nil
		sm.leftOthers, sm.oldOthers = slices.Concat(sm.acceptedOthers(), sm.asideOthers), nil
	case last == nil || start.Commit == sm.accepted.Commit || start.Commit != last.result.Commit: // what is under the accepted commits stays anyway
		sm.under = append([]string{}, slices.Sorted(maps.Keys(before))...)
		clear(sm.holds)
		sm.leftOthers, sm.oldOthers = nil, sm.acceptedOthers()
	default:
		sm.leftOthers = slices.Concat(sm.newOthers, sm.asideOthers)
	}
	sm.leftOthers = slices.DeleteFunc(sm.leftOthers, func(c string) bool { return slices.Contains(sm.baseOthers, c) })
	sm.newOthers, sm.asideOthers = nil, nil
	for _, in := range s.inputs[1:] {
		in.Same = ""
		sm.holds[in.Node] = in
	}
	sm.base, sm.accepted, sm.rebuild, sm.mayLose, sm.put, sm.told = sm.runs.started.Base, executor.Tree{}, false, nil, nil, nil
	sm.left = sm.leftOf(before, sm.inBranch())
}

// moved records the branch's present commit.
func (sm *sum) moved(n *node, b executor.Published) {
	sm.putAt(n.life.inputs)
	sm.ref, sm.meant, sm.pinned = b.Result.Commit, "", b.Pinned
	sm.landing.seen(b.Result)
}

// empty reports whether the sum has no parts: the branch goes back to the base.
func (r *rules) empty(n *node) bool {
	return r.joins() && len(n.life.inputs) == 1 && n.life.inputs[0].Node == "base"
}

const sumStepName = "integrate"

// sumStep is the step in which the sum is judged; the epic's conflict agent, if
// there is one, mends what the gates find.
func sumStep(epic *ir.Epic, in ir.Integration) ir.Step {
	s := ir.Step{
		Name: sumStepName, Gates: in.Gates, GateMode: "parallel", Access: "read", Session: "fresh", OnFailure: "keep", Next: sumStepName,
		Limits: ir.StepLimits{Attempts: 1, Iterations: 1, RunnerRetries: 5},
		Retry:  usualRetry,
	}
	if name := in.ConflictAgent; name != "" && !epic.Agents[name].Human {
		s.Agent, s.Model, s.Access, s.Limits.Attempts, s.Limits.Breaker = name, epic.Agents[name].Model, "write", mergeAttempts, 2
	}
	return s
}
