package executor

import (
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

func (r *Run) attemptStarted(n *node, e Event, b AttemptStarted) error {
	if e.Attempt <= n.numbers[e.Step] {
		return fmt.Errorf("attempt %d of step %s was already used", e.Attempt, e.Step)
	}
	if n.status != Running {
		return fmt.Errorf("a %s node starts no attempt", n.status)
	}
	if len(n.life.flight) > 0 {
		return fmt.Errorf("%s is still in flight", n.life.flight[0].Kind)
	}
	n.numbers[e.Step] = e.Attempt
	l := &n.life
	l.attempt = attempt{status: AttemptRunning, step: e.Step, number: e.Attempt, from: b.From, rejudge: b.Rejudge, person: b.Person, agent: b.Agent}
	n.logs = append(n.logs, AttemptLog{
		Step: e.Step, Number: e.Attempt, Status: AttemptRunning, Start: b.Start, From: b.From, Started: r.at,
		Person: b.Person, Agent: b.Agent, Rejudge: b.Rejudge, Said: n.people.said,
	})
	n.people.said, l.redo = nil, nil
	n.logs[len(n.logs)-1].Feedback = r.feedback(n)
	l.stage = stagePrepare
	if l.stale {
		return nil
	}
	if e.Step == LandStep && l.aside == nil && n.ir.Kind != "" {
		r.beginLanding(n, b)
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
	a.gates = make([]gateState, len(step.Gates))
	if a.agent == "" && n.hasAgent(step) {
		a.agent = step.Agent
	}
	switch {
	case b.Person != "":
		r.handIn(n, b.Person)
		if i == asideStep {
			l.aside.touched = true
		}
	case i == asideStep && !l.aside.merge:
		r.landFrom(n)
	case i == asideStep:
	case b.Rejudge || !n.hasAgent(step):
		a.collected = Collected{Result: r.treeOf(n, b.From)}
	}
	if b.Resumes {
		a.session = r.sessionOf(n, e.Step, b.From, a.agent)
	}
	n.logs[len(n.logs)-1].Agent = a.agent
	return nil
}

// treeOf finds the tree of a commit that a node's attempt starts from.
func (r *Run) treeOf(n *node, commit string) Tree {
	if commit == n.life.base.Commit {
		return n.life.base
	}
	for _, t := range n.life.stepsAt {
		if t.Commit == commit {
			return t
		}
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
	for i := len(n.logs) - 1; i >= 0; i-- {
		if c := n.logs[i].Collected.Result; c.Commit == commit {
			return c
		}
	}
	return Tree{Commit: commit}
}

// attemptEnded applies a verdict: go on with the next step, or remember the
// failure and where it goes.
func (r *Run) attemptEnded(n *node, e Event, b AttemptEnded) error {
	l := &n.life
	if len(l.flight) > 0 {
		return fmt.Errorf("%s is still in flight", l.flight[0].Kind)
	}
	if err := l.attempt.move(b.Status); err != nil {
		return err
	}
	log := &n.logs[len(n.logs)-1]
	log.Status, log.Reason, log.Ended = b.Status, b.Reason, r.at
	l.trouble, l.failures, l.failing = nil, 0, ""
	merging := l.step == asideStep && l.aside.merge
	if c := l.attempt.collected.Result.Commit; c != "" && !merging && b.Status != AttemptError {
		l.tip = c
	}
	if b.Free {
		return r.freeEnd(n, b)
	}
	if b.Status == AttemptPassed {
		return r.passed(n, log)
	}
	if r.personFailed(n) {
		return nil
	}
	if b.Status == AttemptStopped || n.ir.Kind == ir.GateKind && !merging {
		l.stage = stageStopped
		return nil
	}
	if b.Status.counts() {
		if b.Signature != "" && b.Signature == l.sign {
			l.streak++
		} else {
			l.streak, l.sign = 1, b.Signature
		}
	}
	to := n.stepIndex(b.Next)
	if to == -1 || to > l.step && l.step != asideStep {
		return fmt.Errorf("a failure of step %q cannot go to step %q", l.attempt.step, b.Next)
	}
	if b.Status.counts() && len(l.judging) == 0 {
		*l.usedOf(to)++
	}
	if l.step == asideStep && !merging {
		if b.Status == AttemptError { // it conflicts with the branch
			r.beginMerge(n, l.aside.inputs, l.aside.paths, true)
			return nil
		}
		r.landFailed(n, to)
	}
	l.judging = nil
	l.stage = stageFailed
	if b.Status == AttemptError {
		l.stage = stageOpen
		r.unlucky(n, log)
	}
	if to != l.step {
		l.step, l.standin, l.stalls = to, 0, 0
	}
	return nil
}

// unlucky is an attempt that ended by nobody's fault: a diagnosis began it anew,
// or the next of the step's agents takes its place.
func (r *Run) unlucky(n *node, log *AttemptLog) {
	l := &n.life
	if l.attempt.diagnosed != nil {
		l.stalls++
		return
	}
	l.standin++
}

// passed goes on after an attempt whose gates all passed.
func (r *Run) passed(n *node, log *AttemptLog) error {
	l := &n.life
	l.streak, l.sign = 0, ""
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
	l.standin, l.stalls = 0, 0
	if len(l.judging) > 0 {
		l.judging = l.judging[1:]
		if len(l.judging) > 0 {
			l.step, l.stage = l.judging[0], stageOpen
			return nil
		}
		l.tip = l.stepsAt[len(l.stepsAt)-1].Commit
		l.attempt.collected.Result = l.stepsAt[len(l.stepsAt)-1]
		l.stage = stagePublish
		return nil
	}
	if l.step+1 == len(n.ir.Steps) {
		l.stage = stagePublish
		return nil
	}
	l.step++
	l.starts[l.step] = l.tip
	l.stage = stageOpen
	return nil
}

func (r *Run) effectStarted(n *node, e Event, b EffectStarted) error {
	l := &n.life
	if l.stale {
		l.flight = append(l.flight, Effect{Kind: b.Kind, Gate: b.Gate})
		return nil
	}
	if n.status != Running {
		return fmt.Errorf("a %s node begins nothing", n.status)
	}
	r.scratch = r.effects(n, r.scratch[:0])
	for _, want := range r.scratch {
		if want.Kind != b.Kind || want.Gate != b.Gate || want.Iteration != b.Iteration {
			continue
		}
		want.Seq = e.Seq
		l.again(want.Kind, want.Gate, true)
		l.flight = append(l.flight, want)
		if name := r.asks(want); name != "" {
			r.agents[name]++
			r.asked(name, e.At)
		}
		if b.Kind == EffectAgent {
			l.attempt.iteration = b.Iteration
		}
		return nil
	}
	for _, f := range l.flight {
		return fmt.Errorf("%s is still in flight", f.Kind)
	}
	return fmt.Errorf("%s %s is not what the node needs", b.Kind, b.Gate)
}

// land takes a reported effect out of the flight.
func (r *Run) take(n *node, match func(Effect) bool) (Effect, bool) {
	l := &n.life
	for i, e := range l.flight {
		if !match(e) {
			continue
		}
		l.flight = append(l.flight[:i], l.flight[i+1:]...)
		if name := r.asks(e); name != "" {
			r.agents[name]--
		}
		return e, true
	}
	return Effect{}, false
}

// reports says which event reports which effect.
var reports = map[string]EffectKind{
	(BaseMade{}).kind():   EffectBase,
	(Prepared{}).kind():   EffectPrepare,
	(AgentEnded{}).kind(): EffectAgent,
	(Diagnosed{}).kind():  EffectDiagnose,
	(Collected{}).kind():  EffectCollect,
	(GateJudged{}).kind(): EffectGate,
	(Published{}).kind():  EffectPublish,
	(Landed{}).kind():     EffectLand,
	(Pulled{}).kind():     EffectPull,
	(PullSeen{}).kind():   EffectPoll,
}

// reportOf says which effect, and of which gate, an event reports; "" is any.
func reportOf(e Event) (EffectKind, string) {
	switch b := e.Body.(type) {
	case EffectFailed:
		return "", b.Gate
	case GateJudged:
		if b.Red {
			return EffectRed, b.Gate
		}
		return EffectGate, b.Gate
	}
	return reports[e.Kind()], ""
}

// effectEnded applies what a worker reported.
func (r *Run) effectEnded(n *node, e Event) error {
	l := &n.life
	kind, gate := reports[e.Kind()], ""
	switch b := e.Body.(type) {
	case EffectFailed:
		return r.effectFailed(n, e, b)
	case GateJudged:
		gate = b.Gate
		if b.Red {
			kind = EffectRed
		} else if n.waitsFor(CauseApproval) && n.wait.Gate == b.Gate { // its time is over
			if err := r.gateJudged(n, b); err != nil {
				return err
			}
			return r.release(n, "judged")
		} else if b.By != "" && n.status == Running && len(l.flight) == 0 && l.stage == stageGate { // a person's word
			return r.gateJudged(n, b)
		}
	}
	done, ok := r.take(n, func(f Effect) bool { return f.Kind == kind && f.Gate == gate })
	if !ok {
		if len(l.flight) > 0 {
			return fmt.Errorf("%s is in flight", l.flight[0].Kind)
		}
		return fmt.Errorf("nothing is in flight")
	}
	r.account(n, e)
	if name := r.asks(done); name != "" {
		r.answered(name)
	}
	if kind == l.failing && kind != EffectRed {
		l.failures, l.failing = 0, ""
	}
	a := &l.attempt
	switch b := e.Body.(type) {
	case BaseMade:
		if b.Head != "" {
			r.head = b.Head
		}
		if l.step == asideStep {
			r.landMerged(n, b.Base)
			return nil
		}
		r.setBase(n, b.Base)
	case Prepared:
		r.prepared(n, b)
	case AgentEnded:
		r.agentEnded(n, b)
	case Diagnosed:
		a.diagnosed = &b
		n.logs[len(n.logs)-1].Diagnosed = &b
		l.stage = stageDiagnosed
	case Collected:
		r.collected(n, b)
	case GateJudged:
		if b.Red {
			r.redJudged(n, b)
			return nil
		}
		err := r.gateJudged(n, b)
		r.putBack(n)
		return err
	case Published:
		r.published(n, b)
	case Landed:
		r.landed(n, b)
	case Pulled:
		r.pulled(n, b)
	case PullSeen:
		r.pullSeen(n, b)
	}
	return nil
}

// putBack lets the worktree be put back, once no gate works in it any more,
// after one that was cut.
func (r *Run) putBack(n *node) {
	l := &n.life
	if l.attempt.dirty && len(l.flight) == 0 && l.stage == stageGate && !l.attempt.troubled() {
		l.attempt.dirty, l.stage = false, stagePrepare
	}
}

func (r *Run) prepared(n *node, b Prepared) {
	l := &n.life
	a := &l.attempt
	switch {
	case a.collected.Result.Commit != "":
		l.stage = stageGate
	case l.step == asideStep && r.byHand(n):
		if len(b.Paths) > 0 {
			l.aside.paths = b.Paths
		}
		l.stage = stageHand
	case r.redDue(n):
		l.stage = stageRed
	default:
		l.stage = stageAgent
	}
}

// failed counts a failure. What was put right before the same effect failed again,
// such as its worktree, does not count in between.
func (l *life) failed(kind EffectKind) {
	if l.failing != kind {
		l.failures, l.failing = 0, kind
	}
	l.failures++
}

func (r *Run) effectFailed(n *node, e Event, b EffectFailed) error {
	l := &n.life
	done, ok := r.take(n, func(f Effect) bool { return b.Gate == "" || f.Gate == b.Gate })
	if !ok {
		return fmt.Errorf("nothing is in flight")
	}
	name := r.asks(done)
	if name != "" && b.Class == FailTransient {
		r.failing(name, e.At)
	}
	if done.Kind == EffectGate {
		r.gateFailed(n, done, b)
		r.putBack(n)
		return nil
	}
	l.flight = append(l.flight, done) // rewind puts back what was cut
	l.rewind()
	switch b.Class {
	case FailInterrupted:
		return nil
	case FailConflict:
		if done.Kind == EffectBase {
			r.conflict(n, b.Paths)
			return nil
		}
	case FailMoved:
		if done.Kind == EffectLand {
			r.moved(n, b.Head)
			return nil
		}
	case FailForeign:
		if n.sum {
			r.foreignHead = b.Head
		}
	}
	l.failed(done.Kind)
	l.trouble = &trouble{b, done.Kind, done.Agent}
	return nil
}

func (r *Run) agentEnded(n *node, b AgentEnded) {
	l := &n.life
	a := &l.attempt
	log := &n.logs[len(n.logs)-1]
	log.Outcome, log.ExitCode, log.Tail = b.Outcome, b.ExitCode, b.Tail
	log.Turns++
	log.Millis += b.Millis
	log.Usage = addUsage(log.Usage, b.Usage, log.Turns == 1)
	if b.Agent != "" {
		log.Agent = b.Agent
	}
	if b.Model != "" {
		log.Model = b.Model
	}
	if b.Session != "" {
		log.Session = b.Session
	}
	a.end = b
	l.stage = stageCollect
	if b.End != EndExited || b.Outcome.asks() || b.Outcome.Fatal {
		return
	}
	switch o := b.Outcome; {
	case o.Invalid != "" && a.reminders == 0:
		a.reminders++
		l.stage = stageAgent
	case o.Invalid != "":
	case (o.Result == "partial" || o.Result != "failed" && o.NextAction == "repeat_phase") && a.iteration-a.reminders < n.stepNow().Limits.Iterations:
		l.stage = stageAgent
	}
}

// addUsage adds up what turns cost; what one of them did not say stays unknown.
func addUsage(sum, turn Usage, first bool) Usage {
	if first {
		return turn
	}
	add := func(a, b *int64) *int64 {
		if a == nil || b == nil {
			return nil
		}
		c := *a + *b
		return &c
	}
	return Usage{Tokens: add(sum.Tokens, turn.Tokens), USDMicro: add(sum.USDMicro, turn.USDMicro)}
}

func (o Outcome) asks() bool {
	return o.NeedsHuman || o.NextAction == "need_human" || o.NextAction == "needs_human"
}

// claims reports whether what the agent said lets gates begin.
func (e AgentEnded) claims() bool {
	switch {
	case e.End != EndExited || e.Outcome.Fatal || e.Outcome.Invalid != "" || e.Outcome.Result == "failed":
		return false
	case e.Outcome.Result == "" && e.Outcome.Promise == "" && e.ExitCode != 0:
		return false
	}
	return true
}

func (r *Run) collected(n *node, b Collected) {
	l := &n.life
	a := &l.attempt
	log := &n.logs[len(n.logs)-1]
	log.Commit, log.Problems, log.Collected = b.Result.Commit, b.Problems, b
	a.collected = b
	byPerson := a.person != ""
	switch {
	case a.end.End == EndStalled && n.stepNow().Stall.Action == "diagnose" && n.stepNow().Stall.Agent != "":
		l.stage = stageDiagnose
	case len(b.Problems) > 0 || !byPerson && !a.end.claims():
		l.stage = stageVerdict
		if !byPerson && len(b.Problems) == 0 && a.end.Outcome.asks() && !a.end.Outcome.Fatal {
			l.stage = stageAsk
		}
	case !byPerson && a.end.Outcome.asks():
		l.stage = stageAsk
	default:
		l.stage = stageGate
	}
}

// sessionOf is the session that an agent left exactly where an attempt starts;
// "" if there is none.
func (r *Run) sessionOf(n *node, step, from, agent string) string {
	for i := len(n.logs) - 1; i >= n.life.first; i-- {
		log := &n.logs[i]
		if log.Step != step || log.Status == AttemptRunning {
			continue
		}
		if log.Commit == from && log.Agent == agent {
			return log.Session
		}
		return ""
	}
	return ""
}

// since is how long ago something was, at least nothing.
func since(now, at time.Time) time.Duration { return max(now.Sub(at), 0) }
