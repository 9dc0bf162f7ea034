package machine

import (
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

func (r *Run) attemptStarted(n *node, e executor.Event, b executor.AttemptStarted) error {
	if e.Attempt <= n.numbers[e.Step] {
		return fmt.Errorf("attempt %d of step %s was already used", e.Attempt, e.Step)
	}
	if n.status != executor.Running {
		return fmt.Errorf("a %s node starts no attempt", n.status)
	}
	if len(n.life.flight) > 0 {
		return fmt.Errorf("%s is still in flight", n.life.flight[0].Kind)
	}
	n.numbers[e.Step] = e.Attempt
	l := &n.life
	l.attempt = attempt{status: executor.AttemptRunning, step: e.Step, number: e.Attempt, from: b.From, rejudge: b.Rejudge, checks: b.Checks, person: b.Person, agent: b.Agent}
	n.logs = append(n.logs, AttemptLog{
		Step: e.Step, Number: e.Attempt, Status: executor.AttemptRunning, Start: b.Start, From: b.From, Started: r.at,
		Person: b.Person, Agent: b.Agent, Rejudge: b.Rejudge, Said: n.people.said, before: n.cost.worked(r.at),
	})
	n.people.said, l.redo = nil, nil
	n.logs[len(n.logs)-1].Feedback = n.feedback()
	l.stage = stagePrepare
	l.mended = l.mended && (b.Rejudge || e.Step == LandStep)
	if l.stale {
		return nil
	}
	return r.openStep(n, e, b)
}

// openStep sets a new attempt on its way in its step.
func (r *Run) openStep(n *node, e executor.Event, b executor.AttemptStarted) error {
	l := &n.life
	if e.Step == LandStep && l.aside == nil && n.ir.Kind != "" {
		r.landing.beginLanding(n, b)
	}
	i := n.stepIndex(e.Step)
	if i == -1 {
		return fmt.Errorf("the node has no step %q", e.Step)
	}
	if i != l.step {
		l.standin, l.stalls = 0, 0
	}
	l.step = i
	if i >= 0 {
		l.starts[i] = b.Start
	}
	a := &l.attempt
	step := n.stepNow()
	a.gates = r.gateStates(n, step)
	log := &n.logs[len(n.logs)-1]
	log.ByHand = i == asideStep && b.Person == "" && !b.Rejudge && n.byHand()
	switch {
	case log.ByHand:
		log.Feedback = nil // it is not reported
	case a.agent == "" && n.hasAgent(step):
		a.agent = step.Agent
	}
	switch {
	case b.Person != "":
		n.handIn(b.Person)
		if i == asideStep {
			l.aside.touched = true
		}
	case i == asideStep && !l.aside.merge:
		r.landFrom(n)
	case i == asideStep && !b.Rejudge:
	case b.Rejudge || !n.hasAgent(step):
		a.collected = executor.Collected{Result: n.treeOf(b.From)}
	}
	if b.Resumes {
		a.session = n.sessionOf(e.Step, b.From, a.agent)
		a.resumes = a.session != ""
	}
	log.Agent = a.agent
	return nil
}

// treeOf finds the tree of a commit that a node's attempt starts from.
func (n *node) treeOf(commit string) executor.Tree {
	if commit == n.life.base.Commit {
		return n.life.base
	}
	if i := slices.IndexFunc(n.life.stepsAt, func(t executor.Tree) bool { return t.Commit == commit }); i >= 0 {
		return n.life.stepsAt[i]
	}
	for i := range n.successes {
		if s := &n.successes[i]; s.result.Commit == commit {
			return s.result
		}
	}
	for _, o := range n.orphans {
		if o.Result.Commit == commit {
			return o.Result
		}
	}
	if l := newest(n.logs, func(l *AttemptLog) bool { return l.Collected.Result.Commit == commit }); l != nil {
		return l.Collected.Result
	}
	return executor.Tree{Commit: commit}
}

// attemptEnded applies a verdict: continue with the next step, or remember the
// failure and where it goes.
func (r *Run) attemptEnded(n *node, b executor.AttemptEnded) error {
	l := &n.life
	if len(l.flight) > 0 {
		return fmt.Errorf("%s is still in flight", l.flight[0].Kind)
	}
	if err := l.attempt.move(b.Status); err != nil {
		return err
	}
	log := &n.logs[len(n.logs)-1]
	log.Status, log.Reason, log.Replaced, log.Ended = b.Status, b.Reason, b.Replaced(), r.at
	log.Work = n.cost.worked(r.at) - log.before
	lacks := l.attempt.collected.Lacks != ""
	if l.attempt.person != "" && !lacks {
		n.people.handed = handed{} // it is judged
	}
	l.trouble, l.failures, l.failing, l.lostAt = nil, 0, "", nil
	merging := l.step == asideStep && l.aside.merge
	if c := l.attempt.collected.Result.Commit; c != "" && !merging && !lacks && b.Status != executor.AttemptError {
		l.tip = c
	}
	if b.Free {
		return r.freeEnd(n, b)
	}
	if b.Status == executor.AttemptPassed {
		l.mended = l.mended && l.step == asideStep // it lands first
		return r.passed(n, log, b.Judge)
	}
	if l.mended { // it stays blocked
		if l.step == asideStep {
			r.landing.landFailed(n, len(n.ir.Steps)-1)
			l.step = len(n.ir.Steps) - 1
		}
		l.mended, l.stage = false, stageStopped
		return nil
	}
	return r.attemptFailed(n, b, merging)
}

// attemptFailed says what follows on an attempt that did not pass.
func (r *Run) attemptFailed(n *node, b executor.AttemptEnded, merging bool) error {
	if r.personFailed(n) {
		return nil
	}
	l := &n.life
	if b.Status == executor.AttemptStopped || n.ir.Kind == ir.GateKind && !merging {
		l.stage = stageStopped
		return nil
	}
	if b.Status.Counts() {
		if b.Signature != "" && b.Signature == l.sign {
			l.streak++
		} else {
			l.streak, l.sign = 1, b.Signature
		}
		l.signAt = l.step
	}
	to := n.stepIndex(b.Next)
	if to == -1 || to > l.step && l.step != asideStep {
		return fmt.Errorf("a failure of step %q cannot go to step %q", l.attempt.step, b.Next)
	}
	if b.Status.Counts() && len(l.judging) == 0 {
		*l.usedOf(to)++
	}
	if l.step == asideStep && !merging {
		if b.Status == executor.AttemptError { // it conflicts with the branch
			r.beginMerge(n, l.aside.inputs, l.aside.paths, true)
			return nil
		}
		r.landing.landFailed(n, to)
	}
	l.judging = nil
	to = l.judgedFailed(to)
	l.stage = stageFailed
	if b.Status == executor.AttemptError {
		l.stage = stageOpen
		n.unlucky()
	}
	if to != l.step {
		l.step, l.standin, l.stalls = to, 0, 0
	}
	return nil
}

// judgedFailed ends the judging of an earlier success that was not confirmed, and
// says at which step the node goes on: at the first, if what passed once does not
// hold what the node starts from now.
func (l *life) judgedFailed(to int) int {
	if l.made != nil && !slices.Equal(l.made, l.inputs) {
		clear(l.stepsAt)
		to, l.tip = 0, l.base.Commit
	}
	l.made = nil
	return to
}

// unlucky is an attempt that ended without anyone's fault: a diagnosis began it anew,
// or the next of the step's agents takes its place.
func (n *node) unlucky() {
	l := &n.life
	if l.lost {
		l.lost = false
		return
	}
	if l.attempt.diagnosed != nil {
		l.stalls++
		return
	}
	l.standin++
}

// passed goes on after an attempt whose gates all passed.
func (r *Run) passed(n *node, log *AttemptLog, judge string) error {
	l := &n.life
	if l.step == l.signAt { // an earlier step that passes again proves nothing about what failed
		l.streak, l.sign = 0, ""
	}
	if l.step == asideStep {
		if l.aside.merge {
			r.resolved(n, l.attempt.collected.Result)
		} else {
			l.stage = stageLand
		}
		return nil
	}
	l.notes[l.step] = log.Outcome.Summary
	l.stepsAt[l.step] = l.attempt.collected.Result
	if l.judgedBy != nil {
		l.judgedBy[l.step] = judge
	}
	l.standin, l.stalls = 0, 0
	if len(l.judging) > 0 {
		l.judging = l.judging[1:]
		if len(l.judging) > 0 {
			l.step, l.stage = l.judging[0], stageOpen
			return nil
		}
		l.step = len(n.ir.Steps) - 1
		l.tip = l.stepsAt[l.step].Commit
		l.attempt.collected.Result = l.stepsAt[l.step]
	}
	if l.step+1 == len(n.ir.Steps) {
		if l.stage = stagePublish; !r.runs.foreign {
			r.judgeUnjudged(n)
		}
		return nil
	}
	l.step++
	l.starts[l.step] = l.tip
	l.stage = stageOpen
	return nil
}

// judgeUnjudged lets the gates of earlier steps judge once more what they passed, if they are
// others now, before any of it becomes the node's result.
func (r *Run) judgeUnjudged(n *node) {
	l := &n.life
	l.judging = nil
	for i, by := range l.judgedBy {
		if by != "" && l.stepsAt[i].Commit != "" && len(n.ir.Steps[i].Gates) > 0 && by != r.judgeOf(n, i) {
			l.judging = append(l.judging, i)
		}
	}
	if len(l.judging) > 0 {
		l.step, l.stage = l.judging[0], stageOpen
	}
}
