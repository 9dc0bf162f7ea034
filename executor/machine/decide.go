package machine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// round is what the decisions of one Todo share.
type round struct {
	now     time.Time
	landing bool // another node is landing
}

// decide returns the decision that a running node needs, if it needs one.
func (r *Run) decide(n *node, rd *round) (executor.Event, bool) {
	l := &n.life
	now := rd.now
	if len(l.flight) > 0 {
		return executor.Event{}, false
	}
	if e, ok := r.onWord(n); ok {
		return e, true
	}
	if e, ok := r.restrained(n, now); ok {
		return e, true
	}
	if l.trouble != nil {
		return r.onTrouble(n, now), true
	}
	if l.lost {
		return n.attemptEvent(executor.AttemptEnded{
			Status: executor.AttemptError, Next: l.attempt.step, Reason: "the journal lost its outcome; its commit is judged again",
		}), true
	}
	if e, ok := r.waitForRunner(n, now); ok {
		return e, true
	}
	return r.decideStage(n, rd)
}

// decideStage returns the decision that a node's stage needs.
func (r *Run) decideStage(n *node, rd *round) (executor.Event, bool) {
	l, now := &n.life, rd.now
	switch l.stage {
	case stageOpen:
		if r.halt.draining {
			return executor.Event{}, false
		}
		if e, ok := n.awaitHanded(); ok {
			return e, true
		}
		return r.open(n), true
	case stageAgent:
		return r.awaitPerson(n)
	case stageAsk:
		q := l.attempt.end.Outcome.Summary
		return n.awaitHuman(executor.CauseQuestion, q), true
	case stageTaken:
		return n.takenDecision(), true
	case stageSpoken:
		return n.spokenDecision(), true
	case stageHand:
		return n.awaitHuman(executor.CauseConflict, r.handText(n)), true
	case stageDiagnosed:
		return r.afterDiagnosis(n), true
	case stageGate:
		if e, ok := r.approvedOne(n); ok {
			return e, true
		}
		if r.buffers.effects = r.gateEffects(n, r.buffers.effects[:0]); len(r.buffers.effects) == 0 {
			return r.decideGates(n, now)
		}
	case stageVerdict:
		if o := l.attempt.end.Outcome; o.Fatal && !r.halt.draining && l.attempt.person == "" {
			why := text.Head(r.nameOf(n.id)+" reported a fatal result"+executor.Because(o.Summary), 300)
			return executor.Event{Body: executor.RunDraining{Until: executor.Millis(now.Add(r.runs.grace())), Reason: why}}, true
		}
		return r.verdict(n), true
	case stageFailed:
		return r.afterFailure(n, now)
	case stageStopped:
		why := l.why
		if why == "" { // there is an attempt that says it
			why = n.logs[len(n.logs)-1].Reason
		}
		return r.blocks(n, why), true
	case stageLanding:
		if rd.landing || r.landing.node != nil && r.landing.node != n || r.halt.draining {
			return executor.Event{}, false
		}
		rd.landing = true
		return r.landing.openLanding(n), true
	case stageReview:
		return n.awaitPull(now), true
	case stageFinish:
		d := r.done(n)
		if n.sum {
			d.Asked = r.sum.asked()
		}
		return n.event(d), true
	}
	return executor.Event{}, false
}

// done is the record of a node's success.
func (r *rules) done(n *node) executor.NodeDone {
	l := &n.life
	d := executor.NodeDone{Work: l.work, Judge: l.judge, Result: l.result}
	if len(n.ir.Steps) < 2 || slices.ContainsFunc(l.stepsAt, func(t executor.Tree) bool { return t.Commit == "" }) {
		return d
	}
	for i, t := range l.stepsAt {
		d.Steps = append(d.Steps, executor.StepDone{Step: n.ir.Steps[i].Name, Judge: cmp.Or(l.judgedBy[i], r.judgeOf(n, i)), Result: t})
	}
	return d
}

func (n *node) event(b executor.Body) executor.Event { return executor.Event{Node: n.id, Body: b} }

// awaitHuman is the wait for a person.
func (n *node) awaitHuman(c executor.Cause, detail string) executor.Event {
	return n.event(executor.NodeWaiting{For: executor.ForHuman, Cause: c, Detail: detail})
}

// awaitHumanAt is the wait for a person whom a gate needs.
func (n *node) awaitHumanAt(c executor.Cause, gate, detail string) executor.Event {
	return n.event(executor.NodeWaiting{For: executor.ForHuman, Cause: c, Gate: gate, Detail: detail})
}

// awaitTime is the wait for a time, after which the node goes on.
func (n *node) awaitTime(until time.Time, detail string) executor.Event {
	return n.event(executor.NodeWaiting{For: executor.ForTimer, Until: until, Detail: detail})
}

func (n *node) attemptEvent(b executor.Body) executor.Event {
	a := &n.life.attempt
	return executor.Event{Node: n.id, Step: a.step, Attempt: a.number, Body: b}
}

// open begins the next attempt of the present step.
func (r *Run) open(n *node) executor.Event {
	l := &n.life
	s := n.stepNow()
	b := executor.AttemptStarted{Start: l.start(), From: l.tip, Person: n.handedBy()}
	switch {
	case l.step == asideStep:
		b.From = b.Start
		if o, ok := r.lineage.mergeOrphan(n); ok && l.aside.merge && b.Person == "" {
			b.Rejudge, b.From = true, o.Result.Commit
		}
		b.ByHand = b.Person == "" && !b.Rejudge && n.byHand()
	case len(l.judging) > 0:
		b.Rejudge, b.From = true, l.stepsAt[l.step].Commit
		b.Checks = r.protects(n)
	case l.mended:
		b.Rejudge, b.From = true, n.logs[len(n.logs)-1].judged()
		b.Checks = r.protects(n) && n.logs[len(n.logs)-1].Person == ""
	case b.Person != "":
	default:
		if s.OnFailure == "reset" && !n.answers() {
			b.From = l.starts[l.step]
		}
		if o, ok := n.orphan(s.Name, b.Start); ok && n.hasAgent(s) {
			b.Rejudge, b.From = true, o.Result.Commit
		}
	}
	if l.standin > 0 && l.standin <= len(s.Fallback) && !b.Rejudge && b.Person == "" {
		b.Agent = s.Fallback[l.standin-1]
	}
	if (s.Session == "resume" || len(n.people.said) > 0) && !b.Rejudge && b.Person == "" && n.hasAgent(s) {
		b.Resumes = n.sessionOf(s.Name, b.From, cmp.Or(b.Agent, s.Agent)) != ""
	}
	return executor.Event{Node: n.id, Step: s.Name, Attempt: n.numbers[s.Name] + 1, Body: b}
}

// verdict judges the open attempt from what is on record.
func (r *Run) verdict(n *node) executor.Event {
	a := &n.life.attempt
	step := n.stepNow()
	end := executor.AttemptEnded{Status: executor.AttemptPassed}
	var sign []string
	switch {
	case (a.waived || a.person != "") && len(a.collected.Problems) == 0:
	case a.end.Outcome.Fatal:
		end.Status, end.Reason = executor.AttemptStopped, "the agent reported a fatal result"+executor.Because(a.end.Outcome.Summary)
	case a.end.End == executor.EndTimeout:
		end.Status, end.Reason = executor.AttemptTimeout, fmt.Sprintf("the agent used up its time of %s", time.Duration(step.Limits.TimeoutMS)*time.Millisecond)
		sign = append(sign, "timeout")
	case a.end.End == executor.EndStalled:
		end.Status, end.Reason = executor.AttemptStalled, "the agent gave no sign of life"
		sign = append(sign, "stalled")
	case a.end.Outcome.Invalid != "":
		end.Status, end.Reason = executor.AttemptFailed, "no valid outcome: "+a.end.Outcome.Invalid
		sign = append(sign, end.Reason)
	case a.end.End == executor.EndExited && !a.end.Claims():
		end.Status, end.Reason = executor.AttemptFailed, executor.AgentFailure(a.end)
		sign = append(sign, end.Reason)
		if l := text.LastLine(a.end.Tail); l != "" && a.end.Outcome.Result == "" {
			end.Reason += ": " + l // not part of the signature: it may say the time
		}
	case len(a.collected.Problems) > 0:
		end.Status, end.Reason = executor.AttemptFailed, a.collected.Problems[0]
		sign = append(sign, a.collected.Problems...)
	}
	if end.Status == executor.AttemptPassed {
		for _, g := range a.judged {
			switch {
			case g.Verdict == executor.Stop:
				end.Status, end.Reason = executor.AttemptStopped, "gate "+g.Gate+" said stop"+executor.Because(g.Message)
			case g.Verdict == executor.Fail && end.Status == executor.AttemptPassed:
				end.Status, end.Reason = executor.AttemptFailed, "gate "+g.Gate+" failed"+executor.Because(g.Message)
			}
			if g.Verdict != executor.Pass {
				sign = append(sign, g.Gate, g.Signature)
			}
		}
	}
	if end.Status == executor.AttemptPassed && n.life.step >= 0 && len(n.ir.Steps) > 1 && len(step.Gates) > 0 {
		end.Judge = r.judgeOf(n, n.life.step)
	}
	if end.Status != executor.AttemptPassed {
		sum := sha256.Sum256([]byte(strings.Join(sign, "\n")))
		end.Signature = hex.EncodeToString(sum[:8])
		end.Next, end.Note = n.nextName(a.end.Outcome.SuggestedNext)
		end.Reason = text.Head(end.Reason, 300)
	} else if s := a.end.Outcome.SuggestedNext; s != "" {
		end.Note = "suggested next step ignored, since the attempt passed: " + text.Head(s, 100)
	}
	return n.attemptEvent(end)
}

// nextName is the step that a failure goes to: the compiled one, or a compiled
// one that the agent suggests and that does not lie ahead.
func (n *node) nextName(suggested string) (name, note string) {
	at := n.life.step
	if to := n.next(at); to == asideStep {
		name = n.life.aside.step.Name
	} else if to >= 0 {
		name = n.ir.Steps[to].Name
	}
	if suggested == "" || suggested == name || at < 0 {
		return name, ""
	}
	for i := range at { // at itself goes to name
		if n.ir.Steps[n.next(i)].Name == suggested {
			return suggested, ""
		}
	}
	return name, "suggested next step is not one that a failure may go to: " + text.Head(suggested, 100)
}
