package executor

import (
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// people is what persons said about a node, as far as it still matters.
type people struct {
	decisions []Decision // all, oldest first
	approvals []Decision // of gates, each bound to gate, result and base
	said      []Decision // with a message, for the agent of the next attempt
	skip      bool       // skipped, as soon as what it passes on is there
	reopen    bool       // retried while others had begun without it: at the next start
	paused    string     // who paused it; "" nobody
	pausedAt  time.Time  // when
	late      bool       // goes on past its deadline
	cancelled string     // who cancelled it
	budget    ir.Budget  // what was added
	handed    handed     // of what they handed in, what no gate has judged
}

func (p *people) tell(d Decision) {
	if d.Message != "" {
		p.said = append(p.said, d)
	}
}

// last returns the newest decision with this verb.
func (p *people) last(v Verb) (Decision, bool) {
	for i := len(p.decisions) - 1; i >= 0; i-- {
		if p.decisions[i].Verb == v {
			return p.decisions[i], true
		}
	}
	return Decision{}, false
}

// decided applies what a person said. What does not fit the present state, as
// after a change of epic.json, counts nothing; it stays on record all the same.
func (r *Run) decided(e Event, b Decided) error {
	d := b.Decision
	if r.Heard(d.ID) {
		return nil
	}
	if d.ID != "" {
		r.heard[d.ID] = true
	}
	n := r.byID[e.Node]
	if e.Node != "" {
		if n == nil { // it was in the epic of that time
			return nil
		}
		n.people.decisions = append(n.people.decisions, d)
	}
	if n != nil && d.Verb == RetryNode {
		n.noteHanded(d, r.foreign)
	}
	_, do, err := r.consider(e.Node, d)
	if err != nil || do == nil {
		return nil
	}
	if err := do(); err != nil {
		return fmt.Errorf("%s %s: %w", d.Verb, d.How, err)
	}
	if n != nil {
		r.touch(n)
	}
	return nil
}

// goesOn ends the detail of a wait that is over: the node only needs a slot.
const goesOn = "; goes on"

// release ends a wait by a person's word: the node goes on when there is a slot.
func (r *Run) release(n *node, detail string) error {
	go_on := NodeWaiting{For: ForTimer, Detail: detail + goesOn}
	n.life.failures, n.life.trouble = 0, nil
	if n.status == Waiting {
		r.dropTimer(n)
		n.wait = go_on
		r.addTimer(n)
		return nil
	}
	n.wait = go_on
	return r.move(n, Waiting)
}

// toTheGates lets the gates judge what the open attempt left, whatever the agent
// said about it.
func (r *Run) toTheGates(n *node) {
	a := &n.life.attempt
	a.end.End, a.end.ExitCode, a.end.Outcome = EndExited, 0, Outcome{Result: "success"}
	switch {
	case a.collected.Result.Commit == "":
		n.life.stage = stageCollect
	case len(a.collected.Problems) > 0: // what ralph itself found fails it, before gates are paid for
		n.life.stage = stageVerdict
	default:
		n.life.stage = stageGate
	}
}

// finishedBy says that a person did the work of the attempt.
func (a *attempt) finishedBy(who string) {
	a.person = who
	a.end = AgentEnded{End: EndExited, Outcome: Outcome{Result: "success"}}
}

// bound reports whether a person let this gate pass, as it is now, for exactly
// this result on this base.
func (r *Run) bound(n *node, gate string) (Decision, bool) {
	l := &n.life
	result, base := l.attempt.collected.Result.Tree, l.base.Tree
	for i := len(n.people.approvals) - 1; i >= 0; i-- {
		d := n.people.approvals[i]
		if d.Gate == gate && d.Result == result && d.Base == base && d.Digest == ir.GateDigest(r.epic, gate) {
			return d, true
		}
	}
	return Decision{}, false
}

// approved is the verdict that a person gave on a gate of the open attempt, if
// one did and it still counts. The machine asks before it judges the gate or
// waits for a person.
func (r *Run) approved(n *node, gate string) (Event, bool) {
	d, ok := r.bound(n, gate)
	if !ok {
		return Event{}, false
	}
	message := d.Message
	if d.How == Override && r.epic.Gates[gate].Kind != "human" {
		message = "overridden: " + message
	}
	return n.attemptEvent(GateJudged{Gate: gate, Verdict: Pass, Message: message, Tests: "skip", By: d.By}), true
}

// onWord carries out what a person said about a running node that nothing is in
// flight for, one event at a time. It is asked before every other decision.
func (r *Run) onWord(n *node, now time.Time) (Event, bool) {
	l := &n.life
	if n.busy() {
		return Event{}, false
	}
	if by := n.people.paused; by != "" && l.trouble == nil && l.stage.pausable() && r.lander != n {
		return n.event(NodeWaiting{For: ForHuman, Cause: CausePaused, Detail: "paused by " + by}), true
	}
	d := l.word
	next := ""
	if d.Verb != "" && l.stage != stageBase {
		next, _ = r.nextName(n, "")
	}
	switch {
	case d.Verb == "" || l.stage == stageBase:
		return Event{}, false
	case l.attempt.status == AttemptRunning && d.Verb == Reject:
		return n.attemptEvent(AttemptEnded{
			Status: AttemptFailed, Free: true, Next: next,
			Reason: text.Head("rejected by "+d.By+because(d.Message), 300),
		}), true
	case l.attempt.status == AttemptRunning && d.Verb == RetryNode && l.attempt.leaving && l.attempt.collected.Result.Commit == "":
		return Event{}, false // first what it left
	case l.attempt.status == AttemptRunning && d.Verb == RetryNode:
		why := ", who asked for another"
		if d.How == GatesOnly {
			why = ", whose own fix follows"
		}
		return n.attemptEvent(AttemptEnded{
			Status: AttemptCancelled, Free: true, Next: l.attempt.step, Reason: "ended by " + d.By + why,
		}), true
	}
	return Event{}, false
}

// freeEnd applies the end of an attempt by a person's word: it costs none, the
// breaker forgets, and the next one begins at once.
func (r *Run) freeEnd(n *node, b AttemptEnded) error {
	l := &n.life
	if l.step == asideStep && l.aside.merge {
		l.word = l.word.unless(GatesOnly)
		l.streak, l.sign, l.stage = 0, "", stageOpen
		return nil
	}
	to := n.stepIndex(b.Next)
	if l.step == asideStep && to == asideStep { // it lands anew
		r.moved(n, Tree{})
		l.word = Decision{}
		return nil
	}
	if l.step == asideStep && to >= 0 {
		r.landFailed(n, to)
	} else if to < 0 || to > l.step {
		return fmt.Errorf("an end of step %q cannot go to step %q", l.attempt.step, b.Next)
	}
	if d := l.word; d.Verb == Reject && d.Gate != "" {
		log := &n.logs[len(n.logs)-1]
		log.Gates = append(log.Gates[:len(log.Gates):len(log.Gates)], GateJudged{Gate: d.Gate, Verdict: Fail, Message: d.Message, Tests: "skip", By: d.By})
	}
	l.streak, l.sign, l.judging, l.mended = 0, "", nil, false
	l.step, l.stage = l.judgedFailed(to), stageOpen
	if n.ir.Kind == ir.GateKind && l.word.Verb == Reject {
		l.stage = stageStopped // nobody would do it better
	}
	l.word = l.word.unless(GatesOnly)
	return nil
}

// unless keeps a decision only if it is meant in this way.
func (d Decision) unless(h How) Decision {
	if d.How == h {
		return d
	}
	return Decision{}
}

// allow begins a new allowance: attempts, breaker and budget count from nothing.
func (n *node) allow(at time.Time) {
	l := &n.life
	clear(l.used)
	if l.aside != nil {
		l.aside.used = 0
	}
	l.streak, l.sign, l.failures, l.lostAt, l.trouble = 0, "", 0, nil, nil
	n.cost.renew(at, "it was retried")
}

// busy reports whether an effect of the node is in flight.
func (n *node) busy() bool { return len(n.life.flight) > 0 }

// agentsInFlight lists the turns of agents that are going on for the node.
func (n *node) agentsInFlight() []Effect {
	var out []Effect
	for _, e := range n.life.flight {
		if e.Kind == EffectAgent {
			out = append(out, e)
		}
	}
	return out
}

// pausable reports whether an effect comes next, and not a decision that is due.
func (s stage) pausable() bool {
	switch s {
	case stageBase, stageOpen, stagePrepare, stageRed, stageAgent, stageCollect, stageGate, stagePublish, stageLanding, stagePull:
		return true
	}
	return false
}

// stray takes what is reported for a node that a person ended meanwhile: it
// counts nothing, except what it cost.
func (r *Run) stray(n *node, e Event) error {
	kind, gate := reportOf(e)
	done, ok := r.take(n, func(f Effect) bool {
		return e.isOf(f) && (kind == "" || f.Kind == kind) && (gate == "" || f.Gate == gate)
	})
	if !ok {
		return fmt.Errorf("nothing of it is in flight")
	}
	r.account(n, e, done)
	r.learn(e, done)
	if n.busy() {
		return nil
	}
	if n.status == Pending && r.begun && !r.foreign && !n.sum {
		return r.arrive(n)
	}
	return nil
}

// account records what the report of an effect says about cost.
func (r *Run) account(n *node, e Event, done Effect) {
	switch b := e.Body.(type) {
	case AgentEnded:
		r.spend(n, b.Usage, b.Millis, true)
	case GateJudged:
		r.spend(n, b.Usage, b.Millis, r.byModel(b.Gate, b.Agent))
	case Diagnosed:
		r.spend(n, b.Usage, 0, true)
	case EffectFailed:
		switch {
		case !b.Usage.IsZero():
			r.spend(n, b.Usage, 0, true)
		case b.Class == FailInterrupted, b.Class == FailLost:
			r.untold(n, done)
		}
	}
}
