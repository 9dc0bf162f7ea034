package bd

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-compiler/ralph/executor/machine"
)

// turnEpic writes what the epic's bead lacks: its mode, what happened to it, its close.
func (m *Mirror) turnEpic(ctx context.Context, b *bead, closing bool) (more bool, err error) {
	mode, reason := m.run.Summary().Mode()
	if path := machine.ModePath(m.mode, mode); m.says(MirrorMode) && len(path) > 0 && !b.leaves("mode "+path[0]) {
		next := path[0]
		why := modeReason(m.epic, next, mode, reason)
		err := m.write(ctx, b, func(ctx context.Context) error { return m.c.SetState(ctx, b.name(m.epic), modeDimension, next, why) })
		if err != nil {
			return true, m.putAside(ctx, b, "mode "+next, "its mode "+next, 0, err)
		}
		m.mode = next
		return true, nil
	}
	if b.metadata && m.Metadata != nil && m.says(MirrorMetadata) && !b.leaves("metadata") {
		if wrote, err := m.keepEpic(ctx, b); wrote || err != nil {
			return true, err
		}
	}
	list := m.pending(b)
	now := m.Now()
	switch {
	case len(list) == 0 || !m.says(MirrorComments):
		m.flush = time.Time{}
	case m.flush.IsZero():
		m.flush = now.Add(collect)
	}
	if closing || mode != machine.ModeBuilding || !now.Before(m.flush) {
		if some, err := m.comment(ctx, b, list); some || err != nil {
			return true, err
		}
	}
	over := m.over(mode)
	if over && m.says(MirrorStatus) {
		m.remain(b)
	}
	if some, err := m.remark(ctx, b); some || err != nil {
		return true, err
	}
	if !m.says(MirrorStatus) || b.theirs != "" {
		return false, nil
	}
	return m.endEpic(ctx, b, over, reason)
}

// keepEpic writes the metadata that the epic's bead lacks.
func (m *Mirror) keepEpic(ctx context.Context, b *bead) (wrote bool, err error) {
	metadata, err := m.Metadata(nil)
	if err != nil {
		m.report("the metadata of epic %s cannot be written: %v", b.name(m.epic), err)
	}
	if wrote = err == nil && differs(metadata, b.known.Metadata); wrote {
		got, err := m.put(ctx, b, Change{Metadata: metadata})
		if err != nil {
			return true, m.putAside(ctx, b, "metadata", "its metadata", 0, err)
		}
		m.adopt(b, got, got.Status)
	}
	b.metadata = false
	return wrote, nil
}

// endEpic closes the epic's bead when everything is over, and opens it when that is no
// longer so.
func (m *Mirror) endEpic(ctx context.Context, b *bead, over bool, reason string) (more bool, err error) {
	closed := b.known.Status == "closed"
	switch {
	case over && !closed && m.openBeads() == 0 && !b.leaves("close"):
		got, err := m.closeBead(ctx, b, reason)
		if err != nil {
			return true, m.putAside(ctx, b, "close", "its close", 0, err)
		}
		m.adopt(b, got, got.Status)
		return true, nil
	case !over && closed && !b.leaves("open"):
		got, err := m.put(ctx, b, Change{Status: "open", If: "closed"})
		switch {
		case Guarded(err):
			return false, errors.New("its status changed just now")
		case err != nil:
			return true, m.putAside(ctx, b, "open", "that it is open again", 0, err)
		}
		m.adopt(b, got, "open")
		return true, nil
	}
	return false, nil
}

// over reports whether there is nothing left to do for an epic: it is complete, or it is
// a draft whose plan was approved.
func (m *Mirror) over(mode string) bool {
	return mode == machine.ModeComplete || mode == machine.ModeReady && m.epic.Plans() != ""
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
