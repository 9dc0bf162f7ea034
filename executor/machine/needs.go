package machine

import (
	"github.com/ralph-compiler/ralph/executor"
)

// effects appends what a running node needs now: one effect, or several gates
// beside each other. None, if a decision comes next or all of it is in flight.
func (r *Run) effects(n *node, out []executor.Effect) []executor.Effect {
	l := &n.life
	if l.trouble != nil {
		return out
	}
	if l.stage == stageGate {
		return r.gateEffects(n, out)
	}
	if len(l.flight) > 0 {
		return out
	}
	e, ok := r.effect(n)
	if !ok {
		return out
	}
	e.Redo = l.again(e.Kind, e.Gate, false)
	return append(out, e)
}

// effect returns the one effect that a node needs in a stage other than that of
// its gates.
func (r *Run) effect(n *node) (executor.Effect, bool) {
	l := &n.life
	a := &l.attempt
	e := executor.Effect{Node: n.id, Base: l.base.Commit}
	switch l.stage {
	case stageBase:
		e.Kind, e.Inputs, e.Onto, e.Resolved = executor.EffectBase, l.inputs, r.onto(n), l.resolved
		if l.step == asideStep { // the merge that lands
			e.Step, e.Attempt, e.Inputs, e.Onto = a.step, a.number, l.aside.inputs, executor.OntoInputs
		}
		return e, true
	case stagePublish:
		e.Kind, e.Inputs, e.Commit = executor.EffectPublish, l.inputs, a.collected.Result.Commit
		if l.made != nil {
			e.Inputs = l.made
		}
		if n.sum {
			e.Old, e.Known = r.sum.ref, r.sum.mayHold()
		}
		return e, true
	case stageLand:
		e.Kind, e.Inputs, e.Commit, e.Old = executor.EffectLand, l.aside.inputs, a.collected.Result.Commit, l.aside.inputs[0].Commit
		e.Step, e.Attempt = a.step, a.number
		return e, true
	case stagePull:
		e.Kind, e.Commit = executor.EffectPull, l.result.Commit
		return e, true
	case stagePoll:
		e.Kind, e.Commit, e.Pull, e.Iteration = executor.EffectPoll, l.result.Commit, l.pull, l.polls+1
		return e, true
	case stagePrepare, stageRed, stageAgent, stageCollect, stageDiagnose:
		ok := r.attemptEffect(n, &e)
		return e, ok
	}
	return e, false
}

// attemptEffect makes e the effect that the open attempt needs; false: it waits for a
// person.
func (r *Run) attemptEffect(n *node, e *executor.Effect) bool {
	l := &n.life
	a := &l.attempt
	e.Step, e.Attempt, e.Start, e.Commit = a.step, a.number, l.start(), a.from
	if l.step == asideStep && l.aside.merge {
		e.Merge, e.Inputs, e.Paths = true, l.aside.inputs, l.aside.paths
	}
	switch l.stage {
	case stagePrepare:
		e.Kind, e.Person = executor.EffectPrepare, r.byPerson(n) && (r.byHandAlone(n) || len(n.logs) > l.first+1) || l.step == asideStep && l.aside.touched // its own work stays as it is
		if c := a.collected.Result.Commit; c != "" {                                                                                                        // its gates are next
			e.Commit, e.Merge, e.Person = c, false, false
		} else {
			e.AsIs = a.going != goesFresh
		}
	case stageRed:
		e.Kind, e.Gate = executor.EffectRed, r.redGate(n)
		e.Agent = r.gateAgent(n, e.Gate)
	case stageAgent:
		if r.byPerson(n) {
			return false
		}
		e.Kind, e.Iteration, e.Agent, e.TimeMS = executor.EffectAgent, a.iteration+1, a.agent, n.timeLeft()
		e.Session = a.handle(n.stepNow().Session, a.end.Outcome.Invalid != "")
	case stageCollect:
		e.Kind, e.Person, e.Was, e.Judged = executor.EffectCollect, a.person != "", l.was, a.checks
		if a.person == "" {
			e.Given = n.given()
		}
	case stageDiagnose:
		e.Kind, e.Agent, e.Commit = executor.EffectDiagnose, n.stepNow().Stall.Agent, a.collected.Result.Commit
	}
	return true
}

// given is the newest commit below the open attempt that a person handed in, "" if none is.
func (n *node) given() string {
	at := n.life.attempt.from
	for i := len(n.logs) - 1; i >= n.life.first; i-- {
		switch log := &n.logs[i]; {
		case log.Commit == "" || log.Commit != at:
		case log.Person != "":
			return at
		default:
			at = log.From
		}
	}
	return ""
}

// asks names the runner that an effect needs, "" if it needs none.
func (r *rules) asks(e *executor.Effect) string {
	if e.Agent == "" {
		return ""
	}
	return r.epic.Agents[e.Agent].Runner
}

// onto says what nodes start from.
func (r *rules) onto(n *node) executor.Onto {
	if n.sum {
		return executor.OntoInputs
	}
	switch r.epic.Epic.Integration.Mode {
	case "branch":
		return executor.OntoHead
	case "wait":
		return executor.OntoTarget
	}
	return executor.OntoInputs
}
