package bd

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ralph-compiler/ralph/executor/machine"
)

// TokenKey is the key of a bead's metadata with the token of the worker that claimed it.
const TokenKey = "ralph_worker"

// ClaimedBy is the metadata of a bead that a worker with this token has claimed.
func ClaimedBy(token string) map[string]json.RawMessage {
	return map[string]json.RawMessage{TokenKey: plainJSON(token)}
}

// Claim turns a mirror into one of an issue: a bead that a person wrote and a worker has
// claimed. The epic has this single node and no bead of its own. The mirror writes its
// comments, ralph's labels and metadata keys, and the status; title, text, edges and all
// other labels belong to the author. Apart from a gate's labels, changes that people make
// to the issue are handled by the worker.
type Claim struct {
	Token string    // as long as it is in the bead, the issue is the worker's
	Since time.Time // comments older than this do not count as this claim's
	Notes []string  // what the worker found when it claimed the issue: comments, each once
	Begun bool      // the claim's run is over; otherwise the mirror waits for it to start
	// End is the state that the issue must have while no run is active. False: the worker
	// releases it.
	End func() (Stand, bool)
}

// Stand is the state of an issue after a run.
type Stand struct {
	Status string // closed or blocked
	Asks   bool   // it waits for a person: label and phase say so
	Why    string // of the close
	Says   string // a comment; "" none
}

// Token is that of the worker that claimed a bead, "" if none has.
func (i Issue) Token() (token string) {
	var m map[string]json.RawMessage
	if json.Unmarshal(i.Metadata, &m) == nil {
		_ = json.Unmarshal(m[TokenKey], &token) // what is no text is no token
	}
	return token
}

// stand is the state that a bead must have. An issue follows its run: while one is active it
// is in progress or waits at a gate; afterwards the claim decides.
func (m *Mirror) stand(b *bead, v machine.NodeView) should {
	s := m.shouldStand(v)
	if m.Claim == nil {
		return s
	}
	if s.phase == "" {
		if s.phase, _ = b.known.Phase(); s.phase == humanReview && len(v.Attempts) > 0 {
			s.phase = v.Attempts[len(v.Attempts)-1].Step // no one is asked any more
		}
	}
	if !m.Claim.Begun && m.run.Overview().Open {
		if s.ended = ""; s.gate == nil {
			s.status = "in_progress"
		}
		return s
	}
	end, ok := m.end()
	if !ok {
		return should{status: b.known.Status, phase: s.phase, needs: s.needs, gate: s.gate, begun: s.begun, ref: s.ref}
	}
	s.status, s.reason, s.says, s.ended = end.Status, end.Why, end.Says, end.Status
	if s.needs = end.Asks; end.Asks {
		s.phase = humanReview
	} else {
		s.gate = nil
	}
	if r := b.refused["close"]; s.status == "closed" && r != nil && r.aside { // a person made it wait for something meanwhile
		s.status, s.ended = "blocked", "blocked"
		s.says = "blocked: " + NotClosed(s.reason, r.why, string(b.id))
	}
	return s
}

// NotClosed is the text for a finished issue that bd does not close.
func NotClosed(done, why, id string) string {
	return done + ". bd does not close it: " + why + "\nOnce it does, nothing has to run again: bd close " + id
}

// end returns the state that the issue must have, computed once per event.
func (m *Mirror) end() (Stand, bool) {
	if m.ends == nil || m.ends.seq != m.run.Seq() {
		stand, ok := m.Claim.End()
		m.ends = &ends{m.run.Seq(), stand, ok}
	}
	return m.ends.Stand, m.ends.ok
}

// ends is an answer of Claim.End, with the event at which it was given.
type ends struct {
	seq int64
	Stand
	ok bool
}

// recent is how long a write trusts bd's last answer that the issue is the worker's.
const recent = 2 * time.Second

// writes reports whether the state of a bead may be written now. An issue keeps the state
// that the worker gave it until the run begins.
func (m *Mirror) writes(b *bead) bool {
	return len(b.holds) == 0 && b.theirs == "" && (m.Claim == nil || m.Claim.Begun || m.began)
}

// seen takes note of an issue's state. A status that someone else set stays.
func (m *Mirror) seen(ctx context.Context, b *bead, now Issue) error {
	was := b.known
	b.known = &now
	switch {
	case !m.owns(b, now), was != nil && was.Status == now.Status:
		return nil
	case was == nil && (now.Status == "in_progress" || now.AsksPerson()):
		return nil
	}
	e, found, err := m.who(ctx, b, func(e HistoryEvent) bool { return e.Status() == now.Status }, changesStatus)
	if err != nil {
		b.known = nil // the next look begins anew
		return err
	}
	if found && e.Actor != m.c.actor {
		b.theirs, b.by = now.Status, e.Actor
		m.report("%s was set to %s in bd by %s, and stays so", b.id, now.Status, e.Actor)
	}
	return nil
}

// owns reports whether an issue is still the worker's; if not, nothing more is written to
// it.
func (m *Mirror) owns(b *bead, now Issue) bool {
	b.seen = m.Now()
	switch {
	case now.Token() != m.Claim.Token:
		m.report("%s no longer belongs to this worker; nothing is written to it", b.id)
	case now.Status == "in_progress" && now.Assignee != "" && now.Assignee != m.c.actor:
		m.report("%s was claimed in bd by %s; nothing is written to it any more", b.id, now.Assignee)
	default:
		return true
	}
	b.foreign = true
	return false
}

// Waits reports whether a bead waits for a person, by its label, also after a person has
// closed or opened it.
func (i Issue) Waits() bool {
	step, _ := i.Phase()
	return step == humanReview
}

// AsksPerson reports whether a bead is in the state of waiting for a person.
func (i Issue) AsksPerson() bool { return i.Status == "blocked" && i.Waits() }

// header is the bead that stores what recovery needs to know about the run.
func (m *Mirror) header() *bead {
	if m.Claim != nil {
		return m.beads[m.epic.Nodes[0].ID]
	}
	return m.beads[""]
}
