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

var budgetBlock = &block{
	name: "budget",
	doc:  "what work may cost",
	attrs: []attr{
		{name: "tokens", kind: kInt, min: 1, doc: "tokens, from 1"},
		{name: "usd", kind: kUSD, doc: "US dollars, such as 20 or 2.50"},
		{name: "wall", kind: kDuration, min: 1, doc: `time on the clock, such as "8h"`},
		{name: "on_exceed", kind: kEnum, enum: []string{"pause", "stop"}, doc: "pause or stop"},
	},
	blocks: []*block{{name: "per_node", doc: "what one node may cost", attrs: []attr{
		{name: "tokens", kind: kInt, min: 1, doc: "tokens, from 1"},
		{name: "usd", kind: kUSD, doc: "US dollars, such as 2.50"},
		{name: "wall", kind: kDuration, min: 1, doc: `time on the clock, such as "1h"`},
	}}},
}

func (r *reader) budget() Budget {
	b := Budget{Tokens: r.long("tokens"), USDMicro: r.limitUSD(), WallMS: r.duration("wall"), OnExceed: r.enum("on_exceed")}
	if n := r.one("per_node"); n != nil {
		b.PerNode = NodeBudget{Tokens: n.long("tokens"), USDMicro: n.limitUSD(), WallMS: n.duration("wall")}
	}
	return b
}

// limitUSD reads an amount that bounds something: nothing at all would be taken
// for no limit.
func (r *reader) limitUSD() Value[int64] {
	v := r.usd("usd")
	if v.Set && v.V == 0 {
		r.invalid("usd", v.Range, errPositive)
		return Value[int64]{}
	}
	return v
}
