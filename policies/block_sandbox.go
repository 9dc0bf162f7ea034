package policies

// Sandbox is the block `sandbox "n"`. It is checked and carried; apply refuses
// every kind but none.
type Sandbox struct {
	Decl
	Kind    Value[string]            `hcl:"kind" enum:"bwrap container landlock none" with:"required" doc:"none, landlock, bwrap or container"`
	Write   Value[[]string]          `hcl:"write=" doc:"paths that may be written"`
	Read    Value[[]string]          `hcl:"read=" doc:"paths that may be read"`
	Hide    Value[[]string]          `hcl:"hide=" doc:"paths that are not there"`
	Network Value[[]string]          `hcl:"network=" doc:"hosts that may be reached"`
	Limits  Value[map[string]string] `hcl:"limits=" doc:"limits of the kind, as { memory = \"4GB\" }"`
}

var sandboxBlock = &block{of: (*Sandbox)(nil), name: "sandbox", label: "name", doc: "what an agent can reach", attrs: []attr{descriptionAttr}}
