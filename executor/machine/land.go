package machine

import (
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// landing is the branch on which results land one by one, and whose turn it is.
type landing struct {
	*graph
	*clock
	node   *node         // whose result is being merged into the branch
	head   executor.Tree // where the branch is, as far as it was seen
	headAt int64         // event after which that was seen: what began before knows less
}

// published pins the node's result. What follows depends on the mode: in dag it
// is done, or gets its pull request; in branch it lands; in wait a person merges it.
func (r *Run) published(n *node, b executor.Published) {
	l := &n.life
	if n.sum {
		r.sum.moved(n, b)
	}
	l.attempt.collected.Result, l.result = b.Result, b.Result
	in := r.epic.Epic.Integration
	switch {
	case n.sum && in.PR == "plan" && !r.empty(n), in.Mode == "dag" && in.PR == "node" && !n.sum, in.Mode == "wait":
		l.stage = stagePull
	case in.Mode == "branch":
		l.stage = stageLanding
	default:
		l.stage = stageFinish
	}
}

// openLanding begins to land a node's result: one node does at a time.
func (ld *landing) openLanding(n *node) executor.Event {
	return executor.Event{
		Node: n.id, Step: LandStep, Attempt: n.numbers[LandStep] + 1,
		Body: executor.AttemptStarted{Start: ld.head.Commit, From: n.life.result.Commit},
	}
}

// beginLanding makes up the step in which the result is merged into the
// integration branch and the node's command gates judge the merge.
func (ld *landing) beginLanding(n *node, b executor.AttemptStarted) {
	s := ir.Step{
		Name: LandStep, Access: "read", Gates: ld.commandGates(n), GateMode: "parallel", Next: LandStep,
		Limits: ir.StepLimits{Attempts: 1, RunnerRetries: 5},
		Retry:  usualRetry,
	}
	if w := ld.workStep(n); w != nil {
		s.Limits.RunnerRetries, s.Retry = w.Limits.RunnerRetries, w.Retry
	}
	head := executor.Result{Node: executor.Integration, Tree: executor.Tree{Commit: b.Start, Tree: treeAt(ld.head, b.Start)}}
	n.life.aside = &aside{step: s, inputs: []executor.Result{head, {Node: n.id, Tree: n.life.result}}}
	ld.node = n
}

// landFrom merges the result with the branch's head, or takes the resolution
// that is known.
func (r *Run) landFrom(n *node) {
	n.life.stage = stageBase
	switch t, anew, ok := r.lineage.known(n.life.aside.inputs); {
	case ok && anew:
		n.life.resolved = t.Tree
	case ok:
		n.landMerged(t)
	}
}

// landMerged records the merge. The gates judge it, unless it is the result
// itself: the branch has not moved since the node began.
func (n *node) landMerged(merge executor.Tree) {
	l := &n.life
	a := &l.attempt
	l.resolved = ""
	a.collected = executor.Collected{Result: merge}
	n.logs[len(n.logs)-1].Commit = merge.Commit
	n.logs[len(n.logs)-1].Collected = a.collected
	l.stage = stagePrepare
	if len(a.gates) == 0 || merge.Commit == l.result.Commit {
		for i := range a.gates {
			a.gates[i].done = true
		}
		l.stage = stageVerdict
	}
}

// landFailed sends a merge that the gates refused back to the agent, which works on the
// merge itself.
func (ld *landing) landFailed(n *node, to int) {
	l := &n.life
	if to >= 0 {
		l.starts[to] = l.attempt.collected.Result.Commit
	}
	l.aside = nil
	ld.unlock(n)
}

// over ends a try to land: the result has landed, or the branch went on meanwhile and the
// merge is made anew.
func (ld *landing) over(n *node, head executor.Tree, next stage) {
	l := &n.life
	ld.seen(head)
	l.aside, l.step, l.stage = nil, len(n.ir.Steps)-1, next
	ld.unlock(n)
}

// unlock lets the next node land.
func (ld *landing) unlock(n *node) {
	if ld.node == n {
		ld.node = nil
	}
}

func (r *rules) pulled(n *node, b executor.Pulled) {
	l := &n.life
	l.pull, n.pull = b.Pull, b.Pull
	l.stage = stageFinish
	if r.epic.Epic.Integration.Mode == "wait" && !n.sum {
		l.stage = stageReview
	}
}

// pollEvery is how often a pull request is looked at.
const pollEvery = time.Minute

// awaitPull waits for a person to merge or close the node's pull request.
func (n *node) awaitPull(now time.Time) executor.Event {
	p := n.life.pull
	return n.event(executor.NodeWaiting{
		For: executor.ForHuman, Cause: executor.CausePull, Until: later(now, pollEvery.Milliseconds()),
		Detail: fmt.Sprintf("%s %s is not merged yet (%s)", p.Word(), p.Ref(), p.URL),
	})
}

// pullSeen goes on when the pull request was merged; one that was closed sends
// the node back with what was said, which costs no attempt.
func (r *Run) pullSeen(n *node, b executor.PullSeen) {
	l := &n.life
	l.polls++
	switch b.State {
	case "merged":
		r.landing.seen(b.Head)
		l.stage = stageFinish
	case "closed":
		message := "it was closed without being merged"
		if b.Comment != "" {
			message += ":\n\n" + b.Comment
		}
		n.people.tell(executor.Decision{Verb: executor.Reject, By: l.pull.Word() + " " + l.pull.Ref(), Message: executor.Fitting(message)})
		if n.ir.Kind == ir.GateKind || len(n.ir.Steps) == 0 { // no one would do it better
			l.why, l.stage = executor.Fitting(fmt.Sprintf("%s %s: %s", l.pull.Word(), l.pull.Ref(), message)), stageStopped
			return
		}
		l.streak, l.sign, l.stage = 0, "", stageOpen
		l.tip = l.result.Commit
		l.step = n.next(len(n.ir.Steps) - 1)
		l.result = executor.Tree{}
	default:
		l.stage = stageReview
	}
}

// treeAt is the tree of a commit, if that is the one that is known.
func treeAt(known executor.Tree, commit string) string {
	if known.Commit == commit {
		return known.Tree
	}
	return ""
}
