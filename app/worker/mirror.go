package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// catchUp sends bd what the mirror of a run could not.
func (w *Worker) catchUp(ctx context.Context, r *Run) (err error) {
	ctx, cancel := context.WithTimeout(ctx, run.TrackerTime)
	defer cancel()
	if err := regular.MkdirOwn(r.state); err != nil {
		return err
	}
	rec, err := record.OpenAbout(ctx, project.EpicDir(r.file), r.file, r.epic)
	if err != nil {
		return err
	}
	var said []string
	m, err := bd.NewMirror(bd.Outbox{
		Client: w.Bd, Epic: run.IssueEpic(r.epic), Run: rec.Run, State: r.state,
		Metadata: func(*ir.Node) (map[string]json.RawMessage, error) { return bd.IssueMetadata(r.epic, rec.Run) },
		Report:   func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
		Claim:    &bd.Claim{Token: r.claim.Token, Since: r.claim.At, Notes: r.claim.Notes, Begun: true, End: func() (bd.Stand, bool) { return r.verdict.Stand() }},
	})
	if err != nil {
		return err
	}
	looked := m.Look(ctx)
	m.Start(ctx)
	_, err = m.Close(ctx)
	for _, line := range slices.Compact(said) {
		w.Say.linef(r.claim.Issue, "%s", line)
	}
	return errors.Join(looked, err)
}
