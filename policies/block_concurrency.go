package policies

// Concurrency is the block `concurrency {}`.
type Concurrency struct {
	Decl
	Nodes     Value[int]
	PerRunner Value[map[string]int]
	PerLane   Value[map[string]int]
}
