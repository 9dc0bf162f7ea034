package machine

import (
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// noted keeps reports of an agent's turn in progress, in the log of its
// attempt. What comes when that is over counts nothing: it is only kept.
func (n *node) noted(e executor.Event) {
	log := n.logNumbered(e.Step, e.Attempt)
	if log == nil {
		return
	}
	switch b := e.Body.(type) {
	case executor.AgentSession:
		log.inSession(SessionLog{Session: b.Session, Agent: b.Agent, Turn: b.Turn, Gate: b.Gate, Fresh: b.Fresh, At: e.At})
		if works(n, e) && b.Gate == "" {
			log.Session, n.life.attempt.session = b.Session, b.Session
		}
	case executor.WorkProposed:
		log.Proposed = append(log.Proposed, b)
	case executor.HumanSpoke:
		log.Spoken = append(log.Spoken, b)
		if b.Said.After(n.human) {
			n.human = b.Said
		}
		n.life.gateSpoken(n.stepNow(), e, b.Gate)
		if works(n, e) && b.Gate == "" {
			n.life.attempt.spoken = true
		}
	}
}

// works reports whether an event is of the agent that works in the node's open
// attempt just now.
func works(n *node, e executor.Event) bool {
	return slices.ContainsFunc(n.life.flight, func(f executor.Effect) bool {
		return f.Kind == executor.EffectAgent && e.IsOf(f) && f.Step == e.Step && f.Attempt == e.Attempt
	})
}

// gateSpoken notes that a person wrote in the session of the agent of a gate that
// is being judged.
func (l *life) gateSpoken(s *ir.Step, e executor.Event, gate string) {
	if gate == "" || s == nil || !slices.ContainsFunc(l.flight, func(f executor.Effect) bool {
		return f.Kind == executor.EffectGate && e.IsOf(f) && f.Gate == gate && f.Step == e.Step && f.Attempt == e.Attempt
	}) {
		return
	}
	if i := slices.Index(s.Gates, gate); i >= 0 && i < len(l.attempt.gates) {
		l.attempt.gates[i].spoken = true
	}
}

// inSession keeps a session's handle, unless its turn, or one before that was told
// of it, has it already.
func (l *AttemptLog) inSession(s SessionLog) {
	if s.Session == "" || slices.ContainsFunc(l.Sessions, func(k SessionLog) bool {
		return k.Session == s.Session && k.Gate == s.Gate && (s.Turn == "" || k.Turn == s.Turn)
	}) {
		return
	}
	l.Sessions = append(l.Sessions, s)
}
