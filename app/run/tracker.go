package run

import (
	"context"
	"errors"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// NoTracker is the error that says what --push needs.
const NoTracker = `--push: the policy has no tracker. Write this into ralph.hcl, and compile again:

  tracker "bd" {
  }`

// OpenTracker opens the beads database of a repository for an epic, in the name that
// the epic's beads are assigned to.
func OpenTracker(ctx context.Context, epic *ir.Epic, dir string) (*bd.Client, error) {
	prefix, _, _ := strings.Cut(string(epic.Epic.ID), "-")
	return bd.Open(ctx, bd.Options{Dir: dir, Actor: bdcodec.Assignee(epic), Prefix: prefix})
}

// PushEpic writes an epic and its history h into its tracker and reports what was done,
// one line per call of say. If the tracker is up to date, it reads once and reports
// nothing.
func PushEpic(ctx context.Context, c *bd.Client, epic *ir.Epic, h *ir.History, say func(text string)) (*bd.Pushed, error) {
	if why := c.Database.Untested(); why != "" {
		say(why)
	}
	p, err := bd.Push(ctx, c, epic, bd.PushOptions{History: h, Progress: func(text string) { say("bd: " + text) }})
	if err != nil {
		return nil, err
	}
	if !p.Nothing() {
		say(pushed(p))
	}
	for _, id := range p.Closed {
		say("bd: " + string(id) + " is gone from the plan; its bead was closed")
	}
	for _, n := range p.Notes {
		say("bd: " + n)
	}
	return p, nil
}

// pushed describes a push in one line.
func pushed(p *bd.Pushed) string {
	var parts []string
	add := func(n int, what, word string) {
		if n > 0 {
			parts = append(parts, text.Count(n, word)+" "+what)
		}
	}
	add(p.Created, "created", "bead")
	add(p.Changed, "changed", "bead")
	add(len(p.Closed), "closed", "bead")
	add(len(p.Reopened), "opened again", "bead")
	add(p.Edges, "added", "edge")
	add(p.Cut, "removed", "edge")
	return "pushed " + p.Epic + " into bd: " + strings.Join(parts, ", ")
}

// PushError is the command's error for a failed push: exit code exit.Interrupted if ctx is
// done, else exit.Input.
func PushError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exit.Error{Code: exit.Interrupted, Err: errors.New("interrupted; the next push continues where this one stopped: ralph compile --push")}
	}
	return err
}
