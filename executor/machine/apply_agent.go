package machine

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

func (r *Run) agentEnded(n *node, b executor.AgentEnded) {
	l := &n.life
	a := &l.attempt
	n.logs[len(n.logs)-1].turned(r.reallyUsed(b), r.at)
	if b.Session != "" {
		a.session = b.Session
	}
	a.end, a.going = b, goesFresh
	l.stage = stageCollect
	if b.End == executor.EndTakenOver {
		r.takenOver(n)
		return
	}
	if b.End != executor.EndExited || b.Outcome.Asks() || b.Outcome.Fatal {
		return
	}
	switch o := b.Outcome; {
	case o.Invalid != "" && !a.reminded:
		a.reminded = true
		a.extra++
		l.stage = stageAgent
	case o.Invalid != "":
	case (o.Result == "partial" || o.Result != "failed" && o.NextAction == "repeat_phase") && a.iteration-a.extra < n.stepNow().Limits.Iterations && n.timeLeft() != 1: // with no time left the gates judge what is there
		l.stage = stageAgent
	}
}

// reallyUsed leaves out the model of an agent whose program is told of none.
func (r *rules) reallyUsed(b executor.AgentEnded) executor.AgentEnded {
	if !r.epic.UsesModel(b.Agent) {
		b.Model = ""
	}
	return b
}

// turned takes note of a turn of the attempt's agent that is over.
func (l *AttemptLog) turned(b executor.AgentEnded, at time.Time) {
	l.Outcome, l.ExitCode, l.Tail = b.Outcome, b.ExitCode, b.Tail
	l.Turns++
	l.Millis += b.Millis
	l.Sandbox = b.Sandbox
	l.Usage = addUsage(l.Usage, b.Usage, l.Turns == 1 && l.Usage.IsZero())
	if b.Agent != "" {
		l.Agent = b.Agent
	}
	if b.Model != "" {
		l.Model = b.Model
	}
	if b.Session != "" {
		l.Session = b.Session
		l.inSession(SessionLog{Session: b.Session, Agent: b.Agent, At: at})
	}
}

// addUsage adds up what turns cost; what one of them did not say stays unknown.
func addUsage(sum, turn executor.Usage, first bool) executor.Usage {
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
	return executor.Usage{Tokens: add(sum.Tokens, turn.Tokens), USDMicro: add(sum.USDMicro, turn.USDMicro)}
}

func (n *node) collected(b executor.Collected) {
	l := &n.life
	a := &l.attempt
	log := &n.logs[len(n.logs)-1]
	log.Commit, log.Problems, log.Collected = b.Result.Commit, b.Problems, b
	a.collected = b
	byPerson := a.person != "" || a.checks
	a.checks = false
	switch {
	case a.leaving:
		l.stage = stageVerdict // a person's word comes before
	case !byPerson && a.end.End == executor.EndTakenOver:
		l.stage = stageSpoken
	case a.end.End == executor.EndStalled && n.stepNow().Stall.Action == "diagnose" && n.stepNow().Stall.Agent != "":
		l.stage = stageDiagnose
	case !byPerson && a.end.End == executor.EndExited && a.end.Outcome.Asks() && !a.end.Outcome.Fatal:
		l.stage = stageAsk // also before it changed anything: most questions come first
	case len(b.Problems) > 0 || !byPerson && !a.end.Claims():
		l.stage = stageVerdict
	default:
		l.stage = stageGate
	}
}

// sessionOf is the session that an agent left exactly where an attempt starts;
// "" if there is none.
func (n *node) sessionOf(step, from, agent string) string {
	if log := n.lastEnded(step); log != nil && log.Commit == from && log.Agent == agent {
		return log.Session
	}
	return ""
}
