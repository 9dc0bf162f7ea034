package policies

// Budget is the block `budget {}`.
type Budget struct {
	Tokens   Value[int64]
	USDMicro Value[int64] // millionths of a US dollar
	WallMS   Value[int64]
	OnExceed Value[string] // pause, stop
	PerNode  NodeBudget
}

// NodeBudget is the block `per_node {}` of a budget.
type NodeBudget struct {
	Tokens   Value[int64]
	USDMicro Value[int64]
	WallMS   Value[int64]
}

// Overlay returns a with everything that b sets put over it.
func (a Budget) Overlay(b Budget) Budget {
	return Budget{
		Tokens:   b.Tokens.Or(a.Tokens),
		USDMicro: b.USDMicro.Or(a.USDMicro),
		WallMS:   b.WallMS.Or(a.WallMS),
		OnExceed: b.OnExceed.Or(a.OnExceed),
		PerNode: NodeBudget{
			Tokens:   b.PerNode.Tokens.Or(a.PerNode.Tokens),
			USDMicro: b.PerNode.USDMicro.Or(a.PerNode.USDMicro),
			WallMS:   b.PerNode.WallMS.Or(a.PerNode.WallMS),
		},
	}
}
