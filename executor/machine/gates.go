package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// apart reports whether a gate is judged in a place of its own: in parallel mode
// those that an agent judges; commands share the node's worktree, in turn.
func (r *rules) apart(s *ir.Step, gate string) bool {
	k := r.epic.Gates[gate].Kind
	return s.GateMode != "ordered" && (k == "agent" || k == "review")
}

// gateEffects appends the gates that may begin now: the next one that works in
// the node's worktree, and all that are judged apart.
func (r *rules) gateEffects(n *node, out []executor.Effect) []executor.Effect {
	l := &n.life
	a := &l.attempt
	s := n.stepNow()
	if s == nil || len(a.gates) != len(s.Gates) || r.gatesOver(n) {
		return out
	}
	busy := a.dirty // the worktree
	for _, e := range l.flight {
		busy = busy || !e.Apart
	}
	for i, name := range s.Gates {
		g := &a.gates[i]
		switch apart := r.apart(s, name); {
		case g.done || g.spared || r.epic.Gates[name].Kind == "human" || inFlight(l.flight, name): // nothing to begin
		case g.trouble != nil:
			if s.GateMode == "ordered" {
				return out
			}
		case !apart && busy: // its turn comes
		default:
			out = append(out, executor.Effect{
				Kind: executor.EffectGate, Node: n.id, Step: a.step, Attempt: a.number, Gate: name, Agent: r.gateAgent(n, name), OfGate: executor.OfGate{Apart: apart},
				Start: l.start(), Commit: a.collected.Result.Commit, Base: l.under(), Redo: l.again(executor.EffectGate, name, false),
			})
			busy = busy || !apart
		}
	}
	return out
}

// gateStates are the gates of an attempt, none of them judged. By default the sum
// is judged by the command gates of the nodes that are joined, not by those of
// nodes that are blocked or wait: their work is not in it.
func (gr *graph) gateStates(n *node, s *ir.Step) []gateState {
	out := make([]gateState, len(s.Gates))
	if !n.sum || s.Name != sumStepName {
		return out
	}
	known := map[string]string{} // most nodes have the same gates
	alike := func(gate string) string {
		id, ok := known[gate]
		if !ok {
			id = gr.epic.Alike(gate)
			known[gate] = id
		}
		return id
	}
	has := func(of *node) map[string]bool {
		names := map[string]bool{}
		for i := range of.ir.Steps {
			for _, g := range of.ir.Steps[i].Gates {
				names[alike(g)] = true
			}
		}
		return names
	}
	joined, left := map[string]bool{}, map[string]bool{}
	for _, of := range gr.nodes {
		switch {
		case of.sum:
		case of.accepted != nil:
			maps.Copy(joined, has(of))
		default:
			maps.Copy(left, has(of))
		}
	}
	for i, g := range s.Gates {
		id := alike(g)
		out[i].spared = left[id] && !joined[id] && !slices.Contains(gr.epic.Epic.Integration.Stated, g)
	}
	return out
}

// under is the commit that what is judged was made on.
func (l *life) under() string {
	if len(l.made) == 1 {
		return l.made[0].Commit
	}
	return l.base.Commit
}

func inFlight(flight []executor.Effect, gate string) bool {
	return slices.ContainsFunc(flight, func(e executor.Effect) bool { return e.Gate == gate })
}

// gateAgent is the agent that judges a gate, "" if none does.
func (r *rules) gateAgent(n *node, name string) string {
	g := r.epic.Gates[name]
	if g.Kind != "agent" && g.Kind != "review" {
		return ""
	}
	if i := slices.Index(n.stepNow().Gates, name); i >= 0 && i < len(n.life.attempt.gates) {
		if k := n.life.attempt.gates[i].standin; k > 0 && k <= len(g.Fallback) {
			return g.Fallback[k-1]
		}
	}
	return g.Agent
}

// gatesOver reports whether no further gate has to begin: one said stop, or in
// an ordered list one failed that does not say continue.
func (r *rules) gatesOver(n *node) bool {
	ordered := n.stepNow().GateMode == "ordered"
	return slices.ContainsFunc(n.life.attempt.judged, func(j executor.GateJudged) bool {
		return j.Verdict == executor.Stop || j.Verdict == executor.Fail && ordered && r.epic.Gates[j.Gate].OnFailure != "continue"
	})
}

func failedOne(judged []executor.GateJudged) bool {
	return slices.ContainsFunc(judged, func(j executor.GateJudged) bool { return j.Verdict != executor.Pass })
}

// decideGates decides when nothing is in flight and no gate can begin: a failure
// is one, whatever could not be judged beside it; then what could not be judged
// is tried again or shown to a person; then people are asked; then all passed.
func (r *Run) decideGates(n *node, now time.Time) (executor.Event, bool) {
	s := n.stepNow()
	a := &n.life.attempt
	if r.gatesOver(n) || failedOne(a.judged) || len(a.gates) != len(s.Gates) {
		return r.verdict(n), true
	}
	for i, name := range s.Gates {
		if t := a.gates[i].trouble; t != nil {
			return r.onGateTrouble(n, i, name, now), true
		}
	}
	for i, name := range s.Gates {
		if a.gates[i].done || a.gates[i].spared {
			continue
		}
		w := executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseApproval, Gate: name, Detail: "gate " + name + " asks for approval"}
		if ms := r.epic.Gates[name].TimeoutMS; ms > 0 {
			w.Until = later(now, ms)
		}
		return n.event(w), true
	}
	return r.verdict(n), true
}

// onGateTrouble handles a gate that could not be judged. It never costs the agent an
// attempt.
func (r *Run) onGateTrouble(n *node, i int, name string, now time.Time) executor.Event {
	g := &n.life.attempt.gates[i]
	s := n.stepNow()
	switch {
	case g.trouble.Class == executor.FailLimit:
		return r.parks.onLimit(n, r.epic.Agents[r.gateAgent(n, name)].Runner, g.trouble, now)
	case g.trouble.Class == executor.FailConfig:
		return n.awaitHumanAt(executor.CauseConfig, name, g.trouble.Detail)
	case g.trouble.Class == executor.FailLost && g.lostAt <= s.Limits.RunnerRetries:
		return n.awaitTime(again(n, now, g.lostAt), g.trouble.Detail)
	case g.trouble.Class != failGate && g.trouble.Class != executor.FailLost && g.failures <= s.Limits.RunnerRetries:
		return n.awaitTime(again(n, now, g.failures), g.trouble.Detail)
	}
	return n.awaitHumanAt(executor.CauseGate, name, name+": "+g.trouble.Detail)
}

// gateWaited records the wait after a gate's trouble: it is due again
// when the wait is over, and after a person's word with a new allowance.
func (a *attempt) gateWaited(forWhom executor.WaitFor) {
	for i := range a.gates {
		a.gates[i].trouble = nil
		if forWhom == executor.ForHuman {
			a.gates[i].failures, a.gates[i].wrong, a.gates[i].lostAt = 0, 0, 0
		}
	}
}

// troubled reports whether a gate could not be judged.
func (a *attempt) troubled() bool {
	return slices.ContainsFunc(a.gates, func(g gateState) bool { return g.trouble != nil })
}

// gateJudged records a verdict on the collected commit.
func (r *Run) gateJudged(n *node, b executor.GateJudged) error {
	a := &n.life.attempt
	g := n.gate(b.Gate)
	if r.runs.foreign && (g == nil || g.done) { // a gate of that epic alone
		g = &gateState{}
	}
	if g == nil || g.done {
		return fmt.Errorf("gate %s is not asked for", b.Gate)
	}
	log := &n.logs[len(n.logs)-1]
	if !r.epic.JudgesByModel(b.Gate, b.Agent) {
		b.Model = ""
	}
	g.failures, g.lostAt = 0, 0
	log.inSession(SessionLog{Session: b.Session, Agent: b.Agent, Gate: b.Gate, At: r.at})
	if b.Verdict == executor.ErrorJudged {
		log.Erred = append(log.Erred, erred(b, r.at))
		g.wrong++
		if g.wrong > 1 || g.spoken && r.pausesForPeople(n) { // that person decides
			g.trouble = &executor.EffectFailed{Class: failGate, Detail: b.Message}
		}
		return nil
	}
	if b.Verdict == executor.Fail && r.epic.Gates[b.Gate].OnFailure == "stop" {
		b.Verdict = executor.Stop
	}
	g.done = true
	a.judged = append(a.judged, b)
	log.Gates = a.judged
	return nil
}

// gate is what is known of a gate of the open attempt; nil if it has no such gate.
func (n *node) gate(name string) *gateState {
	a := &n.life.attempt
	if i := slices.Index(n.stepNow().Gates, name); i >= 0 && i < len(a.gates) {
		return &a.gates[i]
	}
	return nil
}

// erred is a verdict that is none.
func erred(b executor.GateJudged, at time.Time) Erred {
	return Erred{Gate: b.Gate, Why: b.Message, Agent: b.Agent, Session: b.Session, At: at}
}

// gateFailed records that a gate's effect did not happen.
func (r *rules) gateFailed(n *node, e executor.Effect, b executor.EffectFailed) {
	a := &n.life.attempt
	a.dirty = a.dirty || !e.Apart
	g := n.gate(e.Gate)
	if b.Class == executor.FailInterrupted || g == nil {
		return
	}
	if b.Class == executor.FailLost {
		g.lostAt++
		g.trouble = &b
		return
	}
	g.lostAt = 0
	g.failures++
	used := b.Class == executor.FailConfig || b.Class != executor.FailLimit && g.failures > n.stepNow().Limits.RunnerRetries
	if used && g.standin < len(r.epic.Gates[e.Gate].Fallback) && e.Agent != "" {
		g.standin++ // the next agent that the gate names
		g.failures = 0
		return
	}
	g.trouble = &b
}

// overdue is what a human gate's time that is over comes to: never approval.
func (r *rules) overdue(n *node) executor.Event {
	v := executor.Fail
	if r.epic.Gates[n.wait.Gate].OnTimeout == "stop" {
		v = executor.Stop
	}
	return n.attemptEvent(executor.GateJudged{
		Gate: n.wait.Gate, Verdict: v, Tests: "skip", Signature: n.wait.Gate,
		Message: "nobody decided in " + (time.Duration(r.epic.Gates[n.wait.Gate].TimeoutMS) * time.Millisecond).String(),
	})
}

// failGate is the class of a gate that could not be judged; it is made by the
// machine and is in no journal.
const failGate executor.FailureClass = "gate"

// later adds milliseconds to a time, to the millisecond.
func later(now time.Time, ms int64) time.Time {
	return executor.Millis(now.Add(time.Duration(ms) * time.Millisecond))
}

// redGate is the next gate that has to fail before the agent begins, "" if all
// of them have.
func (r *rules) redGate(n *node) string {
	k := n.life.attempt.red
	for _, name := range n.stepNow().Gates {
		if r.epic.Gates[name].RedFirst {
			if k--; k < 0 {
				return name
			}
		}
	}
	return ""
}

// redDue reports whether gates have to be seen failing first: before the first
// attempt of the step in this life, on the commit that the step starts from.
func (r *rules) redDue(n *node) bool {
	l := &n.life
	s := n.stepNow()
	if l.step == asideStep || l.attempt.from != l.start() || r.redGate(n) == "" {
		return false
	}
	return !slices.ContainsFunc(n.logs[l.first:len(n.logs)-1], func(log AttemptLog) bool { return log.Step == s.Name })
}

// redJudged records how a gate was before any work. A gate that passes judges
// nothing: a person has to look at it.
func (r *rules) redJudged(n *node, b executor.GateJudged) {
	l := &n.life
	log := &n.logs[len(n.logs)-1]
	log.Red = append(log.Red, b)
	switch b.Verdict {
	case executor.Fail, executor.Stop:
		l.attempt.red++
	case executor.Pass:
		l.trouble = &trouble{executor.EffectFailed{Class: failGate, Gate: b.Gate, Detail: "gate " + b.Gate + " passed before any work: it would judge nothing"}, executor.EffectRed, ""}
	default:
		l.failed(executor.EffectRed)
		l.trouble = &trouble{executor.EffectFailed{Class: executor.FailTransient, Gate: b.Gate, Detail: b.Gate + ": " + b.Message}, executor.EffectRed, ""}
		if l.failures > 1 {
			l.trouble.Class = failGate
		}
	}
	if r.redDone(n) {
		l.stage = stageAgent
	}
}

func (r *rules) redDone(n *node) bool { return n.life.trouble == nil && r.redGate(n) == "" }

// approvedOne is what a person said about a gate of the open attempt, as far as
// it still counts.
func (r *rules) approvedOne(n *node) (executor.Event, bool) {
	if len(n.people.approvals) == 0 {
		return executor.Event{}, false
	}
	for i, name := range n.stepNow().Gates {
		if g := n.life.attempt.gates; i < len(g) && !g[i].done {
			if e, ok := r.approved(n, name); ok {
				return e, true
			}
		}
	}
	return executor.Event{}, false
}
