package policies

// Model is the block `model "alias"`.
type Model struct {
	Decl
	ID       Value[string] `hcl:"id" with:"required" doc:"the provider's name of the model"`
	Provider Value[string] `hcl:"provider" doc:"who serves it"`
	Price    `hcl:"price" doc:"what a million tokens cost"`
}

// Price is the block `price {}`, in millionths of a US dollar for a million tokens.
type Price struct {
	PriceInput  Value[int64] `hcl:"input" is:"usd" doc:"US dollars for a million tokens that are read, such as 3.00"`
	PriceOutput Value[int64] `hcl:"output" is:"usd" doc:"US dollars for a million tokens that are written, such as 15.00"`
}

var modelBlock = &block{of: (*Model)(nil), name: "model", label: "alias", doc: "an alias for a model", attrs: []attr{descriptionAttr}}
