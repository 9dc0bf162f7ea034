package policies

// Limits is the block `limits {}`: of a complexity level, of the policy as a
// whole, of a fence.
type Limits struct {
	Plan          Value[int] // iterations of a step that only reads
	Build         Value[int] // iterations of a step that writes
	Attempts      Value[int]
	Breaker       Value[int]
	RunnerRetries Value[int]
	TimeoutMS     Value[int64] // of one attempt of a step
	// Defaults for gates, by kind; top level and policy only.
	CommandGateMS Value[int64]
	AgentGateMS   Value[int64]
	ReviewGateMS  Value[int64]
	HumanGateMS   Value[int64]
}

// Overlay returns a with everything that b sets put over it.
func (a Limits) Overlay(b Limits) Limits {
	return Limits{
		Plan:          b.Plan.Or(a.Plan),
		Build:         b.Build.Or(a.Build),
		Attempts:      b.Attempts.Or(a.Attempts),
		Breaker:       b.Breaker.Or(a.Breaker),
		RunnerRetries: b.RunnerRetries.Or(a.RunnerRetries),
		TimeoutMS:     b.TimeoutMS.Or(a.TimeoutMS),
		CommandGateMS: b.CommandGateMS.Or(a.CommandGateMS),
		AgentGateMS:   b.AgentGateMS.Or(a.AgentGateMS),
		ReviewGateMS:  b.ReviewGateMS.Or(a.ReviewGateMS),
		HumanGateMS:   b.HumanGateMS.Or(a.HumanGateMS),
	}
}

func (a Limits) gateTimeout(kind string) Value[int64] {
	switch kind {
	case "command":
		return a.CommandGateMS
	case "agent":
		return a.AgentGateMS
	case "review":
		return a.ReviewGateMS
	case "human":
		return a.HumanGateMS
	}
	return Value[int64]{}
}
