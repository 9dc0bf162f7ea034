package bd

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ralph-compiler/ralph/executor/machine"
)

// TokenKey is the key of a bead's metadata with the token of the worker that claimed it.
const TokenKey = "ralph_worker"

// Claim makes a mirror that of an issue: of a bead that somebody wrote and a worker has
// claimed. The epic has this one node, and no bead of its own. The mirror writes its
// comments, the labels and keys of metadata that are ralph's, and the status; title,
// text, edges and all other labels are the author's. What people do to the issue
// beside a gate's labels is the worker's to heed.
type Claim struct {
	Token string    // as long as it stands in the bead, the issue is the worker's
	Since time.Time // what was said before is not said by this claim
	Begun bool      // the run has begun that the claim is for, and is over; else the mirror waits for its start
	// End is how the issue has to stand while no run goes on. False: it is left to the
	// worker, which releases it.
	End func() (Stand, bool)
}

// Stand is how an issue stands behind a run.
type Stand struct {
	Status string // closed or blocked
	Asks   bool   // a person: with the label and the phase that say so
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

// stand is how a bead has to stand. An issue follows its run: while one goes on it is in
// progress, or waits at a gate; then it stands as the claim says.
func (m *Mirror) stand(b *bead, v machine.NodeView) should {
	s := m.shouldStand(v)
	if m.Claim == nil {
		return s
	}
	if s.phase == "" {
		if s.phase, _ = b.known.Phase(); s.phase == humanReview && len(v.Attempts) > 0 {
			s.phase = v.Attempts[len(v.Attempts)-1].Step // nobody is asked any more
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

// NotClosed says of an issue that is done that bd does not close it.
func NotClosed(done, why, id string) string {
	return done + ". bd does not close it: " + why + "\nOnce it does, nothing has to run again: bd close " + id
}

// end asks how the issue has to stand, once for each event.
func (m *Mirror) end() (Stand, bool) {
	if m.ends == nil || m.ends.seq != m.run.Seq() {
		stand, ok := m.Claim.End()
		m.ends = &ends{m.run.Seq(), stand, ok}
	}
	return m.ends.Stand, m.ends.ok
}

// ends is an answer of Claim.End, of the time of an event.
type ends struct {
	seq int64
	Stand
	ok bool
}

// recent is how long an answer of bd about an issue is trusted when its end is written.
const recent = 2 * time.Second

// looks reports whether an issue has to be looked at before it is written how its run
// ended: somebody may have it since the last answer, whose status is the same.
func (m *Mirror) looks(b *bead, s should) bool {
	return m.Claim != nil && s.ended != "" && m.Now().Sub(b.seen) > recent
}

// writes reports whether how a bead stands is written now. An issue stays as the worker
// left it until the run begins.
func (m *Mirror) writes(b *bead) bool {
	return len(b.holds) == 0 && b.theirs == "" && (m.Claim == nil || m.Claim.Begun || m.began)
}

// seen looks at an issue. What somebody else made of it stays so.
func (m *Mirror) seen(ctx context.Context, b *bead, now Issue) error {
	was := b.known
	b.known = &now
	switch {
	case !m.owns(b, now), was != nil && was.Status == now.Status:
		return nil
	case was == nil && (now.Status == "in_progress" || now.Status == "blocked" && now.waits()):
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

// owns reports whether an issue is the worker's still; if not, nothing is written to it
// any more.
func (m *Mirror) owns(b *bead, now Issue) bool {
	b.seen = m.Now()
	switch {
	case now.Token() != m.Claim.Token:
		m.report("%s is not this worker's any more; nothing is written to it", b.id)
	case now.Status == "in_progress" && now.Assignee != "" && now.Assignee != m.c.actor:
		m.report("%s was claimed in bd by %s; nothing is written to it any more", b.id, now.Assignee)
	default:
		return true
	}
	b.foreign = true
	return false
}

// waits reports whether a bead waits for a person, by its label.
func (i Issue) waits() bool {
	step, _ := i.Phase()
	return step == humanReview
}

// header is the bead that keeps what has to be known of the run.
func (m *Mirror) header() *bead {
	if m.Claim != nil {
		return m.beads[m.epic.Nodes[0].ID]
	}
	return m.beads[""]
}
