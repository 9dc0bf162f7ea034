package machine

import (
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

func (r *Run) considerSkip(n *node, d *executor.Decision) (act, error) {
	switch {
	case n.sum:
		return nil, r.refuse(n, "the integration of all results cannot be skipped")
	case r.plans != "":
		return nil, r.refuse(n, "a draft cannot be skipped; cancel ends it")
	case n.shown() == executor.Skipped:
		return nil, r.already(n, "is skipped already")
	case n.status == executor.Done:
		return nil, r.refuse(n, "its work is done and there is nothing to skip")
	case n.status == executor.Running && d.How != executor.Forced:
		return nil, r.refuse(n, "skipping it now stops active work: --force")
	case n.lands():
		return nil, r.refuse(n, "its result is being published right now; try again in a moment")
	}
	return func() error {
		if err := r.stopNode(n, "skipped by "+d.By); err != nil {
			return err
		}
		n.people.skip, n.people.cancelled = true, ""
		if err := r.toPending(n); err != nil {
			return err
		}
		if !r.runs.begun || r.runs.foreign {
			return nil
		}
		return r.arrive(n)
	}, nil
}

func (r *Run) considerCancel(n *node, d *executor.Decision) (act, error) {
	switch {
	case n.sum:
		return nil, r.refuse(n, "the integration of all results cannot be cancelled")
	case n.status == executor.Cancelled:
		return nil, r.already(n, "is cancelled already")
	case n.shown() == executor.Skipped, n.status == executor.Done:
		return nil, r.refuse(n, "there is nothing to cancel")
	case n.lands():
		return nil, r.refuse(n, "its result is being published right now; try again in a moment")
	}
	return func() error {
		if err := r.stopNode(n, "cancelled by "+d.By); err != nil {
			return err
		}
		n.people.cancelled = d.By
		return r.move(n, executor.Cancelled)
	}, nil
}

// lands reports whether a ref that others see is moving to the node's result. That
// cannot be called back.
func (n *node) lands() bool {
	return slices.ContainsFunc(n.life.flight, func(e executor.Effect) bool { return e.Kind == executor.EffectPublish || e.Kind == executor.EffectLand })
}

// stopNode gives up the open attempt of a node that a person ends. What is in
// flight is stopped (Todo.Stop), and what it reports counts nothing.
func (r *Run) stopNode(n *node, why string) error {
	l := &n.life
	n.people.paused, n.people.reopen = "", false
	l.word, l.trouble = executor.Decision{}, nil
	if r.landing.node == n {
		r.landing.node = nil
	}
	if l.attempt.status != executor.AttemptRunning {
		return nil
	}
	if err := l.attempt.move(executor.AttemptCancelled); err != nil {
		return err
	}
	log := &n.logs[len(n.logs)-1]
	log.Status, log.Reason, log.Ended = executor.AttemptCancelled, why, r.at
	return nil
}

func (r *Run) considerPause(n *node, d *executor.Decision) (act, error) {
	switch {
	case n.people.paused != "":
		return nil, r.already(n, "was paused by %s already", n.people.paused)
	case n.sum:
		return nil, r.refuse(n, "the integration of all results cannot be paused; ralph pause holds the whole run")
	case n.status == executor.Done, n.status == executor.Blocked, n.status == executor.Cancelled, n.shown() == executor.Skipped:
		if d.Seen.State == underWay {
			return nil, r.already(n, "is %s meanwhile: there is nothing to pause", n.shown())
		}
		return nil, r.refuse(n, "there is nothing to pause")
	}
	return func() error {
		n.people.paused, n.people.pausedAt = d.By, r.at
		if n.status == executor.Ready {
			return r.move(n, executor.Pending)
		}
		return nil
	}, nil
}

func (r *Run) considerResume(n *node, d *executor.Decision) (act, error) {
	more := d.Budget != (ir.Budget{})
	budget := n.status == executor.Waiting && n.wait.For == executor.ForBudget && n.wait.Cause != executor.CauseHeld
	enough := budget && n.nodeOver(d.Budget, r.at) == ""
	switch {
	case n.people.paused == "" && n.status == executor.Waiting && n.wait.Cause == executor.CauseHeld:
		return nil, &executor.Refused{Why: fmt.Sprintf("%s waits because the whole run is held: %s", n.ir.Key, r.halt.held.Detail), Hint: r.budget.heldWay().Command()}
	case n.people.paused == "" && !more && d.Seen.WasPaused():
		return nil, r.already(n, "was resumed already")
	case n.people.paused == "" && !budget && !more && !n.waitsFor(executor.CauseTakeover):
		return nil, r.refuse(n, "it is not paused")
	case budget && !enough && n.people.paused == "":
		return nil, &executor.Refused{
			Why:  fmt.Sprintf("%s would stop again at once: %s", n.ir.Key, n.nodeOver(d.Budget, r.at)),
			Hint: fmt.Sprintf("ralph resume %s --budget %s", n.typed(), n.nodeMore(r.at)),
		}
	}
	return func() error {
		n.people.budget = addBudget(n.people.budget, d.Budget)
		paused := n.people.paused != ""
		n.people.paused = ""
		switch {
		case enough || n.waitsFor(executor.CausePaused, executor.CauseTakeover):
			return r.release(n, "resumed by "+d.By)
		case paused && n.status == executor.Pending && r.runs.begun && !r.runs.foreign && !n.sum:
			return r.arrive(n)
		}
		return nil
	}, nil
}
