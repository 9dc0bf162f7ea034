package machine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
)

func (r *Run) effectStarted(n *node, e executor.Event, b executor.EffectStarted) error {
	l := &n.life
	if l.stale {
		l.flight = append(l.flight, executor.Effect{Kind: b.Kind, Gate: b.Gate, Seq: e.Seq})
		if b.Kind == executor.EffectAgent && len(n.logs) > l.first {
			n.logs[len(n.logs)-1].Turn = turnName(b.Iteration)
		}
		return nil
	}
	if n.status != executor.Running {
		return fmt.Errorf("a %s node begins nothing", n.status)
	}
	if n.sum && b.Kind == executor.EffectGate && n.stepNow() != nil {
		if g := n.gate(b.Gate); g != nil {
			g.spared = false // earlier releases spared fewer
		}
	}
	r.buffers.effects = r.effects(n, r.buffers.effects[:0])
	for _, want := range r.buffers.effects {
		if want.Kind == b.Kind && want.Gate == b.Gate && want.Iteration == b.Iteration {
			r.begins(n, e, b, want)
			return nil
		}
	}
	if want, ok := r.asThen(n, e, b); ok {
		r.begins(n, e, b, want)
		return nil
	}
	for _, f := range l.flight {
		return fmt.Errorf("%s is still in flight", f.Kind)
	}
	return fmt.Errorf("%s %s is not what the node needs", b.Kind, b.Gate)
}

// begins takes note of an effect that has begun.
func (r *Run) begins(n *node, e executor.Event, b executor.EffectStarted, want executor.Effect) {
	l := &n.life
	want.Seq = e.Seq
	if n.sum && want.Kind == executor.EffectPublish {
		r.sum.meant, r.sum.meantOf = want.Commit, l.inputs
	}
	l.again(want.Kind, want.Gate, true)
	r.budget.reserve(n, &want)
	l.flight = append(l.flight, want)
	if name := r.asks(&want); name != "" {
		r.parks.agents[name]++
		r.parks.asked(name, e.At)
	}
	switch b.Kind {
	case executor.EffectGate:
		if g := n.gate(b.Gate); g != nil {
			g.spoken = false
		}
	case executor.EffectAgent:
		l.attempt.iteration, l.attempt.session, l.attempt.spoken = b.Iteration, want.Session, false
		log := &n.logs[len(n.logs)-1]
		log.Meanwhile, n.people.said = append(slices.Clip(log.Meanwhile), n.people.said...), nil
		log.Turn, log.Session = turnName(b.Iteration), want.Session // what a fresh turn leaves is no earlier session's
	}
}

// ofAttempts are the effects that gates and limits have a say in.
var ofAttempts = []executor.EffectKind{executor.EffectPrepare, executor.EffectRed, executor.EffectAgent, executor.EffectCollect, executor.EffectDiagnose, executor.EffectGate}

// asThen is the effect of an attempt that an epic with other gates or limits asked for: the
// node's work is the same, and its life goes on.
func (r *Run) asThen(n *node, e executor.Event, b executor.EffectStarted) (executor.Effect, bool) {
	l := &n.life
	a := &l.attempt
	if !r.runs.foreign || a.status != executor.AttemptRunning || e.Step != a.step || e.Attempt != a.number || !slices.Contains(ofAttempts, b.Kind) {
		return executor.Effect{}, false
	}
	if slices.ContainsFunc(l.flight, func(f executor.Effect) bool { return f.Kind != executor.EffectGate || b.Kind != executor.EffectGate }) {
		return executor.Effect{}, false
	}
	return executor.Effect{
		Kind: b.Kind, Node: n.id, Step: a.step, Attempt: a.number, Gate: b.Gate, Iteration: b.Iteration,
		Start: l.start(), Commit: a.collected.Result.Commit, Base: l.under(),
	}, true
}

// take removes a reported effect from those in flight.
func (r *Run) take(n *node, rep report) (executor.Effect, bool) {
	l := &n.life
	i := rep.among(l.flight)
	if i < 0 {
		return executor.Effect{}, false
	}
	e := l.flight[i]
	l.flight = slices.Delete(l.flight, i, i+1)
	if name := r.asks(&e); name != "" {
		r.parks.agents[name]--
	}
	r.budget.unreserve(n, &e)
	return e, true
}

// report is what an event says of the effect whose end it reports.
type report struct {
	of   int64               // event that began it; 0: unknown
	kind executor.EffectKind // "": any
	gate string              // "" with kind "": any
}

// reportOf reports whether an event reports the end of an effect, and of which one.
func reportOf(e executor.Event) (report, bool) {
	rep := report{of: e.Of}
	switch b := e.Body.(type) {
	case executor.EffectFailed:
		rep.gate = b.Gate
	case executor.BaseMade:
		rep.kind = executor.EffectBase
	case executor.Prepared:
		rep.kind = executor.EffectPrepare
	case executor.AgentEnded:
		rep.kind = executor.EffectAgent
	case executor.Diagnosed:
		rep.kind = executor.EffectDiagnose
	case executor.Collected:
		rep.kind = executor.EffectCollect
	case executor.GateJudged:
		if rep.kind, rep.gate = executor.EffectGate, b.Gate; b.Red {
			rep.kind = executor.EffectRed
		}
	case executor.Published:
		rep.kind = executor.EffectPublish
	case executor.Landed:
		rep.kind = executor.EffectLand
	case executor.Pulled:
		rep.kind = executor.EffectPull
	case executor.PullSeen:
		rep.kind = executor.EffectPoll
	default:
		return rep, false
	}
	return rep, true
}

// among finds the effect of a report; -1 if none fits.
func (rep report) among(flight []executor.Effect) int {
	for i := range flight {
		f := &flight[i]
		if (rep.of == 0 || rep.of == f.Seq) && (rep.kind == "" || f.Kind == rep.kind) && (rep.gate == f.Gate || rep.kind == "" && rep.gate == "") {
			return i
		}
	}
	return -1
}

// landed takes what an event reports out of what a life for another text has in flight.
func (l *life) landed(e executor.Event) executor.Effect {
	rep, _ := reportOf(e)
	i := rep.among(l.flight)
	if i < 0 {
		return executor.Effect{}
	}
	f := l.flight[i]
	l.flight = slices.Delete(l.flight, i, i+1)
	return f
}

// effectEnded applies what a worker reported.
func (r *Run) effectEnded(n *node, e executor.Event) error {
	l := &n.life
	rep, ok := reportOf(e)
	switch b := e.Body.(type) {
	case executor.EffectFailed:
		return r.effectFailed(n, e, b, rep)
	case executor.GateJudged:
		if b.Red {
			break
		}
		if n.waitsFor(executor.CauseApproval) && n.wait.Gate == b.Gate { // its time is over
			if err := r.gateJudged(n, b); err != nil {
				return err
			}
			return r.release(n, "judged")
		} else if b.By != "" && n.status == executor.Running && len(l.flight) == 0 && l.stage == stageGate { // a person's word
			return r.gateJudged(n, b)
		}
	}
	var done executor.Effect
	if ok {
		done, ok = r.take(n, rep)
	}
	if !ok {
		if len(l.flight) > 0 {
			return fmt.Errorf("%s is in flight", l.flight[0].Kind)
		}
		return fmt.Errorf("nothing is in flight")
	}
	r.budget.account(n, e, done)
	r.budget.learn(e, done)
	if name := r.asks(&done); name != "" {
		r.parks.answered(name)
	}
	if done.Kind == l.failing && done.Kind != executor.EffectRed {
		l.failures, l.failing = 0, ""
	}
	delete(l.lostAt, done.Kind)
	return r.effectDone(n, e.Body, done)
}

// effectDone continues with what an effect came to.
func (r *Run) effectDone(n *node, body executor.Body, done executor.Effect) error {
	l := &n.life
	switch b := body.(type) {
	case executor.BaseMade:
		if b.Head != "" && done.Seq > r.landing.headAt { // else another result landed meanwhile
			r.landing.seen(executor.Tree{Commit: b.Head, Tree: treeAt(b.Base, b.Head)})
		}
		if l.step == asideStep {
			n.landMerged(b.Base)
			return nil
		}
		r.setBase(n, b.Base)
	case executor.Prepared:
		r.prepared(n, b)
	case executor.AgentEnded:
		r.agentEnded(n, b)
	case executor.Diagnosed:
		l.attempt.diagnosed = &b
		n.logs[len(n.logs)-1].Diagnosed = &b
		l.stage = stageDiagnosed
	case executor.Collected:
		n.collected(b)
	case executor.GateJudged:
		if b.Red {
			r.redJudged(n, b)
			return nil
		}
		err := r.gateJudged(n, b)
		n.putBack()
		return err
	case executor.Published:
		r.published(n, b)
	case executor.Landed:
		r.landing.over(n, b.Head, stageFinish)
	case executor.Pulled:
		r.pulled(n, b)
	case executor.PullSeen:
		r.pullSeen(n, b)
	}
	return nil
}

// putBack lets the worktree be put back, once no gate works in it any more,
// after one that was cut.
func (n *node) putBack() {
	l := &n.life
	if l.attempt.dirty && len(l.flight) == 0 && l.stage == stageGate && !l.attempt.troubled() {
		l.attempt.dirty, l.stage = false, stagePrepare
	}
}

func (r *rules) prepared(n *node, b executor.Prepared) {
	l := &n.life
	a := &l.attempt
	if l.step == asideStep && l.aside.merge && len(b.Paths) > 0 {
		l.aside.paths = b.Paths
	}
	if b.Anew {
		a.anew()
	}
	if a.own = (executor.Prepared{}); r.byPerson(n) {
		a.own = b
	}
	switch {
	case a.checks:
		l.stage = stageCollect
	case a.collected.Result.Commit != "":
		l.stage = stageGate
	case a.going != goesFresh:
		l.stage = stageAgent
	case l.step == asideStep && n.byHand():
		l.stage = stageHand
	case r.redDue(n):
		l.stage = stageRed
	default:
		l.stage = stageAgent
	}
}

// failed counts a failure. What was put right before the same effect failed again,
// such as its worktree, does not count in between.
func (l *life) failed(kind executor.EffectKind) {
	if l.failing != kind {
		l.failures, l.failing = 0, kind
	}
	l.failures++
}

// workerLost counts a worker that was lost, until one reports on the same kind of
// effect; what succeeds in between, such as putting the worktree back, ends no row.
func (l *life) workerLost(kind executor.EffectKind) {
	if l.lostAt == nil {
		l.lostAt = map[executor.EffectKind]int{}
	}
	l.lostAt[kind]++
}

func (r *Run) effectFailed(n *node, e executor.Event, b executor.EffectFailed, rep report) error {
	l := &n.life
	done, ok := r.take(n, rep)
	if !ok {
		return fmt.Errorf("nothing is in flight")
	}
	r.budget.account(n, e, done)
	if done.Kind == executor.EffectAgent {
		log := &n.logs[len(n.logs)-1]
		if !b.Usage.IsZero() {
			log.Usage = addUsage(log.Usage, b.Usage, log.Turns == 0 && log.Usage.IsZero())
		}
		log.Sandbox = cmp.Or(b.Sandbox, log.Sandbox)
	}
	name := r.asks(&done)
	if name != "" && b.Class == executor.FailTransient {
		r.parks.failing(name, e.At)
	}
	if done.Kind == executor.EffectGate {
		if b.Class != executor.FailInterrupted {
			log := &n.logs[len(n.logs)-1]
			log.Erred = append(log.Erred, Erred{Gate: done.Gate, Class: b.Class, Why: b.Detail, Agent: done.Agent, At: e.At})
		}
		r.gateFailed(n, done, b)
		n.putBack()
		return nil
	}
	l.flight = append(l.flight, done) // rewind puts back what was cut
	r.rewind(n)
	if b.Class != executor.FailInterrupted && r.troubles(n, done, &b) {
		l.trouble = &trouble{b, done.Kind, done.Agent}
	}
	return nil
}

// troubles counts a failure. It reports whether a decision has to answer it; a lost
// session may begin anew without one, and so may what has its own way on.
func (r *Run) troubles(n *node, done executor.Effect, b *executor.EffectFailed) bool {
	l := &n.life
	if b.Class == executor.FailLost {
		l.workerLost(done.Kind)
		return true
	}
	delete(l.lostAt, done.Kind)
	switch {
	case b.Class == executor.FailSession && done.Kind == executor.EffectAgent:
		n.logs[len(n.logs)-1].Session = ""
		if !l.attempt.sessionLost(done) {
			return false
		}
		l.failed(done.Kind)
		l.failures = max(l.failures, l.attempt.losses)
		b.Class = executor.FailCrash
		return true
	case b.Class == executor.FailConflict && done.Kind == executor.EffectBase:
		r.conflict(n, b.Paths)
		return false
	case b.Class == executor.FailMoved && done.Kind == executor.EffectLand:
		r.landing.over(n, b.Head, stageLanding)
		return false
	case b.Class == executor.FailForeign && n.sum:
		r.sum.sawForeign(*b)
	}
	l.failed(done.Kind)
	return true
}
