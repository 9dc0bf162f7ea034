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

var sandboxBlock = &block{
	name: "sandbox", label: "name",
	doc: "what an agent can reach",
	attrs: []attr{
		descriptionAttr,
		{name: "kind", kind: kEnum, required: true, enum: []string{"bwrap", "container", "landlock", "none"}, doc: "none, landlock, bwrap or container"},
		{name: "write", kind: kStrings, doc: "paths that may be written"},
		{name: "read", kind: kStrings, doc: "paths that may be read"},
		{name: "hide", kind: kStrings, doc: "paths that are not there"},
		{name: "network", kind: kStrings, doc: "hosts that may be reached"},
		{name: "limits", kind: kMap, doc: "limits of the kind, as { memory = \"4GB\" }"},
	},
}

func (r *reader) sandbox(decl Decl) *Sandbox {
	return &Sandbox{
		Decl:    decl,
		Kind:    r.enum("kind"),
		Write:   or(r.strs("write"), []string{}),
		Read:    or(r.strs("read"), []string{}),
		Hide:    or(r.strs("hide"), []string{}),
		Network: or(r.strs("network"), []string{}),
		Limits:  or(r.object("limits"), map[string]string{}),
	}
}
