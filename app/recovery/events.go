package recovery

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// look runs ralph's checks on unjudged commits, once the refs are there, and
// makes the rows of the table.
func (r *Recovery) look(ctx context.Context) (err error) {
	if r.orphans, err = r.Space.Refs.Check(ctx, r.unjudged); err != nil {
		return err
	}
	if r.Known.Run == nil {
		for n := range lists.Refs(r.Epic.Nodes) {
			row := Node{Key: n.Key, ID: n.ID, Title: n.Title, Status: "open", Bead: r.Known.Nodes[n.ID].Bead.Status}
			if n.Done {
				row.Status = executor.Done.String()
			}
			r.Nodes = append(r.Nodes, row)
		}
		return nil
	}
	if err := r.lookIntoBranch(ctx); err != nil {
		return err
	}
	for i := range r.Epic.Nodes {
		n, k := &r.Epic.Nodes[i], &r.kept[i]
		for _, o := range r.orphans {
			switch {
			case o.Node != n.ID:
			case len(o.Problems) > 0:
				k.notes = append(k.notes, fmt.Sprintf("commit %.12s of attempt %s #%d is not recovered: %s", o.Result.Commit, o.Step, o.Attempt, o.Problems[0]))
			default:
				k.notes = append(k.notes, fmt.Sprintf("no verdict is recorded for commit %.12s of attempt %s #%d: its gates run when the sprint comes to it", o.Result.Commit, o.Step, o.Attempt))
			}
		}
		row := Node{Key: n.Key, ID: n.ID, Title: n.Title, Status: "open", Bead: r.Known.Nodes[n.ID].Bead.Status, Notes: k.notes}
		for _, number := range k.kept.Numbers {
			row.Attempts += number
		}
		switch k.kept.Status {
		case executor.Done.String():
			if s := k.kept.Success; s != nil && !s.Aside {
				row.Status, row.Commit = k.kept.Status, s.Result.Commit
			} else if n.Done && r.Known.Nodes[n.ID].Kept.Success == nil {
				row.Status = k.kept.Status
			}
		case executor.Blocked.String(), executor.Skipped.String(), executor.Cancelled.String():
			row.Status = k.kept.Status
			if k.kept.Reason != "" && k.kept.Status == executor.Blocked.String() {
				row.Notes = append(row.Notes, "blocked: "+words.First(k.kept.Reason))
			}
		case "":
			if n.Done {
				row.Status = executor.Done.String()
			}
		default:
			if k.kept.Paused {
				row.Status = "paused"
			}
		}
		r.Nodes = append(r.Nodes, row)
	}
	return nil
}

// lookIntoBranch asks git what the integration branch holds: the journal that was lost
// may have known more of it than the beads do.
func (r *Recovery) lookIntoBranch(ctx context.Context) error {
	if r.head == "" {
		return nil
	}
	known := []string{r.Base.Commit}
	for i := range r.kept {
		if s := r.kept[i].kept.Success; s != nil && r.kept[i].id != executor.Integration {
			known = append(known, s.Result.Commit)
		}
	}
	for _, c := range r.Known.Run.Others {
		if _, _, there, err := r.Space.Refs.Seen(ctx, c); err != nil {
			return err
		} else if there {
			known = append(known, c)
		}
	}
	in, err := r.Space.Refs.WithinCommit(ctx, r.head, known)
	if err != nil {
		return err
	}
	r.holds = slices.DeleteFunc(known, func(c string) bool { return !in[c] })
	r.others = lists.Keep(r.Known.Run.Others, func(c string) bool { return in[c] })
	return nil
}

// events are the new journal.
func (r *Recovery) events() []executor.Event {
	if r.Known.Run == nil {
		return nil
	}
	var out []executor.Event
	add := func(id ir.NodeID, b executor.Body) {
		parts, last := executor.Event{Node: id, Body: b}.Split()
		for _, e := range append(parts, last) {
			e.Seq, e.At = max(r.lost, 0)+int64(len(out))+1, r.now
			if lost, ok := e.Body.(executor.TailLost); ok && len(out) > 0 {
				lost.After = e.Seq - 1
				e.Body = lost
			}
			out = append(out, e)
		}
	}
	k := r.Known.Run
	if r.lost > 0 { // commits of the lost journal carry numbers that are not given again
		add("", executor.TailLost{Found: r.orphans})
	}
	add("", executor.RunRecovered{
		From: "bd " + r.Known.Bead.ID, Digest: k.Digest, Base: k.Base, Bases: k.Bases, Head: r.head, Others: r.others, Holds: r.holds, Lost: r.lost,
		Spent: k.Spent, Added: k.Added, By: project.UserName(),
	})
	for _, n := range r.kept {
		if n.kept.Status == "" {
			continue
		}
		note := ""
		if len(n.notes) > 0 {
			note = text.Head(n.notes[0], 200)
		}
		add(n.id, executor.NodeRecovered{Kept: n.kept, Key: n.key, Note: note})
	}
	return out
}
