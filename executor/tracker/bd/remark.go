package bd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/internal/text"
)

// note is what is to be said in a comment beside what happened to a node.
type note struct {
	text string
	once bool      // nothing is said if it is there from before
	from time.Time // what was said before that is not it
}

// remark says the next note of a bead. some reports whether it called bd.
func (m *Mirror) remark(ctx context.Context, b *bead) (some bool, err error) {
	i := slices.IndexFunc(b.notes, func(n note) bool { return !b.leaves("note " + n.text) })
	if i < 0 || !m.says(MirrorComments) {
		return false, nil
	}
	n := b.notes[i]
	if b.unsure || b.doubt && n.once {
		there, err := m.read(ctx, b)
		if err != nil {
			return true, err
		}
		if saidSince(there, n.text, n.from) {
			b.notes, b.unsure = slices.Delete(b.notes, i, i+1), false
			return true, nil
		}
	}
	if err := m.say(ctx, b, n.text); err != nil {
		return true, m.putAside(ctx, b, "note "+n.text, opening(n.text), 0, err)
	}
	b.notes = slices.Delete(b.notes, i, i+1)
	return true, nil
}

// saidSince reports whether a text was said in comments since a time. bd keeps seconds.
func saidSince(list []Comment, text string, from time.Time) bool {
	return contains(slices.DeleteFunc(list, func(c Comment) bool { return c.At.Before(from.Truncate(time.Second)) }), text)
}

// CommentOnce comments a bead, unless it has the same comment since a time.
func CommentOnce(ctx context.Context, c *Client, id, text string, since time.Time) error {
	if list, err := c.Comments(ctx, id); err != nil || saidSince(list, text, since) {
		return err
	}
	return c.Comment(ctx, id, text)
}

// NotTaken comments once in an issue why no worker takes it, unless the issue has changed
// since it was read.
func NotTaken(ctx context.Context, c *Client, i Issue, why string) error {
	now, there, err := c.Show(ctx, i.ID)
	if err != nil || !there || now.Status != i.Status || now.Assignee != i.Assignee || now.Token() != i.Token() {
		return err
	}
	return CommentOnce(ctx, c, i.ID, "ralph does not run this: "+why, i.CreatedAt)
}

// once puts a note on a bead, once in this run.
func (m *Mirror) once(b *bead, text string) { b.tell(text, time.Time{}) }

// tell puts a note on a bead, once in this run, unless it was said since a time.
func (b *bead) tell(text string, since time.Time) {
	if b.noted == nil {
		b.noted = map[string]bool{}
	}
	if !b.noted[text] {
		b.noted[text] = true
		b.notes = append(b.notes, note{text, true, since})
	}
}

// claimed reports whether someone else works on a bead that ralph has not brought to
// an end: then its status and assignee are theirs. It says so when that begins.
func (m *Mirror) claimed(b *bead, now Issue) bool {
	lost := b.node != nil && now.Status == "in_progress" && now.Assignee != "" && now.Assignee != m.c.actor && m.told.Ended[b.id] == ""
	who := ""
	switch had := m.told.Lost[b.id]; {
	case !lost && had != "":
		b.released = had
	case lost && had != now.Assignee:
		m.report("%s was claimed in bd by %s: its status and assignee stay theirs, and ralph continues with it anyway", b.id, now.Assignee)
	}
	if lost {
		who = now.Assignee
	}
	b.lost = lost
	m.note(m.told.lost(b.id, who))
	return lost
}

// remarks puts notes on a bead about what is not written there: that it is not closed,
// that it has another external reference.
func (m *Mirror) remarks(b *bead, v machine.NodeView, s should) {
	if b.lost && s.status == "closed" && m.says(MirrorStatus) {
		m.once(b, fmt.Sprintf("[not closed] [task:%s] %s has claimed it; ralph leaves its status and assignee alone. In ralph it is %s: %s. To close it: bd --actor %s close %s", b.id, b.known.Assignee, v.Status, s.reason, shellword.Quote(b.known.Assignee), b.id))
	}
	if m.says(MirrorPR) && s.ref != "" && m.keepsRef(b, s.ref) {
		m.report("%s has the external reference %s in bd, which ralph did not write: it stays, and the %s %s is in a comment", b.id, b.known.ExternalRef, executor.PullWord(s.ref), s.ref)
		m.once(b, fmt.Sprintf("[pull request] [task:%s] %s", b.id, s.ref))
	}
}

// keepsRef reports whether a bead has an external reference that someone else wrote.
func (m *Mirror) keepsRef(b *bead, ref string) bool {
	have := b.known.ExternalRef
	if have == "" || have == ref || slices.Contains(m.told.Refs[b.id], have) {
		return false
	}
	var kept struct { // by a ralph whose memory is elsewhere
		PR string `json:"pr_url"`
	}
	return json.Unmarshal(b.known.Metadata, &kept) != nil || kept.PR != have
}

// remain puts a note on the epic that says why it is not closed, where only beads that
// people keep open are in the way.
func (m *Mirror) remain(b *bead) {
	var lines []string
	for _, id := range m.order() {
		n := m.beads[id]
		if n.node == nil || n.known != nil && n.known.Status == "closed" {
			continue
		}
		v, ok := m.run.View(id)
		if !ok || n.known == nil || !n.lost && n.theirs == "" {
			return // it may still be closed
		}
		lines = append(lines, fmt.Sprintf("%s %s", id, m.stays(n, v)))
	}
	if len(lines) > 0 {
		m.once(b, fmt.Sprintf("[not closed] [task:%s] everything is done, and %s open in bd:\n%s\nWhen that is over, the next ralph apply closes the epic.",
			b.name(m.epic), text.Counted(len(lines), "bead is", "beads are"), strings.Join(lines, "\n")))
	}
}
