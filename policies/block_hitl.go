package policies

import (
	"strings"
)

// HITL is the block `hitl {}`: where people come in.
type HITL struct {
	Level          Value[string]            `hcl:"level" enum:"every-node gates none" doc:"none, gates or every-node"`
	Plan           Value[string]            `hcl:"plan" enum:"auto required" doc:"whether a person approves the plan before it runs: auto or required"`
	Approvers      Value[[]string]          `hcl:"approvers" doc:"who may approve where nobody is named, such as [\"ada\"]"`
	Labels         Value[map[string]string] `hcl:"labels" doc:"labels of the tracker by meaning, such as { hold = \"on-hold\" }"`
	OnHumanMessage Value[string]            `hcl:"on_human_message" enum:"cooldown pause review" doc:"pause, review or cooldown"`
	IdleCooldownMS Value[int64]             `hcl:"idle_cooldown" is:"duration" doc:"quiet time before the agent goes on, such as \"2m\""`
}

var hitlBlock = &block{of: (*HITL)(nil), name: "hitl", doc: "where people come in"}

func (h *HITL) check(*reader) { withoutAt(h.Approvers.V) }

func withoutAt(names []string) {
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "@")
	}
}
