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
