package record

import (
	"context"
	"path/filepath"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// epicByID finds an epic by its id: epic.json of this directory if it is that one,
// else the copy that the last run in this repository made, else what the beads
// database keeps. The id of an issue that a worker took names that epic.
func epicByID(ctx context.Context, id string) (*ir.Epic, []byte, error) {
	if epic, b := epicIn("epic.json", ir.NodeID(id)); epic != nil {
		return epic, b, project.Verify(epic, "epic.json")
	}
	if state, err := workspace.StateDir(ctx, ".", ir.NodeID(id)); err == nil {
		if c := ReadClaim(filepath.Join(filepath.Dir(state), "worker", id)); c != nil {
			if epic, b := epicIn(filepath.Join(filepath.Dir(state), string(c.Epic), "epic.json"), c.Epic); epic != nil {
				return epic, b, project.Verify(epic, id)
			}
		}
		if epic, b := epicIn(filepath.Join(state, "epic.json"), ir.NodeID(id)); epic != nil {
			return epic, b, project.Verify(epic, id)
		}
	}
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return nil, nil, exit.Inputf("there is no file %s, no run of an epic %s in this repository, and no beads to look it up:\n  %w", id, id, err)
	}
	known, err := bd.Recall(ctx, c, ir.NodeID(id))
	if err != nil {
		return nil, nil, exit.Inputf("there is no file %s and no run of an epic %s in this repository, and %w", id, id, err)
	}
	return EpicOf(known)
}

// epicIn reads the epic of this id, and its bytes; nil if the file does not hold it.
func epicIn(file string, id ir.NodeID) (*ir.Epic, []byte) {
	b, err := project.ReadFile(file)
	if err != nil {
		return nil, nil
	}
	epic, err := ir.Decode(b)
	if err != nil || epic.Epic.ID != id {
		return nil, nil
	}
	return epic, b
}
