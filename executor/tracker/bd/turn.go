package bd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// turn makes at most one write to a bead: the first thing that it lacks. more says
// that there may be another.
func (m *Mirror) turn(ctx context.Context, b *bead, closing bool) (more bool, err error) {
	if b.known == nil || b.foreign {
		return false, nil
	}
	if b.node == nil {
		return m.turnEpic(ctx, b, closing)
	}
	v, ok := m.run.View(b.id)
	if !ok {
		return false, nil
	}
	if closing {
		m.answered(ctx, b) // there is no other look
	}
	s := m.stand(b, v)
	writes := m.writes(b)
	if writes {
		if some, err := m.before(ctx, b, s); some || err != nil {
			return true, err
		}
		if wrote, err := m.update(ctx, b, s); wrote || err != nil {
			return true, err
		}
	}
	m.remarks(b, v, s)
	if some, err := m.remark(ctx, b); some || err != nil {
		return true, err
	}
	list := m.pending(b)
	if v.Status == executor.Running && !closing && allPassed(list) {
		list = nil // they come together with the next one: a step costs one call less
	}
	if some, err := m.comment(ctx, b, list); some || err != nil {
		return true, err
	}
	if writes && !b.lost && m.says(MirrorStatus) && s.status == "closed" && b.known.Status != "closed" && m.closable(b) && !b.leaves("close") {
		if again, err := m.shut(ctx, b, s.reason); again || err != nil {
			return true, err
		}
	}
	m.confirmed(b, s)
	return false, nil
}

// before says what is in the comments before the fields that follow from it: how an issue
// ends, or a question, and what led to either.
func (m *Mirror) before(ctx context.Context, b *bead, s should) (some bool, err error) {
	ends := s.says != "" && b.known.Status != s.status
	asks := s.gate != nil && (m.says(MirrorComments) || m.epic.Run.Tracker.Approvals) && !b.asked.same(s.gate)
	if !ends && !asks {
		return false, nil
	}
	if ends {
		b.tell(s.says, m.Claim.Since)
	}
	if some, err := m.comment(ctx, b, m.pending(b)); some || err != nil {
		return true, err
	}
	if ends {
		if some, err := m.remark(ctx, b); some || err != nil {
			return true, err
		}
	}
	if asks {
		return m.ask(ctx, b, s.gate)
	}
	return false, nil
}

// shut closes a bead; again says that it was found to be someone else's instead.
func (m *Mirror) shut(ctx context.Context, b *bead, reason string) (again bool, err error) {
	got, err := m.closeBead(ctx, b, reason)
	if no, ok := errors.AsType[*Refused](err); ok && no.Exit > 0 { // perhaps because it was claimed
		if lost := m.overtaken(ctx, b); lost != nil || b.lost {
			return true, lost
		}
	}
	if err != nil {
		return true, m.putAside(ctx, b, "close", "its close", 0, err)
	}
	m.adopt(b, got, got.Status)
	for _, id := range b.closes { // they may have waited for it
		m.dirty(id)
	}
	m.dirty("")
	return false, nil
}

// confirmed remembers that a bead has its node's end state.
func (m *Mirror) confirmed(b *bead, s should) {
	word := s.ended
	if m.says(MirrorStatus) && b.known.Status != s.status {
		word = ""
	}
	m.note(m.told.ended(b.id, word))
}

// update writes all fields that differ, but for a close.
func (m *Mirror) update(ctx context.Context, b *bead, s should) (wrote bool, err error) {
	ch, ok := m.change(b, s)
	if m.Metadata != nil && m.says(MirrorMetadata) && (ok || b.metadata) {
		if metadata, err := m.Metadata(b.node); err != nil {
			m.report("%s: its metadata cannot be written: %v", b.id, err)
		} else if differs(metadata, b.known.Metadata) {
			ch.Metadata, ok = metadata, true
		}
	}
	parts := slices.DeleteFunc(ch.parts(), func(p part) bool { return b.leaves(p.key) })
	if !ok || len(parts) == 0 {
		b.metadata, b.apart = false, false
		if len(ch.Add)+len(ch.Remove) == 0 {
			b.asked = s.gate
		}
		return false, nil
	}
	if b.apart { // to find what bd refuses
		parts = parts[:1]
	}
	ch = joined(parts)
	if m.Claim != nil && !ch.onlyLabels() {
		ch.If, ch.IfAssignee = b.known.Status, &b.known.Assignee
	}
	expect := b.known.Status
	if ch.Status != "" {
		expect = ch.Status
	}
	if ch.ExternalRef != "" {
		m.note(m.told.refer(b.id, ch.ExternalRef))
	}
	got, err := m.put(ctx, b, ch)
	switch {
	case Guarded(err):
		return true, m.overtaken(ctx, b)
	case isRefusal(err) && len(parts) > 1:
		b.apart = true
		return true, nil
	case err != nil:
		return true, m.putAside(ctx, b, parts[0].key, parts[0].what, 0, err)
	}
	for _, p := range parts {
		delete(b.refused, p.key)
		switch {
		case p.change.Metadata != nil:
			b.metadata = false
		case len(p.change.Add)+len(p.change.Remove) > 0:
			b.drop, b.asked = nil, s.gate
		}
	}
	if s.gate == nil {
		b.asked = nil
	}
	m.adopt(b, got, expect)
	return true, nil
}

// adopt takes an answer of bd as the bead. Its status is believed only if it is the
// expected one: another one is a person's, and the next look at all beads finds it.
func (m *Mirror) adopt(b *bead, got Issue, expect string) {
	if m.Claim != nil && !m.owns(b, got) {
		return
	}
	was := *b.known
	got.Dependencies, got.Parent = was.Dependencies, was.Parent
	if got.Status != expect {
		got.Status = was.Status
	}
	b.known = &got
}

// overtaken looks at a bead whose status is not, or may not be, the one that ralph knew.
func (m *Mirror) overtaken(ctx context.Context, b *bead) error {
	now, err := ask(ctx, m, func(ctx context.Context) (map[string]Issue, error) { return m.c.ByID(ctx, string(b.id)) })
	if err != nil {
		return err
	}
	got, there := now[string(b.id)]
	switch {
	case !there:
		b.known = nil
		m.report("%s is no longer in bd", b.id)
		return nil
	case m.Claim != nil:
		return m.seen(ctx, b, got)
	case m.claimed(b, got):
		b.known = &got
		return nil
	}
	return m.changed(ctx, b, got)
}

// closable reports whether bd lets a bead be closed: nothing that blocks it is open.
func (m *Mirror) closable(b *bead) bool {
	for _, d := range b.known.Dependencies {
		if d.Type != "blocks" || d.From != string(b.id) {
			continue
		}
		if o := m.beads[ir.NodeID(d.To)]; o != nil && o.known != nil && o.known.Status != "closed" {
			return false
		}
	}
	return true
}

// allPassed reports whether comments tell only of steps that passed.
func allPassed(list []machine.Comment) bool {
	return !slices.ContainsFunc(list, func(c machine.Comment) bool { return !c.Passed })
}

// mostTogether bounds how many comments become one.
const mostTogether = 50

// comment says what is pending, together. some reports whether it said anything. What
// bd refuses together is said in halves, to find which one it is.
func (m *Mirror) comment(ctx context.Context, b *bead, list []machine.Comment) (some bool, err error) {
	if len(list) == 0 || !m.says(MirrorComments) {
		return false, nil
	}
	alone := func(c machine.Comment) bool { return b.refused[commentKey(c.Seq)] != nil }
	n := 1
	for n < len(list) && (list[n].Seq == list[n-1].Seq || n < cmp.Or(b.together, mostTogether) && !alone(list[0]) && !alone(list[n])) {
		n++
	}
	list = list[:n]
	texts := lists.Map(list, func(c machine.Comment) string { return strings.TrimSpace(c.Text) })
	if b.unsure || b.doubt && list[0].Seq <= m.opened { // else it cannot have been said before
		there, err := m.read(ctx, b)
		if err != nil {
			return true, err
		}
		texts = slices.DeleteFunc(texts, func(t string) bool { return contains(there, t) })
		if len(texts) == 0 {
			b.unsure = false
			m.said(b, list)
			return true, nil
		}
	}
	sep := "\n\n"
	if b.node == nil { // lines
		sep = "\n"
	}
	switch err := m.say(ctx, b, strings.Join(texts, sep)); {
	case err == nil:
		m.said(b, list)
		return true, nil
	case isRefusal(err) && list[0].Seq != list[n-1].Seq:
		b.together = max(n/2, 1)
		return true, nil
	default:
		return true, m.putAside(ctx, b, commentKey(list[0].Seq), opening(texts[0]), list[0].Seq, err)
	}
}

// say adds a comment.
func (m *Mirror) say(ctx context.Context, b *bead, text string) error {
	err := m.write(ctx, b, func(ctx context.Context) error { return m.c.Comment(ctx, b.name(m.epic), text) })
	if !errors.Is(err, errChanged) {
		b.unsure = err != nil // it may be there all the same
		b.doubt = b.doubt || b.unsure
	}
	return err
}

func (m *Mirror) read(ctx context.Context, b *bead) ([]Comment, error) {
	return ask(ctx, m, func(ctx context.Context) ([]Comment, error) { return m.c.Comments(ctx, b.name(m.epic)) })
}

// put updates a bead, and closeBead closes it: they return it as bd shows it then.
func (m *Mirror) put(ctx context.Context, b *bead, ch Change) (got Issue, err error) {
	err = m.write(ctx, b, func(ctx context.Context) (err error) { got, err = m.c.Update(ctx, b.name(m.epic), ch); return err })
	return got, err
}

func (m *Mirror) closeBead(ctx context.Context, b *bead, reason string) (got Issue, err error) {
	err = m.write(ctx, b, func(ctx context.Context) (err error) { got, err = m.c.Close(ctx, b.name(m.epic), reason); return err })
	return got, err
}

// ask puts a question to people, unless it was put before ralph ended or in a call
// whose end was not seen. some reports whether it called bd.
func (m *Mirror) ask(ctx context.Context, b *bead, q *asked) (some bool, err error) {
	if b.question == q.text || b.leaves("ask "+q.text) {
		return false, nil
	}
	if b.doubt {
		list, err := m.read(ctx, b)
		if err != nil {
			return true, err
		}
		if contains(list, q.text) {
			b.question = q.text
			return true, nil
		}
	}
	if err := m.say(ctx, b, q.text); err != nil {
		return true, m.putAside(ctx, b, "ask "+q.text, opening(q.text), 0, err)
	}
	b.question = q.text
	return true, nil
}

// contains reports whether a text is one of the comments, or is in one as whole
// lines.
func contains(list []Comment, text string) bool {
	return slices.ContainsFunc(list, func(c Comment) bool {
		return strings.Contains("\n"+strings.TrimSpace(c.Text)+"\n", "\n"+strings.TrimSpace(text)+"\n")
	})
}
