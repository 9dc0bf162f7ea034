package draft

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/app/draft/judge"
	"github.com/ralph-compiler/ralph/app/draft/rules"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Changed is what a person has to see of a changed plan.
type Changed struct {
	Note    string         // what it is compared with, if not with the plan as it compiled
	Diff    *ir.Difference // nil: only ids could be compared
	Kept    []ir.Key       // what the difference says nothing about, or what has an id as before
	Added   []ir.Key       // without diff: those that had no id
	Removed []ir.Key       // without diff
	Ran     bool           // something of the plan has run
	Planned []record.PlannedJSON
}

// Changes compares the plan with its state when the draft began; nil for a new plan.
func (d *Draft) changes(ctx context.Context, now *ir.Epic, file *diag.File) (*Changed, error) {
	text, there, err := d.Space.Bases.File(ctx, d.Plan, project.MaxFile)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, nil
	}
	p, err := project.Open(filepath.Join(d.Space.Top(), filepath.FromSlash(d.Plan)))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	was, _, err := judge.BeforeOf(ctx, p, d.Plan, text, "")
	if err != nil {
		return nil, err
	}
	if was.Graph == nil {
		return byIdentities(was, now, file), nil
	}
	out := &Changed{Diff: ir.Diff(was.Graph, now)}
	if !was.Compiles {
		out.Note = "The plan as it was does not compile: the comparison is with the epic of its last run."
	}
	out.Kept = keptBy(out.Diff, now)
	planned, ran, err := judge.Planned(ctx, now)
	if err != nil || !ran {
		return out, err
	}
	out.Ran = true
	out.Planned = slices.DeleteFunc(record.PlannedNodes(now, planned), func(n record.PlannedJSON) bool { return n.ID == executor.Integration })
	return out, nil
}

// keptBy are the sprints that a difference says nothing about.
func keptBy(d *ir.Difference, now *ir.Epic) (kept []ir.Key) {
	other := lists.Table(d.Added, func(x ir.NodeRef) (ir.Key, bool) { return x.Key, true })
	for _, x := range d.Renamed {
		other[x.New] = true
	}
	for _, x := range d.Changed {
		other[x.Key] = true
	}
	for _, x := range append(slices.Clone(d.EdgesAdded), d.EdgesRemoved...) {
		other[x.Node] = true
	}
	for i := range now.Nodes {
		if k := now.Nodes[i].Key; !other[k] {
			kept = append(kept, k)
		}
	}
	return kept
}

// byIdentities compares by ids alone: the plan as it was says no more.
func byIdentities(was *judge.PlanBefore, now *ir.Epic, file *diag.File) *Changed {
	out := &Changed{Note: "The plan as it was does not compile and never ran: only ids are compared."}
	said := lists.Table(was.Items, func(w rules.Named) (ir.NodeID, bool) { return w.ID, true })
	ids := lists.Table(judge.IdentitiesOf(file).Items, func(n rules.Named) (ir.Key, ir.NodeID) { return n.Key, n.ID })
	has := map[ir.NodeID]bool{}
	for n := range lists.Refs(now.Nodes) {
		if id := ids[n.Key]; said[id] {
			out.Kept, has[id] = append(out.Kept, n.Key), true
		} else {
			out.Added = append(out.Added, n.Key)
		}
	}
	gone := lists.Keep(was.Items, func(w rules.Named) bool { return !has[w.ID] })
	out.Removed = lists.Map(gone, func(w rules.Named) ir.Key { return w.Key })
	return out
}
