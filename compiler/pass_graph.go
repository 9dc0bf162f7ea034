package compiler

import (
	"slices"

	"github.com/ralph-compiler/ralph/ir"
)

// passGraph makes a node of each item, with its edges. Lists are made non-nil
// by Encode, so that nothing here has to think of it.
func passGraph(u *unit) *ir.Epic {
	e := &ir.Epic{
		IR: ir.Version,
		Epic: ir.Header{
			Slug: u.draft.Slug, Title: u.draft.Title, Description: u.draft.Description, Plan: u.draft.Plan,
			Owner: u.draft.Owner, Labels: u.draft.Labels,
		},
		Agents: map[string]ir.Agent{}, Gates: map[string]ir.Gate{}, Runners: map[string]ir.Runner{},
		Models: map[string]ir.Model{}, Secrets: map[string]ir.Secret{}, Sandboxes: map[string]ir.Sandbox{},
		Nodes: make([]ir.Node, len(u.draft.Nodes)),
	}
	labels := lengthOf(u.draft.Labels)
	for it, out := range u.nodes(e) {
		n := it.draft
		*out = ir.Node{
			Key: n.Key, Kind: n.Kind, Done: n.Done, Title: n.Title, Phase: n.Phase, Section: n.Section,
			Goal: n.Goal, Type: n.Type.Value, Priority: it.view.Priority, Lane: n.Lane.Value,
			Implements: n.Implements, Scope: n.Scope, Tasks: n.Tasks,
			Acceptance: n.Acceptance, Policy: it.policy.Name, Ext: n.Ext,
		}
		if u.carry(n, labels, "the labels of the plan") {
			out.Labels = u.labels(n)
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
	out := make([]ir.Edge, len(edges))
	blocks := 0
	for k, e := range edges {
		out[k] = ir.Edge{Key: e.Key, From: e.From, Type: e.Type}
		if e.Type == ir.Blocks {
			blocks++
		}
	}
	ir.SortEdges(out)
	if blocks < 2 {
		return out, nil
	}
	merges := make([]ir.Key, 0, blocks)
	for _, e := range out {
		if e.Type == ir.Blocks {
			merges = append(merges, e.Key)
		}
	}
	return out, merges
}

// with returns a copy of e whose nodes and tables a pass may change.
func with(e *ir.Epic) *ir.Epic {
	c := *e
	c.Nodes = slices.Clone(e.Nodes)
	return &c
}
