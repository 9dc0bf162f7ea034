package worker

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// startOf finds what the work on an issue starts from.
func (w *Worker) startOf(ctx context.Context, i bd.Issue, epic *ir.Epic) (*startPoint, error) {
	p := &startPoint{}
	var needs []string
	for _, d := range i.Dependencies {
		if d.Type == string(ir.Blocks) && d.From == i.ID && !slices.Contains(needs, d.To) {
			needs = append(needs, d.To)
		}
	}
	of := map[ir.NodeID]ir.NodeID{}
	var ids []ir.NodeID
	if len(needs) > 0 {
		slices.Sort(needs)
		by, err := w.Bd.ByID(ctx, needs...)
		if err != nil {
			return nil, err
		}
		for _, id := range needs {
			ids = append(ids, ir.NodeID(id))
			if c := w.lookUp(id); c != nil {
				of[ir.NodeID(id)] = c.Epic
			}
			for _, l := range by[id].Labels {
				if e, ok := strings.CutPrefix(l, "ralph-epic:"); ok {
					of[ir.NodeID(id)] = ir.NodeID(e)
				}
			}
		}
	}
	space, err := workspace.Open(ctx, w.Project.Dir, epic)
	if err != nil {
		return nil, faulty(err)
	}
	defer space.Trees.Release()
	g, err := space.Results.Gather(ctx, ids, of)
	if err != nil {
		return nil, faulty(err)
	}
	p.gathered = g
	if p.held, err = space.Results.Holds(ctx, g.Results); err != nil {
		return nil, faulty(err)
	}
	if len(g.Paths) > 0 {
		p.conflict = fmt.Sprintf("the results that it builds on do not merge: that of %s conflicts in %s.\n"+
			"Merge them by hand into the branch that work starts from (", g.Culprit, words.ListOf(g.Paths))
		for _, r := range g.Results {
			p.conflict += fmt.Sprintf("git merge %.12s  # %s; ", r.Commit, r.Node)
		}
		p.conflict = strings.TrimSuffix(p.conflict, "; ") + "), then reopen this issue: bd update " + i.ID + " -s open"
	}
	return p, nil
}

// startPoint is what the work on an issue starts from.
type startPoint struct {
	gathered workspace.Gathered
	held     bool   // the base that is pinned has all results
	conflict string // why there is none
}

// args of the first apply: where it starts, if that is not where the last one did,
// and what it runs again.
func (p *startPoint) args(before *pastRun) []string {
	var out []string
	if (!p.held || before == nil || before.done) && p.gathered.Base.Commit != "" {
		out = append(out, "--base", p.gathered.Base.Commit)
	}
	if before != nil && before.done {
		out = append(out, "--rerun", before.key)
	}
	return out
}

// missing says which results the base does not hold.
func (p *startPoint) missing() []string {
	return lists.Map(p.gathered.Missing, func(id ir.NodeID) string {
		return fmt.Sprintf("%s has no result of ralph in this repository: work starts without it, from the branch", id)
	})
}

// pastRun is what an earlier run of an issue came to.
type pastRun struct {
	key  string
	last int64 // last event of its journal
	done bool
	view machine.NodeView
}

// past reads the journal of an issue's epic; nil if it was never run.
func (w *Worker) past(ctx context.Context, epic ir.NodeID) (*pastRun, error) {
	file := w.epicFile(epic)
	if _, err := os.Stat(file); err != nil {
		return nil, nil
	}
	rec, err := record.Open(ctx, file, nil)
	if err != nil || len(rec.Events) == 0 {
		return nil, err
	}
	n := rec.Epic.Nodes[0]
	v, _ := rec.Run.View(n.ID)
	return &pastRun{
		key: string(n.Key), last: rec.Events[len(rec.Events)-1].Seq, view: v,
		done: v.Status == executor.Done || v.Status == executor.Skipped || v.Status == executor.Cancelled,
	}, nil
}
