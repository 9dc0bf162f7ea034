package policies

// Concurrency is the block `concurrency {}`.
type Concurrency struct {
	Decl
	Nodes     Value[int]            `hcl:"nodes" min:"1" max:"100000" doc:"nodes at the same time, from 1"`
	PerRunner Value[map[string]int] `hcl:"per_runner" min:"1" doc:"agents at the same time by runner, as { claude = 4 }"`
	PerLane   Value[map[string]int] `hcl:"per_lane" min:"1" doc:"nodes at the same time by lane, as { ui = 1 }"`
}

var concurrencyBlock = &block{of: (*Concurrency)(nil), name: "concurrency", doc: "what runs at the same time"}

func (c *Concurrency) check(r *reader) {
	for _, name := range sortedKeys(c.PerRunner.V) {
		r.d.checkRef("runner", name, c.PerRunner.Range)
	}
}
