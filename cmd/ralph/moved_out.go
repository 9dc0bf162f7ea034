package main

import (
	"context"
	"fmt"
	"io"

	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// movedJSON is a directory of files that were moved out of a sprint's worktree, in JSON.
type movedJSON struct {
	Node  ir.NodeID `json:"id,omitempty"` // "" if an earlier release moved them
	Dir   string    `json:"dir"`
	Why   string    `json:"why"`
	Files int       `json:"files"` // at most 1000 are counted
	Bytes int64     `json:"bytes"` // of these
}

// movedOut is what was moved out of worktrees and is still there.
func movedOut(space *workspace.Space) ([]movedJSON, error) {
	all, err := space.MovedOut(context.Background())
	var out []movedJSON
	for _, m := range all {
		out = append(out, movedJSON(m))
	}
	return out, err
}

// movedOut is that of one node. What cannot be read is said by status.
func (r *record) movedOut(id ir.NodeID) []movedJSON {
	if r.moved == nil {
		r.moved = map[ir.NodeID][]movedJSON{}
		all, _ := movedOut(r.space)
		for _, m := range all {
			r.moved[m.Node] = append(r.moved[m.Node], m)
		}
	}
	return r.moved[id]
}

// amount is how much lies there.
func (m movedJSON) amount() string {
	if m.Files >= workspace.MostMoved {
		return fmt.Sprintf("%d files or more, %s or more", m.Files, size(m.Bytes))
	}
	return text.Count(m.Files, "file") + ", " + size(m.Bytes)
}

// sayMovedOut names the files that are nowhere else.
func sayMovedOut(w io.Writer, space *workspace.Space, key func(ir.NodeID) string) {
	all, err := movedOut(space)
	if err != nil {
		fmt.Fprintf(w, "\nWhat was moved out of worktrees cannot be listed: %s\n", reveal.Words(err.Error()))
	}
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\nMoved out of worktrees, as no commit can or may hold it; there is no other copy.\nTake what you need, then remove the directory:")
	for _, m := range all[:min(len(all), mostNamed)] {
		of := ""
		if m.Node != "" {
			of = key(m.Node) + ": "
		}
		fmt.Fprintln(w, reveal.Words(fmt.Sprintf("  %s%s (%s)", of, quotePath(m.Dir), m.amount())))
	}
	if more := len(all) - mostNamed; more > 0 {
		fmt.Fprintf(w, "  and %d more: ralph status --json\n", more)
	}
}
