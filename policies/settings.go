package policies

import "github.com/ralph-compiler/ralph/internal/lists"

// StepSettings are the attributes of a step block. In an hcl fence, without a step around
// them, they apply to every step there.
type StepSettings struct {
	Capabilities Value[[]string] `hcl:"capabilities" doc:"what its agent must be able to do, such as [\"implement\"]"`
	Tags         Value[[]string] `hcl:"tags" doc:"words that its agent must carry"`
	Model        Value[string]   `hcl:"model" ref:"model" doc:"an alias or the provider's name of a model"` // alias or model id
	Agent        Value[string]   `hcl:"agent" ref:"agent" doc:"its agent, such as agent.dev"`
	Access       Value[string]   `hcl:"access" enum:"read write" doc:"read or write"`
	Gates        Value[[]string] `hcl:"gates" ref:"gate" doc:"what judges it, such as [gate.unit]"` // names, in order
	GateMode     Value[string]   `hcl:"gate_mode" enum:"ordered parallel" doc:"parallel or ordered"`
	TimeoutMS    Value[int64]    `hcl:"timeout" is:"duration" min:"1" doc:"the time of one attempt, such as \"20m\""` // of one attempt
	Iterations   Value[int]      `hcl:"iterations" min:"1" max:"1000" doc:"prompts inside an attempt, from 1"`
	Breaker      Value[int]      `hcl:"breaker" min:"1" max:"1000" doc:"the same failure in a row, from 1"`
	Approval     Value[Approval] `hcl:"approval" doc:"true, a list of people, or \"required from @a within 48h\""`
	Sandbox      Value[string]   `hcl:"sandbox" ref:"sandbox" doc:"what its agent can reach, such as sandbox.strict"`
	Session      Value[string]   `hcl:"session" enum:"fresh resume" doc:"fresh or resume"`
	OnFailure    Value[string]   `hcl:"on_failure" enum:"keep reset" doc:"keep or reset"`
	Next         Value[string]   `hcl:"next" ref:"step" doc:"the step that a fail goes to"` // name of a step of the same policy
	AllowEmpty   Value[bool]     `hcl:"allow_empty" doc:"true lets an attempt change nothing"`
	Retry        Retry           `hcl:"retry"`
	Stall        Stall           `hcl:"stall"`
}

// OverlayFence is Overlay for the settings of a fence in a plan: a plan may add
// gates but never take one away, so the gates of b come after those of a, and
// an approval that a requires stays as it is.
func (a StepSettings) OverlayFence(b StepSettings) StepSettings {
	out := Overlay(a, b)
	if a.Approval.V.Required {
		out.Approval = a.Approval
	}
	if !b.Gates.Set || !a.Gates.Set {
		return out
	}
	all := append([]string(nil), a.Gates.V...)
	have := lists.Set(all)
	for _, g := range b.Gates.V {
		if !have[g] {
			have[g] = true
			all = append(all, g)
		}
	}
	out.Gates.V = all
	return out
}

// Settings is what may be at top level, in a policy and (but for a few, see
// Fragment) in a fence: everything that is overlaid by scope.
type Settings struct {
	Limits      Limits      `hcl:"limits"`
	Budget      Budget      `hcl:"budget"`
	HITL        HITL        `hcl:"hitl"`
	Git         Git         `hcl:"git"`
	Worktree    Worktree    `hcl:"worktree"`
	Integration Integration `hcl:"integration"`
	Retry       Retry       `hcl:"retry"` // of every step
	Stall       Stall       `hcl:"stall"` // of every step
}
