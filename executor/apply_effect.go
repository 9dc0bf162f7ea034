package executor

import (
	"fmt"
	"slices"
)

func (r *Run) effectStarted(n *node, e Event, b EffectStarted) error {
	l := &n.life
	if l.stale {
		l.flight = append(l.flight, Effect{Kind: b.Kind, Gate: b.Gate, Seq: e.Seq})
		if b.Kind == EffectAgent && len(n.logs) > l.first {
			n.logs[len(n.logs)-1].Turn = turnName(b.Iteration)
		}
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
		if n.sum && want.Kind == EffectPublish {
			r.sumMeant, r.sumMeantOf = want.Commit, l.inputs
		}
		l.again(want.Kind, want.Gate, true)
		r.reserve(n, &want)
		l.flight = append(l.flight, want)
		if name := r.asks(&want); name != "" {
			r.agents[name]++
			r.asked(name, e.At)
		}
		if b.Kind == EffectGate {
			l.attempt.gates[slices.Index(n.stepNow().Gates, b.Gate)].spoken = false
		}
		if b.Kind == EffectAgent {
			l.attempt.iteration, l.attempt.session, l.attempt.spoken = b.Iteration, want.Session, false
			log := &n.logs[len(n.logs)-1]
			log.Turn, log.Session = turnName(b.Iteration), want.Session // what a fresh turn leaves is no earlier session's
		}
		return nil
	}
	for _, f := range l.flight {
		return fmt.Errorf("%s is still in flight", f.Kind)
	}
	return fmt.Errorf("%s %s is not what the node needs", b.Kind, b.Gate)
}

// take removes a reported effect from those in flight.
func (r *Run) take(n *node, match func(Effect) bool) (Effect, bool) {
	l := &n.life
	for i, e := range l.flight {
		if !match(e) {
			continue
		}
		l.flight = append(l.flight[:i], l.flight[i+1:]...)
		if name := r.asks(&e); name != "" {
			r.agents[name]--
		}
		r.unreserve(n, e)
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

// landed takes what an event reports out of what a life for another text has in flight.
func (l *life) landed(e Event) Effect {
	kind, gate := reportOf(e)
	for i, f := range l.flight {
		if e.isOf(f) && (kind == "" || f.Kind == kind) && (gate == "" || f.Gate == gate) {
			l.flight = slices.Delete(l.flight, i, i+1)
			return f
		}
	}
	return Effect{}
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
	done, ok := r.take(n, func(f Effect) bool { return e.isOf(f) && f.Kind == kind && f.Gate == gate })
	if !ok {
		if len(l.flight) > 0 {
			return fmt.Errorf("%s is in flight", l.flight[0].Kind)
		}
		return fmt.Errorf("nothing is in flight")
	}
	r.account(n, e, done)
	r.learn(e, done)
	if name := r.asks(&done); name != "" {
		r.answered(name)
	}
	if kind == l.failing && kind != EffectRed {
		l.failures, l.failing = 0, ""
	}
	delete(l.lostAt, done.Kind)
	a := &l.attempt
	switch b := e.Body.(type) {
	case BaseMade:
		if b.Head != "" && done.Seq > r.headAt { // else somebody landed meanwhile
			r.seen(Tree{Commit: b.Head, Tree: treeAt(b.Base, b.Head)})
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
	if l.step == asideStep && l.aside.merge && len(b.Paths) > 0 {
		l.aside.paths = b.Paths
	}
	if b.Anew {
		a.anew()
	}
	if a.own = (Prepared{}); r.byPerson(n) {
		a.own = b
	}
	switch {
	case a.collected.Result.Commit != "":
		l.stage = stageGate
	case a.going != goesFresh:
		l.stage = stageAgent
	case l.step == asideStep && r.byHand(n):
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

// workerLost counts a worker that was lost, until one reports on the same kind of
// effect; what succeeds in between, such as putting the worktree back, ends no row.
func (l *life) workerLost(kind EffectKind) {
	if l.lostAt == nil {
		l.lostAt = map[EffectKind]int{}
	}
	l.lostAt[kind]++
}

func (r *Run) effectFailed(n *node, e Event, b EffectFailed) error {
	l := &n.life
	done, ok := r.take(n, func(f Effect) bool { return e.isOf(f) && (b.Gate == "" || f.Gate == b.Gate) })
	if !ok {
		return fmt.Errorf("nothing is in flight")
	}
	r.account(n, e, done)
	if done.Kind == EffectAgent && !b.Usage.IsZero() {
		log := &n.logs[len(n.logs)-1]
		log.Usage = addUsage(log.Usage, b.Usage, log.Turns == 0 && log.Usage.IsZero())
	}
	name := r.asks(&done)
	if name != "" && b.Class == FailTransient {
		r.failing(name, e.At)
	}
	if done.Kind == EffectGate {
		r.gateFailed(n, done, b)
		r.putBack(n)
		return nil
	}
	l.flight = append(l.flight, done) // rewind puts back what was cut
	r.rewind(n)
	switch b.Class {
	case FailInterrupted:
		return nil
	case FailLost:
		l.workerLost(done.Kind)
		l.trouble = &trouble{b, done.Kind, done.Agent}
		return nil
	}
	delete(l.lostAt, done.Kind)
	switch b.Class {
	case FailSession:
		if done.Kind != EffectAgent {
			break
		}
		n.logs[len(n.logs)-1].Session = ""
		if !l.attempt.sessionLost(done) {
			return nil
		}
		l.failed(done.Kind)
		l.failures = max(l.failures, l.attempt.losses)
		b.Class = FailCrash
		l.trouble = &trouble{b, done.Kind, done.Agent}
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
			r.sawForeign(b)
		}
	}
	l.failed(done.Kind)
	l.trouble = &trouble{b, done.Kind, done.Agent}
	return nil
}
