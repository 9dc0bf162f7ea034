package policies

// Notify is the block `notify {}`.
type Notify struct {
	Decl
	On  Value[[]string]
	Run Value[[]string] // argv
}
