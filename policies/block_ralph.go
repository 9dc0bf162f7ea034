package policies

// Ralph is the block `ralph {}`: what concerns the policy as a whole.
type Ralph struct {
	Decl
	Required     Value[string]   // version constraint, ">= 0.1"
	Plans        Value[[]string] // globs
	Dialect      Value[string]   // as --dialect takes it
	Capabilities Value[[]string] // declared beyond Vocabulary
	Lanes        Value[[]string] // declared; empty: any lane is fine
	Override     Value[[]string] // labels that a plan may set; not Set: all
	Strict       Value[bool]
}
