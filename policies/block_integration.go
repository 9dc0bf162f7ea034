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
