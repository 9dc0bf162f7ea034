package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// Keys of the metadata of an issue that a worker runs, beside those of its token and of
// what is kept of its node: the author's own are none of ralph's business.
const (
	keptKey    = "ralph"
	keptRunKey = "ralph_run"
)

// issueKeys are all keys that ralph writes into an issue's metadata.
var issueKeys = []string{bd.TokenKey, keptKey, keptRunKey, bdcodec.EpicKey, bdcodec.DigestKey}

// issueEpic is the epic of an issue as its mirror has it: there is a tracker.
func issueEpic(epic *ir.Epic) *ir.Epic {
	e := *epic
	if e.Run.Tracker == nil {
		e.Run.Tracker = &ir.Tracker{Kind: "bd", Actor: "ralph", PollMS: 15_000}
	}
	return &e
}

// issueMetadata is what the bead of an issue keeps so that its run can be recovered.
func issueMetadata(epic *ir.Epic, run *executor.Run) (map[string]any, error) {
	text, err := ir.Encode(epic)
	if err != nil {
		return nil, err
	}
	out := map[string]any{bdcodec.DigestKey: epic.Digest}
	if len(text) <= bdcodec.MaxEpicText {
		out[bdcodec.EpicKey] = string(text)
	}
	if k, ok := run.Kept(epic.Nodes[0].ID); ok {
		out[keptKey] = k
	}
	if k, ok := run.KeptRun(); ok {
		out[keptRunKey] = k
	}
	return out, nil
}

// claimed makes the mirror of a run that of the issue that a worker claimed for it.
func (r *openedRun) claimed(o *bd.Outbox, c *claim) {
	o.Epic, o.Push = issueEpic(r.epic), nil
	o.Metadata = func(*ir.Node) (map[string]any, error) { return issueMetadata(r.epic, o.Run) }
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
		Metadata: func(*ir.Node) (map[string]any, error) { return issueMetadata(r.epic, run) },
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
