package policies

// Integration is the block `integration {}`.
type Integration struct {
	Mode              Value[string] // dag, branch, wait
	PR                Value[string] // none, plan, node
	ConflictAgent     Value[string]
	Gates             Value[[]string] // not Set: the command gates of what is merged
	SerializeOverlaps Value[bool]     // two unordered nodes that own the same files get an edge
}

// Overlay returns a with everything that b sets put over it.
func (a Integration) Overlay(b Integration) Integration {
	return Integration{
		Mode:              b.Mode.Or(a.Mode),
		PR:                b.PR.Or(a.PR),
		ConflictAgent:     b.ConflictAgent.Or(a.ConflictAgent),
		Gates:             b.Gates.Or(a.Gates),
		SerializeOverlaps: b.SerializeOverlaps.Or(a.SerializeOverlaps),
	}
}

var integrationBlock = &block{
	name: "integration",
	doc:  "how results come together",
	attrs: []attr{
		{name: "mode", kind: kEnum, enum: []string{"branch", "dag", "wait"}, doc: "dag, branch or wait"},
		{name: "pr", kind: kEnum, enum: []string{"node", "none", "plan"}, doc: "pull requests: none, plan or node"},
		{name: "conflict_agent", kind: kRef, ref: "agent", doc: "the agent that resolves conflicts, such as agent.merger"},
		{name: "gates", kind: kRefs, ref: "gate", doc: "the gates that judge the result; [] for none"},
		{name: "serialize_overlaps", kind: kBool, doc: "true lets sprints that own the same files wait for each other"},
	},
}

func (r *reader) integration() Integration {
	return Integration{
		Mode:              r.enum("mode"),
		PR:                r.enum("pr"),
		ConflictAgent:     r.ref("conflict_agent"),
		Gates:             r.refs("gates"),
		SerializeOverlaps: r.boolean("serialize_overlaps"),
	}
}
