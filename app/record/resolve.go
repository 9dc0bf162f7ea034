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
func epicByID(id string) (*ir.Epic, []byte, error) {
	ctx := context.Background()
	if b, err := project.ReadFile("epic.json"); err == nil {
		if epic, err := ir.Decode(b); err == nil && string(epic.Epic.ID) == id {
			return epic, b, project.Verify(epic, "epic.json")
		}
	}
	if state, err := workspace.StateDir(ctx, ".", ir.NodeID(id)); err == nil {
		if c := ReadClaim(filepath.Join(filepath.Dir(state), "worker", id)); c != nil {
			file := filepath.Join(filepath.Dir(state), string(c.Epic), "epic.json")
			if b, err := project.ReadFile(file); err == nil {
				if epic, err := ir.Decode(b); err == nil && epic.Epic.ID == c.Epic {
					return epic, b, project.Verify(epic, id)
				}
			}
		}
		if b, err := project.ReadFile(filepath.Join(state, "epic.json")); err == nil {
			if epic, err := ir.Decode(b); err == nil && string(epic.Epic.ID) == id {
				return epic, b, project.Verify(epic, id)
			}
		}
	}
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return nil, nil, exit.Inputf("there is no file %s, no run of an epic %s in this repository, and no beads to look it up:\n  %w", id, id, err)
	}
	known, err := c.Recall(ctx, ir.NodeID(id))
	if err != nil {
		return nil, nil, exit.Inputf("there is no file %s and no run of an epic %s in this repository, and %w", id, id, err)
	}
	return EpicOf(known)
}
