package policies

import (
	"strings"
)

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

var hitlBlock = &block{
	name: "hitl",
	doc:  "where people come in",
	attrs: []attr{
		{name: "level", kind: kEnum, enum: []string{"every-node", "gates", "none"}, doc: "none, gates or every-node"},
		{name: "plan", kind: kEnum, enum: []string{"auto", "required"}, doc: "whether a person approves the plan before it runs: auto or required"},
		{name: "approvers", kind: kStrings, doc: "who may approve where nobody is named, such as [\"ada\"]"},
		{name: "labels", kind: kMap, doc: "labels of the tracker by meaning, such as { hold = \"on-hold\" }"},
		{name: "on_human_message", kind: kEnum, enum: []string{"cooldown", "pause", "review"}, doc: "pause, review or cooldown"},
		{name: "idle_cooldown", kind: kDuration, doc: `quiet time before the agent goes on, such as "2m"`},
	},
}

func (r *reader) hitl() HITL {
	h := HITL{
		Level:          r.enum("level"),
		Plan:           r.enum("plan"),
		Approvers:      r.strs("approvers"),
		Labels:         r.object("labels"),
		OnHumanMessage: r.enum("on_human_message"),
		IdleCooldownMS: r.duration("idle_cooldown"),
	}
	withoutAt(h.Approvers.V)
	return h
}

func withoutAt(names []string) {
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "@")
	}
}
