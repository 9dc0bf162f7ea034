package machine

import "github.com/ralph-compiler/ralph/executor"

// asleep is the life of a node that ran or waited, while what it needs is pending
// again: its attempts belong to the results that it began from, and count again if
// they come out the same.
type asleep struct {
	life life
	wait executor.NodeWaiting
}

// sleep makes a node pending that ran or waited, and keeps its life.
func (r *Run) sleep(n *node) error {
	a := &asleep{life: n.life, wait: n.wait}
	if n.status == executor.Running {
		a.wait = executor.NodeWaiting{For: executor.ForTimer, Detail: "interrupted"}
	}
	if err := r.toPending(n); err != nil {
		return err
	}
	n.life, n.asleep = life{}, a
	return nil
}

// fits reports whether the life belongs to the node's present work and to inputs with this
// fingerprint.
func (a *asleep) fits(n *node, print string) bool {
	return a != nil && a.life.work == n.ir.Digest.Work && a.life.print == print
}

// wake lets a node go on where it was.
func (r *Run) wake(n *node) error {
	n.life, n.wait = n.asleep.life, n.asleep.wait
	if err := r.become(n, executor.Waiting); err != nil {
		return err
	}
	return r.goOn(n)
}
