package executor

import (
	"fmt"

	"github.com/ralph-compiler/ralph/ir"
)

func (r *Run) attemptStarted(n *node, e Event, b AttemptStarted) error {
	if e.Attempt <= n.numbers[e.Step] {
		return fmt.Errorf("attempt %d of step %s was already used", e.Attempt, e.Step)
	}
	if n.status != Running {
		return fmt.Errorf("a %s node starts no attempt", n.status)
	}
	n.numbers[e.Step] = e.Attempt
	l := &n.life
	l.attempt = attempt{status: AttemptRunning, step: e.Step, number: e.Attempt, from: b.From, rejudge: b.Rejudge}
	n.logs = append(n.logs, AttemptLog{Step: e.Step, Number: e.Attempt, Status: AttemptRunning, Start: b.Start, From: b.From, Started: r.at, Person: b.Person, Said: n.people.said})
	n.people.said = nil
	l.stage = stagePrepare
	if l.stale {
		return nil
	}
	i := n.stepIndex(e.Step)
	if i < 0 {
		return fmt.Errorf("the node has no step %q", e.Step)
	}
	l.step, l.starts[i] = i, b.Start
	if b.Person != "" {
		r.handIn(n, b.Person)
		return nil
	}
	if b.Rejudge || !n.hasAgent(&n.ir.Steps[i]) {
		result := Tree{Commit: b.From}
		if b.From == l.base.Commit {
			result = l.base
		} else if s := n.match(l.work, l.print, l.base.Tree); s != nil && s.result.Commit == b.From {
			result = s.result
		}
		l.attempt.collected = Collected{Result: result}
	}
	return nil
}

// attemptEnded applies a verdict: go on with the next step, or remember the
// failure and where it goes.
func (r *Run) attemptEnded(n *node, b AttemptEnded) error {
	l := &n.life
	if err := l.attempt.move(b.Status); err != nil {
		return err
	}
	log := &n.logs[len(n.logs)-1]
	log.Status, log.Reason, log.Ended = b.Status, b.Reason, r.at
	l.trouble, l.failures = nil, 0
	if c := l.attempt.collected.Result.Commit; c != "" {
		l.tip = c
	}
	if b.Free {
		return r.freeEnd(n, b)
	}
	if b.Status != AttemptPassed && r.personFailed(n) {
		return nil
	}
	if b.Status == AttemptPassed {
		l.notes[l.step] = log.Outcome.Summary
		l.streak, l.sign, l.rejudge = 0, "", false
		if l.step+1 == len(n.ir.Steps) || l.attempt.rejudge {
			l.stage = stagePublish
			return nil
		}
		l.step++
		l.starts[l.step] = l.tip
		l.stage = stageOpen
		return nil
	}
	if b.Status == AttemptStopped || n.ir.Kind == ir.GateKind {
		l.stage = stageStopped
		return nil
	}
	if b.Signature != "" && b.Signature == l.sign {
		l.streak++
	} else {
		l.streak, l.sign = 1, b.Signature
	}
	to := n.stepIndex(b.Next)
	if to < 0 || to > l.step {
		return fmt.Errorf("a failure of step %q cannot go to step %q", l.attempt.step, b.Next)
	}
	if b.Status.counts() && !l.rejudge {
		l.used[to]++
	}
	l.rejudge = false
	l.step, l.stage = to, stageFailed
	return nil
}

func (r *Run) effectStarted(n *node, e Event, b EffectStarted) error {
	l := &n.life
	if l.flying {
		return fmt.Errorf("%s is still in flight", l.effect.Kind)
	}
	l.flying = true
	if l.stale {
		return nil
	}
	want, ok := r.effect(n)
	if !ok || want.Kind != b.Kind || want.Gate != b.Gate || want.Iteration != b.Iteration {
		return fmt.Errorf("%s is not what the node needs (%s)", b.Kind, want.Kind)
	}
	want.Seq = e.Seq
	l.effect, l.redo = want, false
	if b.Kind == EffectAgent {
		l.attempt.iteration = b.Iteration
		r.agents[r.runnerOf(n.stepNow())]++
	}
	return nil
}

// effectEnded applies what a worker reported.
func (r *Run) effectEnded(n *node, e Event) error {
	l := &n.life
	if !l.flying {
		return fmt.Errorf("nothing is in flight")
	}
	kind := l.effect.Kind
	if reports[e.Kind()] != kind && e.Kind() != (EffectFailed{}).kind() {
		return fmt.Errorf("%s is in flight", kind)
	}
	l.flying = false
	if kind == EffectAgent {
		r.agents[r.runnerOf(n.stepNow())]--
	}
	r.account(n, e)
	b, failed := e.Body.(EffectFailed)
	if !failed {
		l.failures = 0
	}
	a := &l.attempt
	switch b := e.Body.(type) {
	case BaseMade:
		r.setBase(n, b.Base)
	case Prepared:
		l.stage = stageAgent
		if a.collected.Result.Commit != "" {
			l.stage = stageGate
		}
	case AgentEnded:
		r.agentEnded(n, b)
	case Collected:
		r.collected(n, b)
	case GateJudged:
		return r.gateJudged(n, b)
	case Published:
		if n.sum {
			r.sumRef = b.Result.Commit
		}
		a.collected.Result = b.Result
		l.stage = stageFinish
	}
	if !failed {
		return nil
	}
	l.flying = true // rewind puts back what was cut
	l.rewind()
	if b.Class != FailInterrupted {
		l.failures++
		l.trouble = &b
	}
	return nil
}

// reports says which event reports which effect.
var reports = map[string]EffectKind{
	(BaseMade{}).kind():   EffectBase,
	(Prepared{}).kind():   EffectPrepare,
	(AgentEnded{}).kind(): EffectAgent,
	(Collected{}).kind():  EffectCollect,
	(GateJudged{}).kind(): EffectGate,
	(Published{}).kind():  EffectPublish,
}

func (r *Run) agentEnded(n *node, b AgentEnded) {
	l := &n.life
	log := &n.logs[len(n.logs)-1]
	log.Outcome, log.ExitCode, log.Tail = b.Outcome, b.ExitCode, b.Tail
	l.attempt.end = b
	l.stage = stageCollect
	more := b.Outcome.Result == "partial" || b.Outcome.Result != "failed" && b.Outcome.NextAction == "repeat_phase"
	if b.End == EndExited && more && !b.Outcome.asks() && l.attempt.iteration < n.stepNow().Limits.Iterations {
		l.stage = stageAgent
	}
}

func (o Outcome) asks() bool {
	return o.NeedsHuman || o.NextAction == "need_human" || o.NextAction == "needs_human"
}

func (r *Run) collected(n *node, b Collected) {
	l := &n.life
	log := &n.logs[len(n.logs)-1]
	log.Commit, log.Problems = b.Result.Commit, b.Problems
	l.attempt.collected = b
	end := l.attempt.end
	switch {
	case len(b.Problems) > 0 || end.End != EndExited || end.Outcome.Result == "failed" || end.Outcome.Invalid != "" || end.Outcome.Result == "" && end.ExitCode != 0:
		l.stage = stageVerdict
	case end.Outcome.asks():
		l.stage = stageAsk
	default:
		l.stage = stageGate
	}
	if l.stage == stageGate && len(n.stepNow().Gates) == 0 {
		l.stage = stageVerdict
	}
}

// gateJudged goes on to the next gate, or to the verdict: a stop ends all, a
// fail ends an ordered list unless the gate says continue, an error is asked
// again before a person is.
func (r *Run) gateJudged(n *node, b GateJudged) error {
	l := &n.life
	a := &l.attempt
	if b.Gate != l.effect.Gate {
		return fmt.Errorf("gate %s is in flight, not %s", l.effect.Gate, b.Gate)
	}
	step := n.stepNow()
	gate := r.epic.Gates[b.Gate]
	if b.Verdict == Fail && gate.OnFailure == "stop" {
		b.Verdict = Stop
	}
	if b.Verdict == ErrorJudged {
		a.asked++
		if a.asked > step.Limits.RunnerRetries {
			l.trouble = &EffectFailed{Class: failGate, Detail: b.Gate + ": " + b.Message}
			a.asked = 0
		}
		return nil
	}
	a.asked = 0
	a.judged = append(a.judged, b)
	n.logs[len(n.logs)-1].Gates = a.judged
	a.gate++
	ends := b.Verdict == Stop || b.Verdict == Fail && step.GateMode == "ordered" && gate.OnFailure != "continue"
	if ends || a.gate >= len(step.Gates) {
		l.stage = stageVerdict
	}
	return nil
}

// failGate is the class of a gate that could not be judged; it is made by the
// machine and stands in no journal.
const failGate FailureClass = "gate"
