package machine

import (
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// begin applies RunStarted: every status is derived again from what is on
// record and the present epic, so that a run goes on after any crash, and a
// changed epic keeps what is still true (docs/execution: "what runs again").
func (r *Run) begin(seq int64, e executor.RunStarted) error {
	r.tampers.renew(r.runs.open())
	if !r.runs.open() {
		r.runs.firstSeq, r.runs.firstAt = seq, r.at
	}
	r.runs.begun, r.runs.ended, r.halt.draining, r.halt.until = true, false, false, executor.Event{}.At
	r.runs.foreign = e.Digest != r.epic.Digest
	rebased := r.runs.started.Base != e.Base
	r.runs.started, r.runs.startedSeq = e, seq
	r.renew()
	if r.pre.over = false; !e.Tried {
		r.pre.begin()
	}
	if r.halt.held.For == executor.ForBase { // the bases are tried again
		if err := r.unhold("the bases are tried again"); err != nil {
			return err
		}
	}
	for _, id := range e.Rerun {
		if n := r.byID[id]; n != nil {
			n.after = seq
			n.people.skip = false
		}
	}
	r.giveUpFlights()
	r.landing.seen(executor.Tree{Commit: e.Head})
	r.sum.begin(e.Head)
	r.doneByBase(e, rebased)
	if r.runs.foreign {
		return nil
	}
	if e.Slots < 1 {
		return fmt.Errorf("a run needs at least one slot, not %d", e.Slots)
	}
	r.choose(e.Only)
	r.runs.reviving = true
	defer func() { r.runs.reviving = false }()
	for _, n := range r.nodes {
		if err := r.revive(n, slices.Contains(e.Rerun, n.id), slices.Contains(e.Ticked, n.id)); err != nil {
			return fmt.Errorf("node %s: %w", n.ir.Key, err)
		}
	}
	return nil
}

// giveUpFlights lets what was in flight begin anew: ralph died meanwhile.
func (r *Run) giveUpFlights() {
	r.budget.booked = purse{}
	for n := range r.all() {
		for _, e := range n.life.flight {
			r.budget.untold(n, e)
		}
		r.rewind(n)
		n.booked = purse{}
	}
	r.queues.flying, r.queues.active, r.queues.strays, r.landing.node = nil, nil, nil, nil
	clear(r.parks.agents)
	for _, p := range inOrder(r.parks.runners) {
		p.down = executor.Event{}.At
	}
}

// choose marks the nodes of --only and all that they need; every node, if it is empty.
func (gr *graph) choose(only []ir.NodeID) {
	for _, n := range gr.nodes {
		n.selected = len(only) == 0
	}
	var todo []*node
	for _, id := range only {
		if n := gr.byID[id]; n != nil && n.index >= 0 {
			todo = append(todo, n)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n.selected {
			continue
		}
		n.selected = true
		for _, d := range n.deps {
			todo = append(todo, gr.nodes[d])
		}
	}
}

// revive puts one node where it belongs at the start of a run; those it depends
// on have been revived before it. The sum always begins again: it is derived.
func (r *Run) revive(n *node, again, ticked bool) error {
	n.unsettled, n.through, n.passes, n.byBase = 0, nil, false, false
	for _, d := range n.deps {
		if !r.nodes[d].status.Settled() {
			n.unsettled++
		}
	}
	same := !again && !n.sum && !n.life.stale && n.life.work == n.ir.Digest.Work
	if l := &n.life; n.sum && !again && l.step == asideStep && l.aside.merge && (n.waitsFor(executor.CauseConflict) || l.word.How == executor.GatesOnly) {
		same = true // a person may be at work on it, or has handed it in
	}
	switch {
	case ticked:
	case n.status == executor.Cancelled:
		if !again {
			return nil
		}
	case n.status == executor.Blocked:
		if same && r.mended(n) {
			return r.judgeBlocked(n)
		}
		if same && n.people.handed.by == "" {
			return nil
		}
	case n.status == executor.Running, n.status == executor.Waiting:
		if same && n.unsettled == 0 && n.life.print == fingerprint(r.inputs(n)) {
			return r.goOn(n)
		}
		if same && n.unsettled > 0 {
			return r.sleep(n)
		}
	}
	if again || ticked {
		n.asleep = nil
	}
	if err := r.toPending(n); err != nil {
		return err
	}
	n.life, n.accepted = life{}, nil
	if n.sum {
		return nil
	}
	return r.arrive(n)
}

// judged are the stages of a node whose last attempt has passed: what it did that by is on
// record with its success, and another list of gates judges that when it is looked at again.
var judged = []stage{stagePublish, stageLanding, stageLand, stagePull, stageReview, stagePoll, stageFinish}

// goOn lets a node that was running or waiting continue where it was. A node
// that ran waits for a slot first, so that a smaller number of slots holds.
func (r *Run) goOn(n *node) error {
	if l := &n.life; l.judge != n.ir.Digest.Judge && !slices.Contains(judged, l.stage) { // the open attempt is judged by the gates of today
		l.judge = n.ir.Digest.Judge
		l.attempt.judged = nil
		if s := n.stepNow(); s != nil {
			l.attempt.gates = r.gateStates(n, s)
		}
		if n.waitsFor(executor.CauseApproval, executor.CauseGate) {
			return r.release(n, "its gates changed")
		}
	}
	switch {
	case n.status == executor.Running && n.selected:
		n.wait = executor.NodeWaiting{For: executor.ForTimer, Detail: "interrupted"}
		return r.become(n, executor.Waiting)
	case n.status == executor.Running:
		n.wait = executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseOnly, Detail: "not selected by --only"}
		return r.become(n, executor.Waiting)
	case n.wait.For == executor.ForHuman && n.wait.Cause.Recheck() && n.selected:
		return r.release(n, "tried again at the start of this run")
	}
	return nil
}

// arrive is called when nothing holds a pending node back any longer: it is done
// if its success is on record or the plan says so, else it is ready. What the
// plan calls done waits like any other: those that need it take the results of
// what precedes it.
func (r *Run) arrive(n *node) error {
	if n.status != executor.Pending || n.unsettled > 0 || n.busy() {
		return nil
	}
	if n.people.skip {
		return r.settleAs(n, nil, executor.Skipped)
	}
	if n.people.paused != "" {
		return nil
	}
	if n.inBase() {
		n.byBase = true
		return r.settle(n, nil)
	}
	print := fingerprint(r.inputs(n))
	s := n.match(n.ir.Digest.Work, print, "")
	switch {
	case n.ir.Done && len(n.successes) == 0 && n.after == 0:
		return r.settle(n, nil)
	case s != nil && s.judge == n.ir.Digest.Judge:
		return r.settle(n, s)
	case !n.selected:
		return nil
	case n.asleep.fits(n, print):
		return r.wake(n)
	}
	return r.become(n, executor.Ready)
}

// settle makes a node done, with a result of its own or none, and lets those
// that waited only for it arrive.
func (r *Run) settle(n *node, s *success) error { return r.settleAs(n, s, executor.Done) }

// settleAs is settle, also for what a person skipped.
func (r *Run) settleAs(n *node, s *success, to executor.NodeStatus) error {
	if err := r.move(n, to); err != nil {
		return err
	}
	n.accepted = s
	if n.sum || r.runs.foreign {
		return nil
	}
	if s == nil {
		n.through, n.passes = r.reached(n), true
	}
	if r.runs.reviving {
		return nil
	}
	for _, i := range n.dependents {
		d := r.nodes[i]
		if d.unsettled--; d.unsettled > 0 {
			continue
		}
		if d.status == executor.Blocked && r.mended(d) { // what it needs was judged again, and came out the same
			if err := r.judgeBlocked(d); err != nil {
				return err
			}
		} else if err := r.arrive(d); err != nil {
			return err
		}
		r.queues.touch(d)
	}
	return nil
}

// inputs is the ordered list of results that a node starts from. Nodes without a
// result of their own are transparent: what they depend on takes their place. A
// node that no result reaches starts from the pinned base.
func (r *Run) inputs(n *node) []executor.Result {
	if n.sum {
		return r.sum.inputs()
	}
	out := r.reached(n)
	if len(out) == 0 {
		out = []executor.Result{{Node: "base", Tree: r.runs.pinned(n).Tree}}
	}
	return out
}

// reached lists the results that reach a node, each once, in the order of what
// it needs. What passes through a node that is done is kept there, so that a
// long chain of them costs no more than its length.
func (gr *graph) reached(n *node) []executor.Result {
	if len(n.deps) == 1 && gr.nodes[n.deps[0]].passes {
		return gr.nodes[n.deps[0]].through
	}
	var out []executor.Result
	seen := make(map[int]bool)
	given := make(map[ir.NodeID]bool)
	give := func(x executor.Result) {
		if !given[x.Node] {
			given[x.Node] = true
			out = append(out, x)
		}
	}
	stack := slices.Clone(n.deps)
	slices.Reverse(stack)
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[i] {
			continue
		}
		seen[i] = true
		d := gr.nodes[i]
		if d.accepted != nil {
			give(executor.Result{Node: d.id, Tree: d.accepted.result})
			continue
		}
		if d.passes {
			for _, x := range d.through {
				give(x)
			}
			continue
		}
		for k := len(d.deps) - 1; k >= 0; k-- {
			stack = append(stack, d.deps[k])
		}
	}
	return out
}

// doneByBase notes the nodes whose newest success the pinned base holds: they do not
// run, and their dependents start from the base.
func (r *Run) doneByBase(e executor.RunStarted, rebased bool) {
	if rebased {
		for n := range r.all() {
			for i := range n.successes {
				n.successes[i].merged = false
			}
		}
		r.sum.baseOthers = nil
	}
	r.sum.baseOthers = append(r.sum.baseOthers, e.Theirs...)
	for _, id := range e.Merged {
		if n := r.byID[id]; n != nil && len(n.successes) > 0 {
			n.successes[len(n.successes)-1].merged = true
		}
	}
}

// inBase reports whether the pinned base holds a success for the present work.
func (n *node) inBase() bool {
	return slices.ContainsFunc(n.successes, func(s success) bool {
		return s.merged && s.seq > n.after && s.work == n.ir.Digest.Work
	})
}
