package compiler

import (
	"cmp"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/policies"
)

// Limits bound a plan's demands on the compiler: it may come from a stranger's pull
// request. A zero field takes the value of DefaultLimits.
type Limits struct {
	PlanBytes   int // size of one plan file
	PolicyBytes int // size of one policy file that is found or named by a plan
	AgentBytes  int // size of one agent file
	Nodes       int // items of one plan
	Edges       int // dependencies of one plan
	Depth       int // nesting in a plan's markdown
}

// DefaultLimits are what a plan of 100,000 sprints needs, and some more.
var DefaultLimits = Limits{
	PlanBytes:   128 << 20,
	PolicyBytes: policies.MaxFileBytes,
	AgentBytes:  1 << 20,
	Nodes:       200_000,
	Edges:       depend.MostEdges,
	Depth:       100,
}

// A plan that people write has some hundred bytes for an item and some thirty for a
// line; one that is made of nothing but items costs a hundred times its size. So what
// is in a plan is bounded by its bytes too, with room for all small plans.
const (
	smallItems = 5_000
	itemBytes  = 150 // … of a plan for each item beyond smallItems
	smallEdges = 100_000
	edgeBytes  = 8
	smallEpic  = 32 << 20 // bytes that the nodes carry, approximately
	epicGrowth = 32       // … for each byte of the plans
	maxEntries = 1_000    // of one kind in one item
)

// of returns the limits of a plan of so many bytes.
func (l Limits) of(size int) Limits {
	l.Nodes = min(l.Nodes, max(smallItems, size/itemBytes))
	l.Edges = min(l.Edges, max(smallEdges, size/edgeBytes))
	return l
}

func (l Limits) orDefault() Limits {
	or := func(v, def int) int { return cmp.Or(max(v, 0), def) }
	def := DefaultLimits
	return Limits{
		PlanBytes: or(l.PlanBytes, def.PlanBytes), PolicyBytes: or(l.PolicyBytes, def.PolicyBytes), AgentBytes: or(l.AgentBytes, def.AgentBytes),
		Nodes: or(l.Nodes, def.Nodes), Edges: or(l.Edges, def.Edges), Depth: or(l.Depth, def.Depth),
	}
}
