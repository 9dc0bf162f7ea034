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

// GateTimeout returns the timeout of gates of a kind that say none themselves.
// 0 is none.
func (a Limits) GateTimeout(kind string) Value[int64] {
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

var limitsBlock = &block{
	name: "limits",
	doc:  "how often and how long",
	attrs: []attr{
		{name: "plan", kind: kInt, min: 1, max: 1000, doc: "iterations of a step that only reads, from 1"},
		{name: "build", kind: kInt, min: 1, max: 1000, doc: "iterations of a step that writes, from 1"},
		{name: "attempts", kind: kInt, min: 1, max: 1000, doc: "attempts of a step, from 1"},
		{name: "breaker", kind: kInt, min: 1, max: 1000, doc: "the same failure in a row, from 1"},
		{name: "runner_retries", kind: kInt, min: 0, max: 1000, doc: "retries after a crash or a lost connection"},
		{name: "timeout", kind: kDuration, min: 1, doc: `the time of one attempt of a step, such as "20m"`},
		{name: "command_gate", kind: kDuration, doc: `the time of a command gate, such as "5m"`},
		{name: "agent_gate", kind: kDuration, doc: `the time of an agent gate, such as "10m"`},
		{name: "review_gate", kind: kDuration, doc: `the time of a review gate, such as "10m"`},
		{name: "human_gate", kind: kDuration, doc: `the time of a human gate, such as "48h"; "0s" waits for ever`},
	},
}

func (r *reader) limits() Limits {
	return Limits{
		Plan:          r.integer("plan"),
		Build:         r.integer("build"),
		Attempts:      r.integer("attempts"),
		Breaker:       r.integer("breaker"),
		RunnerRetries: r.integer("runner_retries"),
		TimeoutMS:     r.duration("timeout"),
		CommandGateMS: r.duration("command_gate"),
		AgentGateMS:   r.duration("agent_gate"),
		ReviewGateMS:  r.duration("review_gate"),
		HumanGateMS:   r.duration("human_gate"),
	}
}
