package record

import (
	"context"
	"fmt"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// MovedJSON is a directory of files that were moved out of a sprint's worktree, in JSON.
type MovedJSON struct {
	Node  ir.NodeID `json:"id,omitempty"` // "" if an earlier release moved them
	Dir   string    `json:"dir"`
	Why   string    `json:"why"`
	Files int       `json:"files"` // at most 1000 are counted
	Bytes int64     `json:"bytes"` // of these
	Key   string    `json:"-"`
}

// MovedOut lists the directories moved out of worktrees that still exist.
func MovedOut(space *workspace.Space, key func(ir.NodeID) string) ([]MovedJSON, error) {
	all, err := space.Trees.MovedOut(context.Background())
	var out []MovedJSON
	for _, m := range all {
		x := MovedJSON{Node: m.Node, Dir: m.Dir, Why: m.Why, Files: m.Files, Bytes: m.Bytes}
		if m.Node != "" {
			x.Key = key(m.Node)
		}
		out = append(out, x)
	}
	return out, err
}

func (r *Record) movedOut() ([]MovedJSON, error) { return MovedOut(r.Space, r.Key) }

// movedOf is that of one node. What cannot be read is said by status.
func (r *Record) movedOf(id ir.NodeID) []MovedJSON {
	if r.moved == nil {
		r.moved = r.allMoved()
	}
	return r.moved[id]
}

// allMoved is that of all nodes.
func (r *Record) allMoved() map[ir.NodeID][]MovedJSON {
	out := map[ir.NodeID][]MovedJSON{}
	all, _ := r.movedOut()
	for _, m := range all {
		out[m.Node] = append(out[m.Node], m)
	}
	return out
}

// Amount is the amount of moved files.
func (m MovedJSON) Amount() string {
	if m.Files >= workspace.MostMoved {
		return fmt.Sprintf("%d files or more, %s or more", m.Files, words.Size(m.Bytes))
	}
	return text.Count(m.Files, "file") + ", " + words.Size(m.Bytes)
}
