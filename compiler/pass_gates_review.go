package compiler

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// selfReviews finds blind reviews by the agent that wrote what it judges, and
// reports each pair of gate and agent once.
func (g *gating) selfReviews(e *ir.Epic) {
	type pair struct{ gate, agent string }
	type found struct {
		pair
		at   diag.Range
		keys []string
		n    int
	}
	var all []*found
	byPair := map[pair]*found{}
	for it, n := range g.u.nodes(e) {
		if n.Done || n.Kind == ir.Manual || n.Kind == ir.GateKind {
			continue
		}
		var wrote []string
		for _, s := range lists.Each(n.Steps) {
			if s.Access == "write" && s.Agent != "" {
				wrote = append(wrote, s.Agent)
			}
			for _, name := range s.Gates {
				gate := g.gates[name]
				if gate.Kind != "review" || !slices.Contains(wrote, gate.Agent) {
					continue
				}
				p := pair{name, gate.Agent}
				f := byPair[p]
				if f == nil {
					f = &found{pair: p, at: it.draft.KeyRange}
					byPair[p] = f
					all = append(all, f)
				}
				if f.n++; len(f.keys) < 12 {
					f.keys = append(f.keys, string(n.Key))
				}
			}
		}
	}
	for _, f := range all {
		g.diags.Add(diag.Newf("self-review", f.at, "%s judges its own work", clip(f.agent)).
			WithDetail("%s: the agent that writes is also the one that gate %q asks for a blind review. Declare another agent with capability \"review\" and access = \"read\", or name one in the gate.",
				text.AndMore(f.keys, f.n), f.gate))
	}
}
