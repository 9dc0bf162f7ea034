package executor

import "fmt"

// applyNode applies an event about a node. In a stretch that belongs to another
// epic the graph is not consulted: only what is on record is kept.
func (r *Run) applyNode(n *node, e Event) error {
	switch b := e.Body.(type) {
	case NodeStarted:
		return r.nodeStarted(n, b)
	case NodeResumed:
		return r.move(n, Running)
	case NodeWaiting:
		n.wait = b
		n.life.trouble = nil
		if n.life.stage == stageAsk {
			n.life.stage = stageGate
		}
		if n.life.stage == stageFailed {
			n.life.stage = stageOpen
		}
		return r.move(n, Waiting)
	case NodeBlocked:
		n.reason = b.Reason
		return r.move(n, Blocked)
	case NodeDone:
		n.people.late = false
		return r.nodeDone(n, e.Seq, b)
	case AttemptStarted:
		return r.attemptStarted(n, e, b)
	case EffectStarted:
		return r.effectStarted(n, e, b)
	}
	if n.life.stale {
		n.life.flying = false
		r.account(n, e)
		return nil
	}
	if n.status != Running && n.busy() {
		return r.stray(n, e)
	}
	if ended, ok := e.Body.(AttemptEnded); ok {
		return r.attemptEnded(n, ended)
	}
	return r.effectEnded(n, e)
}

func (r *Run) nodeStarted(n *node, b NodeStarted) error {
	if n.sum && n.status == Pending {
		if err := r.move(n, Ready); err != nil {
			return err
		}
	}
	if len(b.Inputs) == 0 {
		return fmt.Errorf("it starts from nothing")
	}
	if err := r.move(n, Running); err != nil {
		return err
	}
	n.life = life{
		work: b.Work, judge: b.Judge, inputs: b.Inputs, print: fingerprint(b.Inputs),
		stale: n.ir == nil || n.ir.Digest.Work != b.Work, first: len(n.logs),
	}
	n.accepted, n.began, n.key = nil, r.at, b.Key
	n.cost.renew(r.at)
	if !n.life.stale {
		n.life.starts = make([]string, len(n.ir.Steps))
		n.life.used = make([]int, len(n.ir.Steps))
		n.life.notes = make([]string, len(n.ir.Steps))
	}
	if len(b.Inputs) == 1 {
		r.setBase(n, b.Inputs[0].Tree)
	}
	return nil
}

// setBase records the commit that the node starts from. A success on record for
// the same work and the same tree means that nothing has to run, or only the
// gates if they changed.
func (r *Run) setBase(n *node, base Tree) {
	l := &n.life
	l.base, l.tip, l.stage = base, base.Commit, stageOpen
	if n.life.stale {
		return
	}
	if s := n.match(l.work, l.print, base.Tree); s != nil {
		if s.judge == l.judge {
			l.tip, l.stage = s.result.Commit, stageFinish
			l.attempt.collected.Result = s.result
			return
		}
		if last := n.onlyJudged(); last >= 0 {
			l.rejudge, l.step = true, last
			l.tip = s.result.Commit
			l.attempt.collected.Result = s.result
		}
	}
	if len(n.ir.Steps) == 0 {
		l.stage, l.attempt.collected.Result = stagePublish, base
		return
	}
	l.starts[0] = base.Commit
	if l.rejudge {
		for i := range l.starts {
			l.starts[i] = base.Commit
		}
	}
}

// onlyJudged returns the index of the last step if it alone has gates; else -1:
// the gates of an earlier step need that step's commit, so all runs again.
func (n *node) onlyJudged() int {
	last := len(n.ir.Steps) - 1
	for i := range last {
		if len(n.ir.Steps[i].Gates) > 0 {
			return -1
		}
	}
	return last
}

func (r *Run) nodeDone(n *node, seq int64, b NodeDone) error {
	s := success{
		seq: seq, work: b.Work, judge: b.Judge, print: n.life.print,
		base: n.life.base.Tree, inputs: n.life.inputs, result: b.Result,
	}
	n.successes = append(n.successes, s)
	if n.sum {
		clear(r.sumHolds)
		for _, in := range s.inputs[1:] {
			r.sumHolds[in.Node] = in
		}
	}
	return r.settle(n, &n.successes[len(n.successes)-1])
}
