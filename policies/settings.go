package policies

// StepSettings are the attributes of a step block. The same ones, without a
// step around them, stand in an hcl fence and speak of every step there.
type StepSettings struct {
	Capabilities Value[[]string]
	Tags         Value[[]string]
	Model        Value[string] // alias or model id
	Agent        Value[string]
	Access       Value[string]   // read, write
	Gates        Value[[]string] // names, in order
	GateMode     Value[string]   // parallel, ordered
	TimeoutMS    Value[int64]    // of one attempt
	Iterations   Value[int]
	Breaker      Value[int]
	Approval     Value[Approval]
	Sandbox      Value[string]
	Session      Value[string] // fresh, resume
	OnFailure    Value[string] // keep, reset
	Next         Value[string] // name of a step of the same policy
	AllowEmpty   Value[bool]
	Retry        Retry
	Stall        Stall
}

// Overlay returns a with everything that b sets put over it.
func (a StepSettings) Overlay(b StepSettings) StepSettings {
	return StepSettings{
		Capabilities: b.Capabilities.Or(a.Capabilities),
		Tags:         b.Tags.Or(a.Tags),
		Model:        b.Model.Or(a.Model),
		Agent:        b.Agent.Or(a.Agent),
		Access:       b.Access.Or(a.Access),
		Gates:        b.Gates.Or(a.Gates),
		GateMode:     b.GateMode.Or(a.GateMode),
		TimeoutMS:    b.TimeoutMS.Or(a.TimeoutMS),
		Iterations:   b.Iterations.Or(a.Iterations),
		Breaker:      b.Breaker.Or(a.Breaker),
		Approval:     b.Approval.Or(a.Approval),
		Sandbox:      b.Sandbox.Or(a.Sandbox),
		Session:      b.Session.Or(a.Session),
		OnFailure:    b.OnFailure.Or(a.OnFailure),
		Next:         b.Next.Or(a.Next),
		AllowEmpty:   b.AllowEmpty.Or(a.AllowEmpty),
		Retry:        a.Retry.Overlay(b.Retry),
		Stall:        a.Stall.Overlay(b.Stall),
	}
}

// OverlayFence is Overlay for the settings of a fence in a plan: a plan may add
// gates but never take one away, so the gates of b come behind those of a, and
// an approval that a requires stays as it is.
func (a StepSettings) OverlayFence(b StepSettings) StepSettings {
	out := a.Overlay(b)
	if a.Approval.V.Required {
		out.Approval = a.Approval
	}
	if !b.Gates.Set || !a.Gates.Set {
		return out
	}
	have := make(map[string]bool, len(a.Gates.V))
	all := append([]string(nil), a.Gates.V...)
	for _, g := range all {
		have[g] = true
	}
	for _, g := range b.Gates.V {
		if !have[g] {
			have[g] = true
			all = append(all, g)
		}
	}
	out.Gates.V = all
	return out
}

// Settings is what may stand at top level, in a policy and (but for a few, see
// Fragment) in a fence: everything that is overlaid by scope.
type Settings struct {
	Limits      Limits
	Budget      Budget
	HITL        HITL
	Git         Git
	Worktree    Worktree
	Integration Integration
	Retry       Retry // of every step
	Stall       Stall // of every step
}

// Overlay returns a with everything that b sets put over it.
func (a Settings) Overlay(b Settings) Settings {
	return Settings{
		Limits:      a.Limits.Overlay(b.Limits),
		Budget:      a.Budget.Overlay(b.Budget),
		HITL:        a.HITL.Overlay(b.HITL),
		Git:         a.Git.Overlay(b.Git),
		Worktree:    a.Worktree.Overlay(b.Worktree),
		Integration: a.Integration.Overlay(b.Integration),
		Retry:       a.Retry.Overlay(b.Retry),
		Stall:       a.Stall.Overlay(b.Stall),
	}
}
