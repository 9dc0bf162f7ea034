package policies

// Sandbox is the block `sandbox "n"`. It is checked and carried; apply refuses
// every kind but none.
type Sandbox struct {
	Decl
	Kind    Value[string] // none, landlock, bwrap, container
	Write   Value[[]string]
	Read    Value[[]string]
	Hide    Value[[]string]
	Network Value[[]string]
	Limits  Value[map[string]string]
}
