package machine

import (
	"cmp"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Change is a node's result compared with its start: what people look at before they
// decide about it.
type Change struct {
	Step    string // attempt that made it, or judged it; "" if there is none
	Attempt int
	From    executor.Tree // the merged results that the node started from; of a node that only judges, the pinned base
	To      executor.Tree // zero: nothing is collected
	Person  bool          // a person is at work on it: it comes to where its branch is by then

	// What an approval of it would be bound to; the zero value where none is waited for.
	Bound executor.Decision
}

// Change returns a node's result: what waits for a decision, else what made it done,
// else what its last attempt left.
func (o Node) Change() Change {
	n := o.r.byID[o.id]
	if n == nil || n.ir == nil {
		return Change{}
	}
	l := &n.life
	c := Change{}
	switch waits := n.status == executor.Waiting && !l.stale; {
	case n.waitsFor(executor.CauseForeign):
		return Change{From: executor.Tree{Commit: o.r.sum.ref}, To: o.r.sum.foreignHead}
	case waits && o.r.byPerson(n):
		return Change{From: l.base, Person: true, Step: l.attempt.step, Attempt: l.attempt.number}
	case n.accepted != nil:
		c.From, c.To = executor.Tree{Tree: n.accepted.base}, n.accepted.result
		if in := n.accepted.inputs; len(in) == 1 && in[0].Tree.Tree == c.From.Tree {
			c.From = in[0].Tree
		}
	case n.sum && n.status == executor.Pending && o.r.sum.doneWith(o.r.sum.inputs()) != nil:
		c.To = o.r.sum.last().result
	case !l.stale:
		c.From, c.To = l.base, l.attempt.collected.Result
	}
	if n.waitsFor(executor.CauseApproval) {
		_, _ = o.r.bind(n, &c.Bound, n.wait.Gate, nil) // it claims nothing that could be another
	}
	i := n.logOf(c.To.Commit)
	if i >= 0 && (c.To.Commit == "" || c.From.ID() == "") {
		c.From = executor.Tree{Commit: n.startOf(i)}
		c.To = n.logs[i].Collected.Result
	}
	if k := len(n.logs); i < 0 && k > 0 { // only gates ran
		i = k - 1
	}
	if i >= 0 {
		c.Step, c.Attempt = n.logs[i].Step, n.logs[i].Number
	}
	if n.sum || n.ir.Kind == ir.GateKind {
		c.From = o.r.runs.started.Base
	}
	return c
}

// logOf returns the index of the last attempt that came to a commit, or without one
// of the last that came to any; -1 if none did.
func (n *node) logOf(commit string) int {
	for i := len(n.logs) - 1; i >= 0; i-- {
		if c := n.logs[i].Commit; c != "" && (commit == "" || c == commit) {
			return i
		}
	}
	return -1
}

// startOf is the commit that the life of an attempt started from, as far as the logs
// say so: where its first step began.
func (n *node) startOf(i int) string {
	from := n.logs[i].Start
	for ; i >= 0 && len(n.ir.Steps) > 0; i-- {
		if log := &n.logs[i]; log.Step == n.ir.Steps[0].Name {
			return cmp.Or(log.Start, from)
		}
	}
	return from
}
