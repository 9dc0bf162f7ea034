package record

import (
	"context"
	"errors"
	"io"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
)

// OpenFor opens the epic that a sprint belongs to: that of --epic or epic.json, else, for
// the id of a bead, its epic in beads. Without an epic the record is nil, and so is the error.
func OpenFor(ctx context.Context, epic *Flag, key string, in io.Reader) (*Record, ir.NodeID, error) {
	file, err := epic.Path()
	if err == nil {
		r, err := Open(ctx, file, in)
		if err != nil {
			return nil, "", err
		}
		id, err := Find(r.Epic, key)
		if err == nil || !project.BeadID.MatchString(key) || !knownBead(ctx, key) {
			return r, id, err
		}
		return nil, "", nil
	}
	if !errors.Is(err, project.ErrNoEpic) || !project.BeadID.MatchString(key) {
		return nil, "", err
	}
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return nil, "", nil // FindBead reports the error
	}
	n, err := bd.RecallNode(ctx, c, key)
	if of := string(n.Bead.EpicOf()); err == nil && of != "" && of != key {
		if r, err := Open(ctx, of, in); err == nil {
			if id, err := Find(r.Epic, key); err == nil {
				return r, id, nil
			}
		}
	}
	return nil, "", nil
}

// knownBead reports whether there are beads here, and this one among them.
func knownBead(ctx context.Context, id string) bool {
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return false
	}
	_, err = bd.RecallNode(ctx, c, id)
	return err == nil
}

// FindBead is the record in beads of a bead that is in no epic.json here, with its plan's path.
func FindBead(ctx context.Context, id string) (b BeadJSON, sprint string, at Place, err error) {
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return b, "", at, exit.Inputf("there is no epic with a sprint %s here, and no beads to look it up:\n  %w", id, err)
	}
	n, err := bd.RecallNode(ctx, c, id)
	if err != nil {
		return b, "", at, exit.Inputf("there is no epic with a sprint %s here, and %w", id, err)
	}
	p, err := project.Open("epic.json")
	if err != nil {
		return b, "", at, err
	}
	defer p.Close()
	at = PlaceOf(p.Dir, n.Plan, ir.NodeID(id), n.Section, ir.Key(n.Sprint))
	return BeadJSON{
		Version: BeadVersion, ID: id, Title: n.Bead.Title, Status: n.Bead.Status, Epic: n.Bead.EpicOf(), Plan: n.Plan, PlanLine: at.Line, Section: n.Section, Kept: n.Kept,
	}, n.Sprint, at, nil
}
