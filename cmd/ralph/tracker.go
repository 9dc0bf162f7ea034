package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// noTracker is what --push needs.
const noTracker = `--push: the policy has no tracker. Write this into ralph.hcl, and compile again:

  tracker "bd" {
  }`

// openTracker opens the beads database of a repository for an epic, in the name that
// the epic's beads are assigned to.
func openTracker(ctx context.Context, epic *ir.Epic, dir string) (*bd.Client, error) {
	prefix, _, _ := strings.Cut(string(epic.Epic.ID), "-")
	return bd.Open(ctx, bd.Options{Dir: dir, Actor: bdcodec.Assignee(epic), Prefix: prefix})
}

// pushEpic writes an epic into its tracker and says what was done, one line a call of
// say; h is what has happened to it. Where the tracker has everything already it
// reads once and says nothing.
func pushEpic(ctx context.Context, c *bd.Client, epic *ir.Epic, h *ir.History, say func(format string, args ...any)) (*bd.Pushed, error) {
	if why := c.Untested(); why != "" {
		say("%s", why)
	}
	p, err := bd.Push(ctx, c, epic, bd.PushOptions{History: h, Progress: func(text string) { say("bd: %s", text) }})
	if err != nil {
		return nil, err
	}
	if !p.Nothing() {
		say("%s", pushed(p))
	}
	for _, id := range p.Closed {
		say("bd: %s is gone from the plan; its bead was closed", id)
	}
	for _, n := range p.Notes {
		say("bd: %s", n)
	}
	return p, nil
}

// pushed says in a line what a push did.
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

// runPush writes what was compiled into the tracker.
func (a *compileArgs) runPush(cmd *cobra.Command, c *compilation, targets []string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(background(cmd), os.Interrupt, syscall.SIGTERM)
	defer stop()
	say := func(format string, args ...any) { sayf(out, format+"\n", args...) }
	for i, r := range c.Results {
		dir := c.project.dir
		client, err := openTracker(ctx, r.Epic, dir)
		if err != nil {
			return pushError(ctx, err)
		}
		h := &ir.History{Top: gitRoot(dir)}
		mode, why := executor.ModePlanning, "compiled from "+r.Epic.Epic.Plan+" again, and not approved yet"
		if targets[i] != "-" {
			if rec, err := openRecord(ctx, targets[i], nil); err == nil { // it was applied before, maybe
				h = rec.history(ctx, detail{})
				if !rec.changed {
					mode, why = rec.run.Mode()
				}
			}
		}
		p, err := pushEpic(ctx, client, r.Epic, h, say)
		if err == nil && p.Anew {
			err = client.Planned(ctx, r.Epic, mode, why)
		}
		if err != nil {
			return pushError(ctx, err)
		}
		if p.Nothing() {
			say("bd has everything of %s already (%s)", p.Epic, text.Count(p.Beads, "bead"))
		}
	}
	return nil
}

// tellApproved tells the tracker that somebody approved a plan. Where a run is at work
// its mirror does, and where bd does not take it the next ralph apply does.
func tellApproved(ctx context.Context, out io.Writer, file string, epic *ir.Epic) {
	if epic.Run.Tracker == nil {
		return
	}
	rec, err := openRecord(ctx, file, nil)
	if err != nil || rec.held || rec.given.Digest != epic.Digest {
		return
	}
	c, err := openTracker(ctx, epic, rec.space.Top())
	var missing *bd.Missing
	if errors.As(err, &missing) {
		return // it was not pushed
	}
	if err == nil {
		err = c.Approved(ctx, epic, "the plan was approved: digest "+epic.Digest)
	}
	if err != nil {
		sayf(out, "  bd was not told, the next ralph apply tells it: %v\n", err)
	}
}

func pushError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted; the next push goes on where this one stopped: ralph compile --push")}
	}
	return inputErrorf("%w", err)
}

// canPush complains about epics that have no tracker.
func canPush(results []compiler.Result) error {
	if slices.ContainsFunc(results, func(r compiler.Result) bool { return r.Epic.Run.Tracker == nil }) {
		return inputErrorf("%s", noTracker)
	}
	return nil
}
