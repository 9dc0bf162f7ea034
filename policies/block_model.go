package policies

// Model is the block `model "alias"`.
type Model struct {
	Decl
	ID       Value[string]
	Provider Value[string]
	// Prices in millionths of a US dollar for a million tokens.
	PriceInput  Value[int64]
	PriceOutput Value[int64]
}

var modelBlock = &block{
	name: "model", label: "alias",
	doc: "an alias for a model",
	attrs: []attr{
		descriptionAttr,
		{name: "id", kind: kString, required: true, doc: "the provider's name of the model"},
		{name: "provider", kind: kString, doc: "who serves it"},
	},
	blocks: []*block{{name: "price", doc: "what a million tokens cost", attrs: []attr{
		{name: "input", kind: kUSD, doc: "US dollars for a million tokens that are read, such as 3.00"},
		{name: "output", kind: kUSD, doc: "US dollars for a million tokens that are written, such as 15.00"},
	}}},
}

func (r *reader) model(decl Decl) *Model {
	m := &Model{Decl: decl, ID: r.str("id"), Provider: r.str("provider")}
	if p := r.one("price"); p != nil {
		m.PriceInput, m.PriceOutput = p.usd("input"), p.usd("output")
	}
	return m
}
