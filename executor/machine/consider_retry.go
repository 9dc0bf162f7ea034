package machine

import (
	"fmt"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// considerRetry covers all that begins something again. What a person asks for costs no
// attempt, and brings a new allowance.
func (r *Run) considerRetry(n *node, d *executor.Decision) (act, error) {
	if d.How == executor.KeepOld {
		return r.considerKeepOld(n, d)
	}
	if d.How == executor.GatesOnly {
		return r.considerGatesOnly(n, d)
	}
	l := &n.life
	switch {
	case n.people.reopen:
		return nil, &executor.Refused{Why: fmt.Sprintf("%s is reopened already: it begins at the next ralph apply", n.ir.Key)}
	case n.status == executor.Blocked && !r.goesOn(n), n.status == executor.Cancelled:
		return func() error { n.people.tell(*d); return r.reopen(n) }, nil
	case n.status == executor.Blocked, n.toBeJudged():
		return func() error {
			l.mended = false
			n.people.tell(*d)
			r.retryBlocked(n)
			return r.release(n, "retried by "+d.By)
		}, nil
	case n.shown() == executor.Skipped:
		return func() error { n.people.tell(*d); return r.unskip(n) }, nil
	case n.status == executor.Waiting && l.stale:
		return nil, r.refuse(n, "epic.json has changed it; the next ralph apply starts it again")
	case n.status != executor.Waiting:
		return nil, r.refuse(n, "there is nothing to retry")
	}
	return r.considerRetryWait(n, d)
}

// considerRetryWait ends a wait by another attempt.
func (r *Run) considerRetryWait(n *node, d *executor.Decision) (act, error) {
	again := func(what string) act {
		return func() error { n.people.tell(*d); return r.release(n, what+" by "+d.By) }
	}
	l := &n.life
	switch {
	case n.waitsFor(executor.CauseQuestion) && d.Message == "":
		return nil, r.refuse(n, "the agent asked a question: answer with -m TEXT")
	case n.waitsFor(executor.CauseTakeover) && d.Message == "":
		return nil, r.refuse(n, "another attempt needs instructions: -m TEXT")
	case n.waitsFor(executor.CauseTakeover) && d.How == executor.HowPlain:
		return func() error { // from what is there, as after a question
			l.word, l.stage, l.attempt.leaving = *d, stageCollect, true
			n.allow(r.at)
			return again("answered")()
		}, nil
	case n.waitsFor(executor.CauseQuestion, executor.CauseDiagnosis, executor.CauseTakeover, executor.CauseProtected):
		return func() error { l.word = *d; n.allow(r.at); return again("answered")() }, nil
	case n.waitsFor(executor.CauseForeign):
		return r.bindForeign(d, func() error {
			if r.sum.buildAnew(); r.sum.wouldLose() { // these are named first
				return r.reopen(n)
			}
			return again("rebuilt")()
		})
	case n.waitsFor(executor.CauseOlder):
		return r.bindOlder(d, func() error { r.sum.buildAnew(); return r.reopen(n) })
	case n.waitsFor(executor.CauseHandedIn) && d.How != executor.Discard:
		return nil, r.refuse(n, "%s", n.handedWhy())
	case n.waitsFor(executor.CauseHandedIn):
		return func() error { n.allow(r.at); return again("retried")() }, nil
	case n.waitsFor(executor.CauseDeadline):
		return func() error { n.people.late = true; return again("retried")() }, nil
	case n.waitsFor(executor.CauseGate, executor.CauseConfig, executor.CauseRunner, executor.CauseWorkspace, executor.CauseConflict, executor.CauseOnly):
		return func() error {
			n.resolveAnew()
			n.allow(r.at)
			if d.How == executor.Discard {
				l.attempt.anew()
			}
			return again("retried")()
		}, nil
	case r.parkedFor(n) != "":
		return func() error { n.people.tell(*d); return r.unpark(r.parkedFor(n), d.By) }, nil
	case n.wait.For == executor.ForTimer || n.wait.For == executor.ForLimit:
		return nil, r.refuse(n, "it continues by itself")
	}
	return nil, r.refuse(n, "retry does not end this wait")
}

// goesOn reports whether a blocked node can continue its life: it still does the
// same work from the same results. The sum never does: it is made anew.
func (r *Run) goesOn(n *node) bool {
	return !n.sum && r.runs.begun && !r.runs.foreign && n.unsettled == 0 && !n.life.stale && len(n.ir.Steps) > 0 &&
		n.life.work == n.ir.Digest.Work && n.life.base.Commit != "" && n.life.print == fingerprint(r.inputs(n))
}

// retryBlocked opens the next attempt of a blocked node's life: at the step that
// its last failure went to, with a new allowance.
func (r *Run) retryBlocked(n *node) {
	l := &n.life
	if l.stage == stageStopped {
		to := n.next(l.step)
		if l.step == asideStep && to != asideStep {
			r.landing.landFailed(n, to)
		}
		l.step = to
	}
	n.allow(r.at)
	if l.attempt.status != executor.AttemptRunning {
		l.stage = stageOpen
	}
}

// reopen makes a node pending again; it begins a new life when what it needs is
// there, or is done at once by a success that is on record.
func (r *Run) reopen(n *node) error {
	n.people.skip, n.people.reopen, n.people.cancelled = false, false, ""
	if err := r.toPending(n); err != nil {
		return err
	}
	n.life.word = executor.Decision{}
	if !r.runs.begun || r.runs.foreign || n.sum {
		return nil
	}
	return r.arrive(n)
}

// unskip takes a skip back. When others have begun without the node's result,
// that waits for the next start, which derives everything anew.
func (r *Run) unskip(n *node) error {
	if n.status == executor.Pending {
		return r.reopen(n)
	}
	for _, i := range n.dependents {
		if s := r.nodes[i].status; s != executor.Pending && s != executor.Ready {
			n.people.reopen = true
			return nil
		}
	}
	for _, i := range n.dependents {
		d := r.nodes[i]
		d.unsettled++
		if d.status == executor.Ready {
			if err := r.move(d, executor.Pending); err != nil {
				return err
			}
		}
	}
	n.passes, n.through = false, nil
	return r.reopen(n)
}

// cannotHandIn says why the worktree cannot be taken for an attempt now, "" if it can.
func (r *Run) cannotHandIn(n *node) string {
	l := &n.life
	switch {
	case (n.sum || n.ir.Kind == ir.GateKind || len(n.ir.Steps) == 0) && (l.step != asideStep || !l.aside.merge): // but a conflict is in one
		return "it has no worktree of its own"
	case n.status != executor.Blocked && !n.toBeJudged() && (n.status != executor.Waiting || n.wait.For != executor.ForHuman), n.waitsFor(executor.CausePaused, executor.CauseHeld, executor.CauseManual, executor.CausePull):
		return "its worktree cannot become an attempt now"
	case n.status == executor.Waiting && l.step == asideStep && !l.aside.merge:
		return "its result is being merged into the integration branch, where nobody can work"
	case l.stale, n.status == executor.Blocked && !r.goesOn(n):
		return "its inputs have changed since it was blocked, so its worktree has an outdated base"
	case n.waitsFor(executor.CauseHandedIn) && l.step == asideStep:
		return "the results of its dependencies do not merge, which has to be resolved first"
	case len(n.logs) <= l.first && !n.waitsFor(executor.CauseConflict, executor.CauseHandedIn):
		return "there is no attempt to continue from"
	}
	return ""
}

// considerGatesOnly makes an attempt by that person of the worktree as it is.
func (r *Run) considerGatesOnly(n *node, d *executor.Decision) (act, error) {
	if why := r.cannotHandIn(n); why != "" {
		return nil, r.refuse(n, "%s", why)
	}
	l := &n.life
	return func() error {
		n.people.tell(*d)
		if n.status == executor.Blocked || n.toBeJudged() {
			l.mended = false
			r.retryBlocked(n)
		}
		n.allow(r.at)
		if l.step == asideStep {
			l.aside.used = l.aside.step.Limits.Attempts // no agent after a person
		}
		if l.word = *d; !n.sum {
			was := n.people.handed.base
			n.people.handed = handed{d.By, l.work, l.print, l.base.Commit}
			if was != "" && was != l.base.Commit {
				l.was = was
			}
		}
		if l.attempt.status != executor.AttemptRunning {
			l.stage = stageOpen
		}
		return r.release(n, "its worktree was handed in by "+d.By)
	}, nil
}

// oldOf is the success that --keep-old takes: the one for the present work and
// inputs that --rerun put aside, else the newest; nil if there is none, or it
// counts already.
func (r *Run) oldOf(n *node) *success {
	all := *n
	all.after = 0
	print := fingerprint(r.inputs(n))
	if s := all.match(n.ir.Digest.Work, print, n.life.base.Tree); s != nil {
		if s.seq > n.after {
			return nil
		}
		return s
	}
	if len(n.successes) == 0 {
		return nil
	}
	return &n.successes[len(n.successes)-1]
}

// cannotKeepOld says why no earlier success can be recorded for the present work
// and inputs, "" if one can.
func (r *Run) cannotKeepOld(n *node) string {
	if n.sum || len(n.successes) == 0 || n.status == executor.Running || n.shown() == executor.Skipped || n.status == executor.Done && !r.runs.foreign {
		return "there is no earlier success to keep"
	}
	if d := r.lacking(n, map[int]bool{}); d != nil {
		return fmt.Sprintf("the current result of a dependency is missing: %s (%s)", d.ir.Key, d.shown())
	}
	s := r.oldOf(n)
	if s == nil {
		return "there is no earlier success to keep"
	}
	inputs := r.inputs(n)
	held, like := r.lineage.ancestors(append([]executor.Result{{Node: n.id, Tree: s.result}}, inputs...))
	for _, in := range inputs {
		if in.Node != "base" && in.Commit != s.result.Commit && !held[in.Commit] && like[in.Commit] == "" {
			return fmt.Sprintf("its earlier result, %.7s, lacks the current one of %s", s.result.Commit, r.nameOf(in.Node))
		}
	}
	return ""
}

// lacking is a dependency of n that is not done in its present form, nil if all are.
func (r *Run) lacking(n *node, seen map[int]bool) *node {
	for _, i := range n.deps {
		d := r.nodes[i]
		if !d.status.Settled() || d.accepted != nil && d.accepted.work != d.ir.Digest.Work {
			return d
		}
		if !r.runs.foreign || seen[i] { // a run has derived it from what it needs
			continue
		}
		seen[i] = true
		if x := r.lacking(d, seen); x != nil {
			return x
		}
	}
	return nil
}

// considerKeepOld records an earlier success for the present work and inputs. The
// decision is bound to both: it says nothing about a text that comes later.
func (r *Run) considerKeepOld(n *node, d *executor.Decision) (act, error) {
	if why := r.cannotKeepOld(n); why != "" {
		return nil, r.refuse(n, "%s", why)
	}
	old, inputs := *r.oldOf(n), r.inputs(n)
	now := fingerprint(inputs)
	if d.Digest != "" && d.Digest != n.ir.Digest.Work || d.Base != "" && d.Base != now {
		return nil, r.refuse(n, "the decision is about a different text or different inputs")
	}
	d.Digest, d.Base, d.Result = n.ir.Digest.Work, now, old.result.Tree
	return func() error {
		old.seq, old.work, old.print, old.merged = r.seq+1, d.Digest, now, false
		if len(inputs) > 1 {
			old.base = ""
		} else {
			old.base = inputs[0].Tree.Tree
		}
		n.successes = append(n.successes, old)
		if r.runs.foreign {
			return nil
		}
		return r.reopen(n)
	}, nil
}
