package compiler

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// passGraph makes a node of each item, with its edges. Lists are made non-nil
// by Encode, so that nothing here has to think of it.
func (b *build) passGraph(_ *diag.List) *ir.Epic {
	e := &ir.Epic{
		IR: ir.Version,
		Epic: ir.Header{
			Slug: b.draft.Slug, Title: b.draft.Title, Description: b.draft.Description, Plan: b.draft.Plan,
			Owner: b.draft.Owner, Labels: b.draft.Labels,
		},
		Agents: map[string]ir.Agent{}, Gates: map[string]ir.Gate{}, Runners: map[string]ir.Runner{},
		Models: map[string]ir.Model{}, Secrets: map[string]ir.Secret{}, Sandboxes: map[string]ir.Sandbox{},
		Nodes: make([]ir.Node, len(b.draft.Nodes)),
	}
	labels := lengthOf(b.draft.Labels)
	for it, out := range b.nodes(e) {
		n := it.draft
		*out = ir.Node{
			Key: n.Key, Kind: n.Kind, Done: n.Done, Title: n.Title, Phase: n.Phase, Section: n.Section,
			Goal: n.Goal, Type: n.Type.Value, Priority: it.view.Priority, Lane: n.Lane.Value,
			Implements: n.Implements, Scope: n.Scope, Offline: n.Offline, Tasks: n.Tasks,
			Acceptance: n.Acceptance, Policy: it.policy.Name, Ext: n.Ext,
		}
		if b.carry(n, labels, "the labels of the plan") {
			out.Labels = b.labels(n)
		}
		out.After, out.Merges = after(n.Edges)
	}
	return e
}

// after returns edges as epic.json has them, and the keys that are merged.
func after(edges []ir.DraftEdge) ([]ir.Edge, []ir.Key) {
	if len(edges) == 0 {
		return nil, nil
	}
	out := lists.Map(edges, func(e ir.DraftEdge) ir.Edge { return ir.Edge{Key: e.Key, From: e.From, Type: e.Type} })
	ir.SortEdges(out)
	merges := ir.BlockingKeys(out)
	if len(merges) < 2 {
		merges = nil
	}
	return out, merges
}

// with returns a copy of e whose nodes and tables a pass may change.
func with(e *ir.Epic) *ir.Epic {
	c := *e
	c.Nodes = slices.Clone(e.Nodes)
	return &c
}
