package policies

// HITL is the block `hitl {}`: where people come in.
type HITL struct {
	Level          Value[string] // none, gates, every-node
	Plan           Value[string] // auto, required
	Approvers      Value[[]string]
	Labels         Value[map[string]string]
	OnHumanMessage Value[string] // pause, review, cooldown
	IdleCooldownMS Value[int64]
}

// Overlay returns a with everything that b sets put over it.
func (a HITL) Overlay(b HITL) HITL {
	return HITL{
		Level:          b.Level.Or(a.Level),
		Plan:           b.Plan.Or(a.Plan),
		Approvers:      b.Approvers.Or(a.Approvers),
		Labels:         b.Labels.Or(a.Labels),
		OnHumanMessage: b.OnHumanMessage.Or(a.OnHumanMessage),
		IdleCooldownMS: b.IdleCooldownMS.Or(a.IdleCooldownMS),
	}
}
