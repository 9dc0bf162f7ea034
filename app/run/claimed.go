package run

import (
	"context"
	"encoding/json"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// IssueEpic is the epic of an issue in its mirror's form: with a tracker.
func IssueEpic(epic *ir.Epic) *ir.Epic {
	e := *epic
	if e.Run.Tracker == nil {
		e.Run.Tracker = &ir.Tracker{Kind: "bd", Actor: "ralph", PollMS: 15_000}
	}
	return &e
}

// claimed makes the run's mirror write to the issue that a worker claimed for it.
func (r *Opened) claimed(o *bd.Outbox, c *record.Claim) {
	o.Epic, o.Push = IssueEpic(r.Epic), nil
	o.Metadata = func(*ir.Node) (map[string]json.RawMessage, error) { return bd.IssueMetadata(r.Epic, o.Run) }
	words := record.IssueTeller{Dir: r.Space.Top(), Labels: o.Epic.Run.Tracker.Approvals, Words: bdcodec.LabelsOf(r.Epic.Run)}
	o.Claim = &bd.Claim{Token: c.Token, Since: c.At, Notes: c.Notes, End: func() (bd.Stand, bool) {
		rec, err := record.OpenAbout(context.Background(), project.EpicDir(r.File), r.File, r.Epic)
		if err != nil {
			o.Report("the result of the issue cannot be read: %v", err)
			return bd.Stand{}, false
		}
		rec.File, rec.Held = c.Issue, false // for people to type, when this has ended
		if end := words.Verdict(rec); end != nil {
			return end.Stand()
		}
		return bd.Stand{}, false
	}}
}
