package policies

// Concurrency is the block `concurrency {}`.
type Concurrency struct {
	Decl
	Nodes     Value[int]
	PerRunner Value[map[string]int]
	PerLane   Value[map[string]int]
}

var concurrencyBlock = &block{
	name: "concurrency",
	doc:  "what runs at the same time",
	attrs: []attr{
		{name: "nodes", kind: kInt, min: 1, max: 100_000, doc: "nodes at the same time, from 1"},
		{name: "per_runner", kind: kIntMap, min: 1, doc: "agents at the same time by runner, as { claude = 4 }"},
		{name: "per_lane", kind: kIntMap, min: 1, doc: "nodes at the same time by lane, as { ui = 1 }"},
	},
}

func (r *reader) concurrency(decl Decl) Concurrency {
	c := Concurrency{Decl: decl, Nodes: r.integer("nodes"), PerRunner: r.intObject("per_runner"), PerLane: r.intObject("per_lane")}
	for _, name := range sortedKeys(c.PerRunner.V) {
		r.d.checkRef("runner", name, c.PerRunner.Range)
	}
	return c
}

func (a Concurrency) overlay(b Concurrency) Concurrency {
	return Concurrency{Decl: b.Decl, Nodes: b.Nodes.Or(a.Nodes), PerRunner: b.PerRunner.Or(a.PerRunner), PerLane: b.PerLane.Or(a.PerLane)}
}
