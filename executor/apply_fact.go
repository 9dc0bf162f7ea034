package executor

import "slices"

// noted keeps what is told of an agent's turn while it goes on, in the log of its
// attempt. What comes when that is over counts nothing: it is only kept.
func (r *Run) noted(n *node, e Event) {
	i := len(n.logs) - 1
	for i >= 0 && (n.logs[i].Step != e.Step || n.logs[i].Number != e.Attempt) {
		i--
	}
	if i < 0 {
		return
	}
	log := &n.logs[i]
	switch b := e.Body.(type) {
	case AgentSession:
		log.inSession(SessionLog{Session: b.Session, Agent: b.Agent, Turn: b.Turn, Gate: b.Gate, Fresh: b.Fresh, At: e.At})
		if works(n, e) && b.Gate == "" {
			log.Session = b.Session
		}
	case WorkProposed:
		log.Proposed = append(log.Proposed, b)
	case HumanSpoke:
		log.Spoken = append(log.Spoken, b)
		if b.Said.After(n.human) {
			n.human = b.Said
		}
	}
}

// works reports whether an event is of the agent that works in the node's open
// attempt just now.
func works(n *node, e Event) bool {
	return slices.ContainsFunc(n.life.flight, func(f Effect) bool {
		return f.Kind == EffectAgent && f.Step == e.Step && f.Attempt == e.Attempt
	})
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
