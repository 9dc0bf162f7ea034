package policies

// Stall is the block `stall {}`.
type Stall struct {
	AfterMS Value[int64]  // 0: never
	Action  Value[string] // fail, retry, diagnose
	Agent   Value[string]
}

// Overlay returns a with everything that b sets put over it.
func (a Stall) Overlay(b Stall) Stall {
	return Stall{
		AfterMS: b.AfterMS.Or(a.AfterMS),
		Action:  b.Action.Or(a.Action),
		Agent:   b.Agent.Or(a.Agent),
	}
}
