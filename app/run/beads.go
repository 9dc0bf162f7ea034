package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

const (
	beadKept  = 15 * time.Second // what bd said, for who asks again
	beadTime  = 30 * time.Second // that bd is waited for
	mostBeads = 256              // that are kept
)

// Bead is a sprint's record in its tracker.
type Bead struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`
	Status   string        `json:"status"` // in bd's word
	Comments []BeadComment `json:"comments"`
	Unsent   int           `json:"unsent"`           // comments that it does not have yet
	Asked    bool          `json:"asked,omitempty"`  // bd says so; else it is what this run tells bd
	Cannot   string        `json:"cannot,omitempty"` // why bd was not asked
}

// BeadComment is a comment of a bead.
type BeadComment struct {
	Author string    `json:"author"`
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
}

// BeadOf is the bead of a sprint as the run tells it; nil if the epic has no tracker bd.
func BeadOf(epic *ir.Epic, v machine.NodeView, comments []machine.Comment) *Bead {
	if t := epic.Run.Tracker; t == nil || t.Kind != "bd" || v.ID == executor.Integration {
		return nil
	}
	return &Bead{
		ID: string(v.ID), Title: v.Title, Status: v.Word(executor.WordsIssue),
		Comments: lists.Map(comments, func(c machine.Comment) BeadComment { return BeadComment{c.Author, c.At.UTC(), c.Text} }),
	}
}

// Beads asks bd about beads, for who only looks: one call of bd at a time, and not again
// within some seconds.
type Beads struct {
	one     chan struct{}         // holds a token while bd is asked; it guards the following
	clients map[string]*bd.Client // by repository
	kept    map[string]keptBead
}

// keptBead is what bd said.
type keptBead struct {
	at       time.Time
	issue    bd.Issue
	comments []bd.Comment
	err      error
}

// NewBeads returns Beads that know nothing yet.
func NewBeads() *Beads {
	return &Beads{one: make(chan struct{}, 1), clients: map[string]*bd.Client{}, kept: map[string]keptBead{}}
}

// Ask completes a bead of an epic with what bd says in a repository; state is the epic's
// directory.
func (b *Beads) Ask(ctx context.Context, epic *ir.Epic, dir, state string, bead *Bead, comments []machine.Comment) error {
	if told, err := bd.ReadTold(state); err == nil && bd.Mirrors(epic, bd.MirrorComments) {
		bead.Unsent = len(told.Owed(ir.NodeID(bead.ID), comments))
	}
	select {
	case b.one <- struct{}{}:
		defer func() { <-b.one }()
	case <-ctx.Done():
		return ctx.Err()
	}
	at := dir + "\n" + bead.ID
	k, known := b.kept[at]
	if !known || time.Since(k.at) > beadKept {
		k = b.ask(ctx, epic, dir, bead.ID)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(b.kept) >= mostBeads {
			clear(b.kept)
		}
		b.kept[at] = k
	}
	if missing := new(bd.Missing); errors.As(k.err, &missing) {
		bead.Cannot = missing.Why
		return nil
	}
	if k.err != nil {
		bead.Cannot = k.err.Error()
		return nil
	}
	bead.Asked, bead.Title, bead.Status = true, k.issue.Title, k.issue.Status
	bead.Comments = lists.Map(k.comments, func(c bd.Comment) BeadComment { return BeadComment{c.Author, c.At.UTC(), c.Text} })
	return nil
}

// ask calls bd.
func (b *Beads) ask(ctx context.Context, epic *ir.Epic, dir, id string) (k keptBead) {
	ctx, cancel := context.WithTimeout(ctx, beadTime)
	defer cancel()
	k.at = time.Now()
	c := b.clients[dir]
	if c == nil {
		if c, k.err = bd.Open(ctx, bd.Options{Dir: dir, Actor: bdcodec.Assignee(epic)}); k.err != nil {
			return k
		}
		b.clients[dir] = c
	}
	var there bool
	if k.issue, there, k.err = c.Show(ctx, id); k.err != nil || !there {
		if k.err == nil {
			k.err = fmt.Errorf("bd has no bead %s", id)
		}
		return k
	}
	k.comments, k.err = c.Comments(ctx, id)
	k.at = time.Now()
	return k
}
