package policies

// Budget is the block `budget {}`.
type Budget struct {
	Tokens   Value[int64]  `hcl:"tokens" min:"1" doc:"tokens, from 1"`
	USDMicro Value[int64]  `hcl:"usd" is:"usd" min:"1" doc:"US dollars, such as 20 or 2.50"` // millionths of a US dollar
	WallMS   Value[int64]  `hcl:"wall" is:"duration" min:"1" doc:"time on the clock, such as \"8h\""`
	OnExceed Value[string] `hcl:"on_exceed" enum:"pause stop" doc:"pause or stop"`
	PerNode  NodeBudget    `hcl:"per_node" doc:"what one node may cost"`
}

// NodeBudget is the block `per_node {}` of a budget.
type NodeBudget struct {
	Tokens   Value[int64] `hcl:"tokens" min:"1" doc:"tokens, from 1"`
	USDMicro Value[int64] `hcl:"usd" is:"usd" min:"1" doc:"US dollars, such as 2.50"`
	WallMS   Value[int64] `hcl:"wall" is:"duration" min:"1" doc:"time on the clock, such as \"1h\""`
}

var budgetBlock = &block{of: (*Budget)(nil), name: "budget", doc: "what work may cost"}
