package bd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/text"
)

// attempts is how often a refused write is tried before it is put aside.
const attempts = 2

// most is how many consecutive refusals are taken to mean that bd refuses everything; it is
// then left alone for a while.
const most = 3

// refusal is a write that bd refused although it works otherwise: a comment, or some
// fields of a bead. It is put aside, and later writes proceed. Once bd accepts something
// else, the refusal is known to concern this write only: it is recorded, the write is tried
// once more, and skipped if it is refused again. If bd accepts nothing else, the next mirror
// tries again.
type refusal struct {
	what  string // "a comment", "its labels"
	seq   int64  // of the event that a comment tells of; 0: none
	why   string
	count int
	aside bool // not tried now
	last  bool // tried once more, or to be
	over  bool // passed over
}

// errChanged says that nothing was written: an issue was found changed, and its turn
// begins anew.
var errChanged = errors.New("it was changed meanwhile")

// write makes a call that writes. Another worker may have claimed an issue since bd last
// answered, and no guard of bd tells: it is looked at first, and written at once if it
// has its known state.
func (m *Mirror) write(ctx context.Context, b *bead, call func(context.Context) error) error {
	if m.Claim != nil && m.Now().Sub(b.seen) > recent {
		was := b.known
		if err := m.overtaken(ctx, b); err != nil {
			return err
		}
		if b.foreign || b.theirs != "" || !unchanged(was, b.known) {
			return errChanged
		}
	}
	err := m.do(ctx, call)
	if err == nil {
		m.took()
	}
	return err
}

// unchanged reports whether an issue is unchanged, in what a write depends on.
func unchanged(a, b *Issue) bool {
	return a != nil && b != nil && a.Status == b.Status && a.Assignee == b.Assignee && a.ExternalRef == b.ExternalRef &&
		bytes.Equal(a.Metadata, b.Metadata) && slices.Equal(a.Labels, b.Labels) && slices.Equal(a.Dependencies, b.Dependencies)
}

// took records what was put aside, now that bd accepts other writes, and schedules one more
// try.
func (m *Mirror) took() {
	for _, b := range m.aside {
		m.owe(b)
		for _, r := range b.refused {
			if r.aside && !r.last {
				r.aside, r.last = false, true
				m.dirty(b.id)
			}
		}
	}
	m.aside = nil
}

// owe records the comments of a bead that were put aside: later ones may be written first.
func (m *Mirror) owe(b *bead) {
	for _, r := range b.refused {
		if r.aside && !r.over && r.seq > 0 && !m.told.owes(b.id, r.seq) {
			m.note(m.told.notTaken(Refusal{ID: b.id, What: r.what, Seq: r.seq, Why: r.why}))
		}
	}
}

// putAside handles a failed write. It returns nil if the write is put aside, else err: bd
// does not answer, or the write is to be tried again.
func (m *Mirror) putAside(ctx context.Context, b *bead, key, what string, seq int64, err error) error {
	if errors.Is(err, errChanged) {
		return err
	}
	if !isRefusal(err) {
		b.apart = false
		return err
	}
	r := b.refused[key]
	if r == nil {
		r = &refusal{what: what, seq: seq}
		b.refused[key] = r
	}
	r.count++
	r.why = saidBy(err)
	if r.count < attempts {
		return err
	}
	if m.do(ctx, func(ctx context.Context) error { _, err := m.c.Config(ctx, typesKey); return err }) != nil {
		b.apart = false
		return err // it is bd that is away
	}
	r.aside, b.apart, b.together = true, false, 0
	if !r.last {
		if m.aside = append(m.aside, b); len(m.aside) > most {
			return err // it takes nothing at all
		}
		return nil
	}
	r.over = true
	m.note(m.told.notTaken(Refusal{ID: b.id, What: r.what, Seq: seq, Why: r.why, Over: true}))
	m.report("bd refuses %s of %s, but accepts others: %s. It is skipped; everything else is sent", r.what, b.name(m.epic), r.why)
	return nil
}

// isRefusal reports whether err is a refusal by bd other than a failed guard.
func isRefusal(err error) bool {
	var no *Refused
	return errors.As(err, &no) && no.Exit > 0 && !Guarded(err)
}

func saidBy(err error) string {
	if no, ok := errors.AsType[*Refused](err); ok {
		return no.Said
	}
	return err.Error()
}

// leaves reports whether a write is put aside.
func (b *bead) leaves(key string) bool { r := b.refused[key]; return r != nil && r.aside }

// commentKey names the comments that tell of an event.
func commentKey(seq int64) string { return fmt.Sprint("comment ", seq) }

// part is some fields of a bead that are written together, and refused together.
type part struct {
	key, what string
	change    Change
}

// parts takes a change apart.
func (ch Change) parts() []part {
	all := []part{
		{"status " + ch.Status + " " + ch.Assignee, "its status", Change{Status: ch.Status, If: ch.If, Assignee: ch.Assignee}},
		{"labels " + strings.Join(ch.Add, " ") + " - " + strings.Join(ch.Remove, " "), "its labels", Change{Add: ch.Add, Remove: ch.Remove}},
		{"reference " + ch.ExternalRef, "its external reference", Change{ExternalRef: ch.ExternalRef}},
		{"metadata", "its metadata", Change{Metadata: ch.Metadata}},
	}
	return slices.DeleteFunc(all, func(p part) bool { p.change.If = ""; return p.change.empty() })
}

// joined is the change that parts make together.
func joined(parts []part) (ch Change) {
	for _, p := range parts {
		c := p.change
		if c.Status+c.Assignee != "" {
			ch.Status, ch.If, ch.Assignee = c.Status, c.If, c.Assignee
		}
		ch.Add, ch.Remove = append(ch.Add, c.Add...), append(ch.Remove, c.Remove...)
		if c.ExternalRef != "" {
			ch.ExternalRef = c.ExternalRef
		}
		if c.Metadata != nil {
			ch.Metadata = c.Metadata
		}
	}
	return ch
}

// pending lists the comments to write now: first those that were refused before and get
// one more try.
func (m *Mirror) pending(b *bead) []machine.Comment {
	all := m.run.Node(b.id).Comments()
	if len(b.refused) == 0 && !slices.ContainsFunc(m.told.Refused, func(r Refusal) bool { return r.ID == b.id }) { // all but always
		i, _ := slices.BinarySearchFunc(all, m.told.Seq[b.id]+1, func(c machine.Comment, seq int64) int { return int(c.Seq - seq) })
		return all[i:]
	}
	return slices.DeleteFunc(m.told.Owed(b.id, all), func(c machine.Comment) bool { return b.leaves(commentKey(c.Seq)) })
}

// said notes that comments of a bead are in bd.
func (m *Mirror) said(b *bead, list []machine.Comment) {
	m.owe(b)
	for _, c := range list {
		delete(b.refused, commentKey(c.Seq))
		if m.told.owes(b.id, c.Seq) {
			m.note(m.told.taken(b.id, c.Seq))
		}
	}
	if last := list[len(list)-1].Seq; last > m.told.Seq[b.id] {
		m.note(m.told.commented(b.id, last))
	}
}

// opening is how a comment begins, for people.
func opening(comment string) string {
	return fmt.Sprintf("the comment %q", text.Shorten(text.FirstLine(comment), 70))
}
