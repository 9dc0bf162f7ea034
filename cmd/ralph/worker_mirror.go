package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// issueEpic is the epic of an issue as its mirror has it: there is a tracker.
func issueEpic(epic *ir.Epic) *ir.Epic {
	e := *epic
	if e.Run.Tracker == nil {
		e.Run.Tracker = &ir.Tracker{Kind: "bd", Actor: "ralph", PollMS: 15_000}
	}
	return &e
}

// claimed makes the mirror of a run that of the issue that a worker claimed for it.
func (r *openedRun) claimed(o *bd.Outbox, c *claim) {
	o.Epic, o.Push = issueEpic(r.epic), nil
	o.Metadata = func(*ir.Node) (map[string]any, error) { return bd.IssueMetadata(r.epic, o.Run) }
	words := issueTeller{r.space.Top(), o.Epic.Run.Tracker.Approvals, bdcodec.LabelsOf(r.epic.Run)}
	o.Claim = &bd.Claim{Token: c.Token, Since: c.At, End: func() (bd.Stand, bool) {
		rec, err := recordAbout(context.Background(), r.file, r.epic)
		if err != nil {
			o.Report("how the issue ends cannot be read: %v", err)
			return bd.Stand{}, false
		}
		rec.file, rec.held = c.Issue, false // for people to type, when this has ended
		if end := words.verdict(rec); end != nil {
			return end.stand()
		}
		return bd.Stand{}, false
	}}
}

// catchUp has bd told what the mirror of a run could not tell it.
func (w *issueWorker) catchUp(ctx context.Context, r *issueRun) (err error) {
	ctx, cancel := context.WithTimeout(ctx, trackerTime)
	defer cancel()
	if err := regular.MkdirOwn(r.state); err != nil {
		return err
	}
	events, err := readEvents(ctx, r.state, r.claim.Epic)
	if err != nil {
		return err
	}
	run, err := replayed(r.epic, events)
	if err != nil {
		return err
	}
	var said []string
	m, err := bd.NewMirror(bd.Outbox{
		Client: w.bd, Epic: issueEpic(r.epic), Run: run, State: r.state,
		Metadata: func(*ir.Node) (map[string]any, error) { return bd.IssueMetadata(r.epic, run) },
		Report:   func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
		Claim:    &bd.Claim{Token: r.claim.Token, Since: r.claim.At, Begun: true, End: func() (bd.Stand, bool) { return r.verdict.stand() }},
	})
	if err != nil {
		return err
	}
	looked := m.Look(ctx)
	m.Start(ctx)
	_, err = m.Close(ctx)
	for _, line := range slices.Compact(said) {
		w.say.linef(r.claim.Issue, "%s", line)
	}
	return errors.Join(looked, err)
}
