package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/draft/judge"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

// changes is what a person has to see of a plan that was changed: what is kept, changed,
// new and removed, and what would run again. Of a new plan there is nothing. It is clean.
func (d *drafted) changes(ctx context.Context, paint term.Style, now *ir.Epic, file *diag.File) (string, error) {
	text, there, err := d.Space.BaseFile(ctx, d.plan, project.MaxFile)
	if err != nil {
		return "", exit.Inputf("%w", err)
	}
	if !there {
		return "", nil
	}
	p, err := project.Open(filepath.Join(d.Space.Top(), filepath.FromSlash(d.plan)))
	if err != nil {
		return "", err
	}
	defer p.Close()
	was, _, err := judge.BeforeOf(ctx, p, d.plan, text, "")
	if err != nil {
		return "", err
	}
	out := "\n" + paint.Paint(term.Bold, "What changes") + "\n"
	var b strings.Builder
	switch {
	case was.Graph == nil:
		sayIdentities(&b, was, now, file)
		return out + reveal.Words(b.String()), nil
	case !was.Compiles:
		b.WriteString("The plan as it was does not compile: this is against the epic of its last run.\n")
	}
	difference := ir.Diff(was.Graph, now)
	if kept := keptBy(difference, now); len(kept) > 0 {
		fmt.Fprintf(&b, "kept as they are: %s\n", joinKeys(kept, ", "))
	}
	b.WriteString(difference.Text())
	out += reveal.Words(b.String())
	planned, ran, err := judge.Planned(ctx, now)
	if err != nil {
		return "", err
	}
	if !ran {
		return out + "\nNothing of the plan has run yet.\n", nil
	}
	hands := byHand(now)
	var nodes []record.PlannedJSON
	for _, x := range planned {
		if x.Node != executor.Integration {
			nodes = append(nodes, record.PlannedJSON{Key: x.Key, ID: x.Node, Title: x.Title, ByHand: hands[x.Node], Action: x.Action, Cause: x.Cause})
		}
	}
	b.Reset()
	writePlanned(&b, paint, nodes)
	return out + "\n" + paint.Paint(term.Bold, "What would run") + "\n" + b.String(), nil
}

// keptBy are the sprints that a difference says nothing about.
func keptBy(d *ir.Difference, now *ir.Epic) (kept []ir.Key) {
	other := map[ir.Key]bool{}
	for _, x := range d.Added {
		other[x.Key] = true
	}
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

// sayIdentities compares by ids alone: the plan as it was says no more.
func sayIdentities(b *strings.Builder, was *judge.PlanBefore, now *ir.Epic, file *diag.File) {
	b.WriteString("The plan as it was does not compile and never ran: only ids are compared.\n")
	said := map[ir.NodeID]bool{}
	for _, w := range was.Items {
		said[w.ID] = true
	}
	ids := map[ir.Key]ir.NodeID{}
	for _, n := range judge.IdentitiesOf(file).Items {
		ids[n.Key] = n.ID
	}
	has := map[ir.NodeID]bool{}
	var kept, added, removed []ir.Key
	for i := range now.Nodes {
		n := &now.Nodes[i]
		if id := ids[n.Key]; said[id] {
			kept, has[id] = append(kept, n.Key), true
		} else {
			added = append(added, n.Key)
		}
	}
	for _, w := range was.Items {
		if !has[w.ID] {
			removed = append(removed, w.Key)
		}
	}
	for _, x := range []struct {
		word string
		keys []ir.Key
	}{{"kept", kept}, {"without an id before", added}, {"removed", removed}} {
		if len(x.keys) > 0 {
			fmt.Fprintf(b, "  %s: %s\n", x.word, joinKeys(x.keys, ", "))
		}
	}
}
