package bd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
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
	s := m.shouldStand(v)
	if len(b.holds) == 0 && b.theirs == "" {
		if s.gate != nil && (m.says(MirrorComments) || m.epic.Run.Tracker.Approvals) && !b.asked.same(s.gate) {
			if some, err := m.comment(ctx, b, m.pending(b)); some || err != nil {
				return true, err // what led to it stands before the question
			}
			if some, err := m.ask(ctx, b, s.gate); some || err != nil {
				return true, err
			}
		}
		if wrote, err := m.update(ctx, b, s); wrote || err != nil {
			return true, err
		}
	}
	if len(b.notes) > 0 && m.says(MirrorComments) {
		text := b.notes[0]
		b.notes = b.notes[1:]
		return true, m.say(ctx, b, text, 0)
	}
	list := m.pending(b)
	if v.Status == executor.Running && !closing && allPassed(list) {
		list = nil // they come together with the next one: a step costs one call less
	}
	if some, err := m.comment(ctx, b, list); some || err != nil {
		return true, err
	}
	if len(b.holds) == 0 && b.theirs == "" && !b.lost && m.says(MirrorStatus) && s.status == "closed" && b.known.Status != "closed" && m.closable(b) {
		var got Issue
		err := m.do(ctx, func(ctx context.Context) (err error) { got, err = m.c.Close(ctx, string(b.id), s.reason); return err })
		var no *Refused
		if errors.As(err, &no) && no.Exit > 0 { // perhaps because somebody has claimed it
			if lost := m.overtaken(ctx, b); lost != nil || b.lost {
				return true, lost
			}
		}
		if err != nil {
			return false, err
		}
		m.adopt(b, got, got.Status)
		for _, id := range b.closes { // they may have waited for it
			m.dirty(id)
		}
		m.dirty("")
	}
	m.confirmed(b, s)
	return false, nil
}

// confirmed remembers that a bead stands as its node ended.
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
		metadata, err := m.Metadata(b.node)
		if err != nil {
			m.report("%s: its metadata cannot be written: %v", b.id, err)
		} else if differs(metadata, b.known.Metadata) {
			ch.Metadata, ok = metadata, true
		}
	}
	if !ok {
		b.metadata = false
		b.asked = s.gate
		return false, nil
	}
	expect := b.known.Status
	if ch.Status != "" {
		expect = ch.Status
	}
	var got Issue
	err = m.do(ctx, func(ctx context.Context) (err error) { got, err = m.c.Update(ctx, string(b.id), ch); return err })
	if Guarded(err) {
		return true, m.overtaken(ctx, b)
	}
	if err != nil {
		return true, err
	}
	b.metadata, b.asked, b.drop = false, s.gate, nil
	m.adopt(b, got, expect)
	return true, nil
}

// adopt takes an answer of bd as the bead. Its status is believed only if it is the
// expected one: another one is a person's, and the next look at all beads finds it.
func (m *Mirror) adopt(b *bead, got Issue, expect string) {
	was := *b.known
	got.Dependencies, got.Parent = was.Dependencies, was.Parent
	if got.Status != expect {
		got.Status = was.Status
	}
	b.known = &got
}

// overtaken looks at a bead whose status is not the one that ralph knew.
func (m *Mirror) overtaken(ctx context.Context, b *bead) error {
	var now map[string]Issue
	err := m.do(ctx, func(ctx context.Context) (err error) { now, err = m.c.ByID(ctx, string(b.id)); return err })
	if err != nil {
		return err
	}
	got, there := now[string(b.id)]
	if !there {
		b.known = nil
		m.report("%s is no longer in bd", b.id)
		return nil
	}
	if got.Status == "in_progress" && got.Assignee != "" && got.Assignee != m.c.actor {
		b.lost = true
		b.known = &got
		m.report("%s was claimed in bd by %s; ralph goes on with it, and leaves its status and assignee alone", b.id, got.Assignee)
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

// pending is what was not said yet about a bead.
func (m *Mirror) pending(b *bead) []executor.Comment {
	all := m.run.Comments(b.id)
	last := m.told.Seq[b.id]
	i, _ := slices.BinarySearchFunc(all, last+1, func(c executor.Comment, seq int64) int { return int(c.Seq - seq) })
	return all[i:]
}

// allPassed reports whether comments tell only of steps that passed.
func allPassed(list []executor.Comment) bool {
	return !slices.ContainsFunc(list, func(c executor.Comment) bool { return !c.Passed })
}

// mostTogether bounds how many comments become one.
const mostTogether = 50

// comment says what is pending, together. some reports whether it said anything.
func (m *Mirror) comment(ctx context.Context, b *bead, list []executor.Comment) (some bool, err error) {
	if len(list) == 0 || !m.says(MirrorComments) {
		return false, nil
	}
	n := 1
	for n < len(list) && (n < mostTogether || list[n].Seq == list[n-1].Seq) {
		n++
	}
	var texts []string
	for _, c := range list[:n] {
		texts = append(texts, strings.TrimSpace(c.Text))
	}
	last := list[n-1].Seq
	if b.unsure || b.doubt && list[0].Seq <= m.opened { // else nobody can have said it before
		there, err := m.read(ctx, b)
		if err != nil {
			return true, err
		}
		texts = slices.DeleteFunc(texts, func(t string) bool { return contains(there, t) })
		if len(texts) == 0 {
			m.note(m.told.commented(b.id, last))
			return true, nil
		}
		b.unsure = false
	}
	sep := "\n\n"
	if b.node == nil { // lines
		sep = "\n"
	}
	return true, m.say(ctx, b, strings.Join(texts, sep), last)
}

// say adds a comment. upTo is the event up to which all is said then; 0: none.
func (m *Mirror) say(ctx context.Context, b *bead, text string, upTo int64) error {
	err := m.do(ctx, func(ctx context.Context) error { return m.c.Comment(ctx, b.name(m.epic), text) })
	if err != nil {
		b.doubt, b.unsure = true, true // it may be there all the same
		return err
	}
	if upTo > 0 {
		m.note(m.told.commented(b.id, upTo))
	}
	return nil
}

func (m *Mirror) read(ctx context.Context, b *bead) (list []Comment, err error) {
	err = m.do(ctx, func(ctx context.Context) (err error) { list, err = m.c.Comments(ctx, b.name(m.epic)); return err })
	return list, err
}

// ask puts a question to people, unless it was put before ralph ended or in a call
// whose end was not seen. some reports whether it called bd.
func (m *Mirror) ask(ctx context.Context, b *bead, q *asked) (some bool, err error) {
	if b.question == q.text {
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
	if err := m.say(ctx, b, q.text, 0); err != nil {
		return true, err
	}
	b.question = q.text
	return true, nil
}

// contains reports whether a text is one of the comments, or stands in one as whole
// lines.
func contains(list []Comment, text string) bool {
	return slices.ContainsFunc(list, func(c Comment) bool {
		return strings.Contains("\n"+strings.TrimSpace(c.Text)+"\n", "\n"+strings.TrimSpace(text)+"\n")
	})
}

// turnEpic writes what the epic's bead lacks: its mode, what happened to it, its close.
func (m *Mirror) turnEpic(ctx context.Context, b *bead, closing bool) (more bool, err error) {
	mode, reason := m.run.Mode()
	if path := executor.ModePath(m.mode, mode); m.says(MirrorMode) && len(path) > 0 {
		next, why := path[0], reason
		if next != mode {
			why = "on the way to " + mode
			switch next {
			case executor.ModePlanning:
				why = "compiled from " + m.epic.Epic.Plan
			case executor.ModeReady:
				why = "the plan is approved: digest " + m.epic.Digest
			}
		}
		err := m.do(ctx, func(ctx context.Context) error { return m.c.SetState(ctx, b.name(m.epic), "mode", next, why) })
		if err == nil {
			m.mode = next
		}
		return true, err
	}
	if b.metadata && m.Metadata != nil && m.says(MirrorMetadata) {
		metadata, err := m.Metadata(nil)
		if err != nil {
			m.report("the metadata of epic %s cannot be written: %v", b.name(m.epic), err)
		} else if differs(metadata, b.known.Metadata) {
			var got Issue
			err := m.do(ctx, func(ctx context.Context) (err error) {
				got, err = m.c.Update(ctx, b.name(m.epic), Change{Metadata: metadata})
				return err
			})
			if err == nil {
				b.metadata = false
				m.adopt(b, got, got.Status)
			}
			return true, err
		}
		b.metadata = false
	}
	list := m.pending(b)
	now := m.Now()
	switch {
	case len(list) == 0 || !m.says(MirrorComments):
		m.flush = time.Time{}
	case m.flush.IsZero():
		m.flush = now.Add(collect)
	}
	if closing || mode != executor.ModeBuilding || !now.Before(m.flush) {
		if some, err := m.comment(ctx, b, list); some || err != nil {
			return true, err
		}
	}
	if !m.says(MirrorStatus) || b.theirs != "" {
		return false, nil
	}
	switch open := m.openBeads(); {
	case mode == executor.ModeComplete && open == 0 && b.known.Status != "closed":
		var got Issue
		err := m.do(ctx, func(ctx context.Context) (err error) { got, err = m.c.Close(ctx, b.name(m.epic), reason); return err })
		if err == nil {
			m.adopt(b, got, got.Status)
		}
		return err == nil, err
	case mode != executor.ModeComplete && b.known.Status == "closed":
		var got Issue
		err := m.do(ctx, func(ctx context.Context) (err error) {
			got, err = m.c.Update(ctx, b.name(m.epic), Change{Status: "open", If: "closed"})
			return err
		})
		if err == nil {
			m.adopt(b, got, "open")
		}
		if Guarded(err) {
			err = errors.New("its status changed just now")
		}
		return err == nil, err
	}
	return false, nil
}

// openBeads counts the beads of nodes that are not closed, or not there.
func (m *Mirror) openBeads() (n int) {
	for id, b := range m.beads {
		if id != "" && (b.known == nil || b.known.Status != "closed") {
			n++
		}
	}
	return n
}
