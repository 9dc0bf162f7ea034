package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/ir"
)

// beadID is the form of a bead's id. A path with a directory or an ending is none.
var beadID = lazyregexp.New(`^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9_]+)+$`)

// namesBead reports whether what stands in the place of an epic.json is the id of an
// epic: it looks like one, and there is no such file.
func namesBead(file string) bool {
	if !beadID.MatchString(file) {
		return false
	}
	_, err := os.Lstat(file)
	return errors.Is(err, os.ErrNotExist)
}

// epicByID finds an epic by its id: epic.json of this directory if it is that one,
// else the copy that the last run in this repository made, else what the beads
// database keeps. The id of an issue that a worker took names that epic.
func epicByID(id string) (*ir.Epic, []byte, error) {
	ctx := context.Background()
	if b, err := readFile("epic.json"); err == nil {
		if epic, err := ir.Decode(b); err == nil && string(epic.Epic.ID) == id {
			return epic, b, verify(epic, "epic.json")
		}
	}
	if state, err := workspace.StateDir(ctx, ".", ir.NodeID(id)); err == nil {
		if c := readClaim(filepath.Join(filepath.Dir(state), "worker", id)); c != nil {
			file := filepath.Join(filepath.Dir(state), string(c.Epic), "epic.json")
			if b, err := readFile(file); err == nil {
				if epic, err := ir.Decode(b); err == nil && epic.Epic.ID == c.Epic {
					return epic, b, verify(epic, id)
				}
			}
		}
		if b, err := readFile(filepath.Join(state, "epic.json")); err == nil {
			if epic, err := ir.Decode(b); err == nil && string(epic.Epic.ID) == id {
				return epic, b, verify(epic, id)
			}
		}
	}
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return nil, nil, inputErrorf("there is no file %s, no run of an epic %s in this repository, and no beads to look it up:\n  %w", id, id, err)
	}
	known, err := c.Recall(ctx, ir.NodeID(id))
	if err != nil {
		return nil, nil, inputErrorf("there is no file %s and no run of an epic %s in this repository, and %w", id, id, err)
	}
	return epicOf(known)
}

// checkLost refuses to begin anew where the beads know of a run whose journal is not
// here. A tracker that does not answer keeps nobody from starting.
func (r *openedRun) checkLost(ctx context.Context) error {
	o := r.run.Overview()
	if o.Begun || !o.Recovered.IsZero() || r.epic.Run.Tracker == nil && !namesBead(r.file) || r.claim() != nil {
		return nil
	}
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return nil // whoever needs the tracker says what is wrong with it
	}
	id := r.epic.Epic.ID
	known, err := c.Recall(ctx, id)
	if err != nil || known.Run == nil {
		return nil // it was not pushed, or never applied
	}
	return inputErrorf("the beads know of a run of %s, and there is no journal of it here: it would begin anew.\n"+
		"  To go on with what is done: git fetch --all && ralph recover %s\n"+
		"  To begin anew all the same: bd update %s --unset-metadata ralph", id, id, id)
}
