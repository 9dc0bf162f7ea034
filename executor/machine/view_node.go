package machine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

func (r *Run) view(n *node, h holds) NodeView {
	v := NodeView{
		ID: n.id, Key: n.ir.Key, Title: n.ir.Title, Kind: n.ir.Kind, Phase: n.ir.Phase, Status: n.shown(),
		Attempts: n.logs, Since: n.since, Changed: n.changed, Started: n.began, Spent: n.cost.all.spent(), Worked: n.cost.worked(r.at),
		Decisions: n.people.decisions, Budget: n.nodeBudget(), Ways: r.waysOf(n), Pull: n.pull,
		Selected: n.selected, Paused: n.people.paused, Human: n.human, Backoff: n.backoff,
	}
	if costLimited(v.Budget) {
		v.Over = overshoot(v.Budget, &n.cost)
	}
	if d, ok := n.people.last(executor.Skip); ok && v.Status == executor.Skipped {
		v.Since = d.At // not when a later run found it so
	}
	if n.accepted != nil {
		v.Result = n.accepted.result
		if n.status == executor.Done {
			v.Since = n.accepted.at // not when a later run found it done
		}
	}
	if n.sum {
		r.viewSum(&v)
	}
	switch v.Status {
	case executor.Running, executor.Waiting:
		if s := n.stepNow(); s != nil {
			v.Step = s.Name
		}
	case executor.Done, executor.Blocked, executor.Skipped, executor.Cancelled:
		if !n.began.IsZero() {
			v.Ended = v.Since
		}
	}
	if v.Status == executor.Blocked {
		v.BlockedBy = n.blockedBy
	}
	if v.Status == executor.Waiting {
		r.viewWait(n, &v)
	}
	if v.Status == executor.Running {
		v.Attempt, v.Doing = doing(n.life.flight)
		v.Asked = slices.ContainsFunc(n.life.flight, func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	}
	v.Interrupted, v.GoesOn = v.Status == executor.Running && r.runs.idle(), r.halt.byItself(n, r.runs.idle())
	if n.status == executor.Pending && !n.sum {
		for _, i := range n.deps {
			if d := r.nodes[i]; !d.status.Settled() {
				v.Needs = append(v.Needs, d.ir.Key)
			}
		}
	}
	v.Reason, v.Merge = r.reason(n, v.Status, h), n.lacks()
	if v.Status == executor.Ready && v.Reason == "" {
		v.Reason, v.Free = "waits for a free slot", true
	}
	return v
}

// viewWait adds what a node waits for.
func (r *Run) viewWait(n *node, v *NodeView) {
	v.For, v.Cause, v.Until, v.Gate = n.wait.For, n.wait.Cause, n.wait.Until, n.wait.Gate
	v.Approvers = r.epic.Gates[v.Gate].Approvers
	if n.waitsFor(executor.CauseConflict) {
		if d := r.sameConflict(n); d != nil {
			v.SameAs = d.ir.Key
		}
	}
	if v.For == executor.ForBudget && v.Cause != executor.CauseHeld {
		v.More = n.nodeMore(r.at)
	}
	if v.For == executor.ForBudget && v.More == "" { // it is the run's
		v.More = r.budget.more(r.at)
	}
}

// viewSum adds what is only known of the sum.
func (r *Run) viewSum(v *NodeView) {
	n := r.sum.node
	if n.status == executor.Pending {
		if s := r.sum.doneWith(r.sum.inputs()); s != nil {
			v.Status, v.Result, v.Since = executor.Done, s.result, s.at
		}
	}
	if n.waitsFor(executor.CauseOlder, executor.CauseForeign) {
		for _, x := range r.Integration().Branch(nil).Holds {
			if x.Keep {
				v.Keeps = append(v.Keeps, x.Key)
			}
		}
	}
}

// reason says in one line why a node is not done, or how it came to be done
// without work of its own.
func (r *Run) reason(n *node, shown executor.NodeStatus, h holds) string {
	p := &n.people
	switch shown {
	case executor.Pending:
		return r.whyPending(n, h)
	case executor.Ready:
		return r.whyReady(n)
	case executor.Running:
		switch {
		case p.paused != "" && r.runs.idle():
			return "paused by " + p.paused
		case p.paused != "":
			return "paused by " + p.paused + ": active work finishes first"
		}
		if !n.busy() && !n.life.stale {
			return r.budget.wallet(r.at).noRoom(n, r.nextTurn(n))
		}
	case executor.Waiting:
		if n.wait.Cause == executor.CauseHeld && r.halt.held.For != "" {
			return "the run is held: " + r.budget.heldWhy(r.at)
		}
		if n.wait.For == executor.ForBudget && n.wait.Cause == "" {
			return cmp.Or(n.nodeOver(ir.Budget{}, r.at), n.wait.Detail)
		}
		if n.wait.Cause == executor.CauseConflict && n.sum && n.life.stage == stageHand {
			return r.handText(n) // for anyone else who waits over it now
		}
		return n.wait.Detail
	case executor.Blocked:
		return n.reason
	case executor.Done:
		switch {
		case n.byBase:
			return "done: the base already contains it"
		case n.accepted == nil && !n.sum:
			return "done by the plan"
		}
	case executor.Skipped:
		why := "skipped"
		if d, ok := p.last(executor.Skip); ok {
			why += " by " + d.By + executor.Because(d.Message)
		}
		if p.reopen {
			why += "; reopened: it begins at the next ralph apply"
		}
		return why
	case executor.Cancelled:
		d, _ := p.last(executor.Cancel)
		return "cancelled by " + p.cancelled + executor.Because(d.Message)
	}
	return ""
}

// whyPending says what a node that cannot start yet waits for.
func (r *Run) whyPending(n *node, h holds) string {
	p := &n.people
	switch {
	case p.paused != "":
		return "paused by " + p.paused
	case n.busy():
		return "waits for stopped processes to end"
	case n.sum && len(r.runs.started.Only) > 0:
		return "not selected by --only"
	case n.sum && !r.joins():
		return "its pull request is made when the run ends"
	case n.sum:
		return "joined when the run ends"
	}
	why := r.needs(n, h)
	if p.handed.by != "" {
		why += "; what " + p.handed.by + " handed in stays in its worktree, and is not judged yet"
	}
	return why
}

// whyReady says why a node that could start has not.
func (r *Run) whyReady(n *node) string {
	if r.halt.held.For != "" {
		return "the run is held: " + r.budget.heldWhy(r.at)
	}
	if r.budget.limited {
		if why := r.admission(r.at, nil).noRoom(nil, n.class.first); why != "" {
			return why
		}
	}
	switch {
	case !r.runs.open():
		return "ralph apply begins it"
	case r.halt.draining:
		return "nothing new starts: " + cmp.Or(r.halt.drained, "interrupted")
	}
	return ""
}

// Desert says that no process is at work: what the journal calls running is shown as
// interrupted where others need it, and the cost of its turns is unknown.
func Desert(r *Run) {
	r.runs.deserted = true
	for n := range r.all() {
		for _, e := range n.life.flight {
			r.budget.untold(n, e)
		}
	}
}

// Idle reports whether nothing is at work: the last run ended, or has no process.
func (x Summary) Idle() bool { return x.r.runs.idle() }

func (r *runs) idle() bool { return r.deserted || r.begun && r.ended }

// byItself reports whether a node that was begun goes on without anybody.
func (ht *halt) byItself(n *node, idle bool) bool {
	switch {
	case ht.held.For != "", ht.cancelled != "", n.people.paused != "":
		return false
	case n.status == executor.Running:
		return idle
	}
	return n.status == executor.Waiting && n.wait.Timed()
}

// GoOn counts the waiting nodes that continue without a person, without the sum: while
// something is at work those that only need a slot, else all of them.
func (x Summary) GoOn() int { return x.r.waitingGoOn(x.r.runs.idle()) }

func (r *Run) waitingGoOn(idle bool) (count int) {
	for _, n := range r.nodes {
		if !n.sum && n.status == executor.Waiting && r.halt.byItself(n, idle) && (idle || n.wait.Decided()) {
			count++
		}
	}
	return count
}

// word is the status of a node as people see it.
func (r *runs) word(n *node) string {
	if s := n.shown(); s != executor.Running || !r.idle() {
		return s.String()
	}
	return "interrupted"
}

// needs says what a pending node waits for: what will not come by itself, else
// the first dependency that is not there yet.
func (r *Run) needs(n *node, h holds) string {
	if !r.runs.begun && r.runs.recovered.IsZero() {
		return "no run has begun"
	}
	if !n.selected && (!r.runs.begun || r.runs.foreign) { // or what has begun is of another epic.json
		return "continues with the next ralph apply"
	}
	if !n.selected {
		return "not selected by --only"
	}
	if x := r.back(h, n); x.rank > 0 {
		return "needs " + x.String()
	}
	for _, i := range n.deps {
		if d := r.nodes[i]; !d.status.Settled() {
			return fmt.Sprintf("needs %s (%s)", d.ir.Key, r.runs.word(d))
		}
	}
	return "continues with the next ralph apply"
}

// hold is a node that will not come by itself, and why: "1.2 (blocked)".
type hold struct {
	key  ir.Key
	word string
	rank int // 0: there is none
}

// holding says of a node that something needs that it will not come by itself.
func holding(n *node, word string) hold {
	h := hold{n.ir.Key, word, 2}
	if n.status == executor.Blocked || n.status == executor.Cancelled {
		h.rank += 2
	}
	return h
}

func (h hold) String() string { return fmt.Sprintf("%s (%s)", h.key, h.word) }

// through is a hold of a node that is needed, for the one that needs it.
func (h hold) through() hold {
	if h.rank > 0 && h.rank%2 == 0 {
		h.rank--
	}
	return h
}

// or is the one of two that is named: what is blocked or cancelled before what waits,
// then what is needed itself before what that needs, then the first.
func (h hold) or(x hold) hold {
	if x.rank > h.rank {
		return x
	}
	return h
}

// holds remembers, for each node that was asked for, what it needs that will not
// come by itself: to look at all nodes, also one by one, costs no more than the edges
// of the epic.
type holds map[int]hold

// onHold is what is known since the last event.
func (r *Run) onHold() holds {
	if r.buffers.holds == nil {
		r.buffers.holds = holds{}
	}
	return r.buffers.holds
}

// back is what in a node's dependencies will not come by itself.
func (gr *graph) back(h holds, n *node) (out hold) {
	for _, i := range n.deps {
		d := gr.nodes[i]
		switch {
		case d.status.Settled():
			continue
		case d.status == executor.Blocked, d.status == executor.Cancelled, d.status == executor.Waiting && !d.wait.Timed():
			out = out.or(holding(d, d.status.String()))
			continue
		case d.status == executor.Pending && d.people.paused != "":
			out = out.or(holding(d, "paused"))
			continue
		}
		x, known := h[i]
		if !known {
			x = gr.back(h, d)
			h[i] = x
		}
		out = out.or(x.through())
	}
	return out
}

// Counts returns how many nodes of the epic have each status, without the sum.
func (x Summary) Counts() map[string]int {
	out := map[string]int{}
	for _, n := range x.r.nodes {
		if !n.sum {
			out[n.shown().String()]++
		}
	}
	return out
}
