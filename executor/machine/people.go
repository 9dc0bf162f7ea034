package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// people is what persons decided about the epic as a whole.
type people struct {
	*rules
	plans map[string]bool // approved, by the epic's digest
	heard map[string]bool // decisions, by id
}

// nodePeople is what persons said about a node, as far as it still matters.
type nodePeople struct {
	decisions []executor.Decision // all, oldest first
	approvals []executor.Decision // of gates, each bound to gate, result and base
	said      []executor.Decision // with a message, for the next turn or attempt
	skip      bool                // skipped, as soon as what it passes on is there
	reopen    bool                // retried while others had begun without it: at the next start
	paused    string              // who paused it; "" no one
	pausedAt  time.Time           // when
	late      bool                // goes on past its deadline
	cancelled string              // who cancelled it
	budget    ir.Budget           // what was added
	handed    handed              // of what they handed in, what no gate has judged
}

func (p *nodePeople) tell(d executor.Decision) {
	if d.Message != "" {
		p.said = append(p.said, d)
	}
}

// last returns the newest decision with this verb.
func (p *nodePeople) last(v executor.Verb) (executor.Decision, bool) {
	if d := newest(p.decisions, func(d *executor.Decision) bool { return d.Verb == v }); d != nil {
		return *d, true
	}
	return executor.Decision{}, false
}

// decided applies what a person said. A decision that does not fit the present state, as
// after a change of epic.json, has no effect; it stays on record all the same.
func (r *Run) decided(e executor.Event, b executor.Decided) error {
	d := b.Decision
	if r.Decisions().Heard(d.ID) {
		return nil
	}
	if d.ID != "" {
		r.people.heard[d.ID] = true
	}
	n := r.byID[e.Node]
	if e.Node != "" {
		if n == nil { // it was in the epic of that time
			return nil
		}
		n.people.decisions = append(n.people.decisions, d)
		n.changed = e.Seq
	}
	if n != nil && d.Verb == executor.RetryNode {
		n.noteHanded(d, r.runs.foreign)
	}
	do, err := r.consider(e.Node, &d)
	if err != nil || do == nil {
		return nil
	}
	if err := do(); err != nil {
		return fmt.Errorf("%s %s: %w", d.Verb, d.How, err)
	}
	if n != nil {
		r.queues.touch(n)
	}
	return nil
}

// release ends a wait by a person's word: the node goes on when there is a slot.
func (r *Run) release(n *node, detail string) error {
	go_on := executor.NodeWaiting{For: executor.ForTimer, Detail: detail}
	n.life.failures, n.life.trouble = 0, nil
	if n.status == executor.Waiting {
		r.queues.dropTimer(n)
		n.wait = go_on
		r.queues.addTimer(n)
		return nil
	}
	n.wait = go_on
	return r.move(n, executor.Waiting)
}

// toTheGates lets the gates judge the result of the open attempt, whatever its agent
// reported.
func (n *node) toTheGates() {
	a := &n.life.attempt
	a.end.End, a.end.ExitCode, a.end.Outcome = executor.EndExited, 0, executor.Outcome{Result: "success"}
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
	a.end = executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "success"}}
}

// bound is how a person let this gate pass, as it is now, for exactly this result on
// this base; nil if there is none.
func (r *rules) bound(n *node, gate string) *executor.Decision {
	l := &n.life
	result, base := l.attempt.collected.Result.Tree, l.base.Tree
	return newest(n.people.approvals, func(d *executor.Decision) bool {
		return d.Gate == gate && d.Result == result && d.Base == base && d.Digest == ir.GateDigest(r.epic, gate)
	})
}

// approved is the verdict that a person gave on a gate of the open attempt, if
// one did and it still counts. The machine asks before it judges the gate or
// waits for a person.
func (r *rules) approved(n *node, gate string) (executor.Event, bool) {
	d := r.bound(n, gate)
	if d == nil {
		return executor.Event{}, false
	}
	message := d.Message
	if d.How == executor.Override && r.epic.Gates[gate].Kind != "human" {
		message = "overridden: " + message
	}
	return n.attemptEvent(executor.GateJudged{Gate: gate, Verdict: executor.Pass, Message: message, Tests: "skip", By: d.By}), true
}

// onWord carries out what a person said about a running node that nothing is in
// flight for, one event at a time. It is asked before every other decision.
func (r *Run) onWord(n *node) (executor.Event, bool) {
	l := &n.life
	if n.busy() {
		return executor.Event{}, false
	}
	if by := n.people.paused; by != "" && l.trouble == nil && l.stage.pausable() && r.landing.node != n {
		return n.awaitHuman(executor.CausePaused, "paused by "+by), true
	}
	d := l.word
	next := ""
	if d.Verb != "" && l.stage != stageBase {
		next, _ = n.nextName("")
	}
	switch {
	case d.Verb == "" || l.stage == stageBase:
		return executor.Event{}, false
	case l.attempt.status == executor.AttemptRunning && d.Verb == executor.Reject:
		return n.attemptEvent(executor.AttemptEnded{
			Status: executor.AttemptFailed, Free: true, Next: next,
			Reason: text.Head("rejected by "+d.By+executor.Because(d.Message), 300),
		}), true
	case l.attempt.status == executor.AttemptRunning && d.Verb == executor.RetryNode && l.attempt.leaving && l.attempt.collected.Result.Commit == "":
		return executor.Event{}, false // first what it left
	case l.attempt.status == executor.AttemptRunning && d.Verb == executor.RetryNode:
		why := ", who asked for another"
		if d.How == executor.GatesOnly {
			why = ", whose own fix follows"
		}
		return n.attemptEvent(executor.AttemptEnded{
			Status: executor.AttemptCancelled, Free: true, Next: l.attempt.step, Reason: "ended by " + d.By + why,
		}), true
	}
	return executor.Event{}, false
}

// freeEnd applies the end of an attempt by a person's word: it costs none, the
// breaker forgets, and the next one begins at once.
func (r *Run) freeEnd(n *node, b executor.AttemptEnded) error {
	l := &n.life
	if l.step == asideStep && l.aside.merge {
		l.word = l.word.Unless(executor.GatesOnly)
		l.streak, l.sign, l.stage = 0, "", stageOpen
		return nil
	}
	to := n.stepIndex(b.Next)
	if l.step == asideStep && to == asideStep { // it lands anew
		r.landing.over(n, executor.Tree{}, stageLanding)
		l.word = executor.Decision{}
		return nil
	}
	if l.step == asideStep && to >= 0 {
		r.landing.landFailed(n, to)
	} else if to < 0 || to > l.step {
		return fmt.Errorf("an end of step %q cannot go to step %q", l.attempt.step, b.Next)
	}
	if d := l.word; d.Verb == executor.Reject && d.Gate != "" {
		log := &n.logs[len(n.logs)-1]
		log.Gates = append(log.Gates[:len(log.Gates):len(log.Gates)], executor.GateJudged{Gate: d.Gate, Verdict: executor.Fail, Message: d.Message, Tests: "skip", By: d.By})
	}
	l.streak, l.sign, l.judging, l.mended = 0, "", nil, false
	l.step, l.stage = l.judgedFailed(to), stageOpen
	if n.ir.Kind == ir.GateKind && l.word.Verb == executor.Reject {
		l.stage = stageStopped // no one would do it better
	}
	l.word = l.word.Unless(executor.GatesOnly)
	return nil
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
func (n *node) agentsInFlight() []executor.Effect {
	return lists.Keep(n.life.flight, func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
}

// pausable reports whether an effect comes next, and not a decision that is due.
func (s stage) pausable() bool {
	return slices.Contains([]stage{stageBase, stageOpen, stagePrepare, stageRed, stageAgent, stageCollect, stageGate, stagePublish, stageLanding, stagePull}, s)
}

// stray applies a report about a node that a person has ended meanwhile: only its cost
// counts.
func (r *Run) stray(n *node, e executor.Event) error {
	rep, _ := reportOf(e)
	done, ok := r.take(n, rep)
	if !ok {
		return fmt.Errorf("nothing of it is in flight")
	}
	r.budget.account(n, e, done)
	r.budget.learn(e, done)
	if n.busy() {
		return nil
	}
	if n.status == executor.Pending && r.runs.begun && !r.runs.foreign && !n.sum {
		return r.arrive(n)
	}
	return nil
}

// account records what the report of an effect says about cost.
func (bg *budget) account(n *node, e executor.Event, done executor.Effect) {
	switch b := e.Body.(type) {
	case executor.AgentEnded:
		bg.spend(n, b.Usage, b.Millis, true)
	case executor.GateJudged:
		bg.spend(n, b.Usage, b.Millis, bg.byModel(b.Gate, b.Agent))
	case executor.Diagnosed:
		bg.spend(n, b.Usage, 0, true)
	case executor.EffectFailed:
		switch {
		case !b.Usage.IsZero():
			bg.spend(n, b.Usage, 0, true)
		case b.Class == executor.FailInterrupted, b.Class == executor.FailLost:
			bg.untold(n, done)
		}
	}
}
