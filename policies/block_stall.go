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

var stallBlock = &block{
	name: "stall",
	doc:  "what happens when an agent shows no activity",
	attrs: []attr{
		{name: "after", kind: kDuration, doc: `time without activity, such as "5m"; "0s" for never`},
		{name: "action", kind: kEnum, enum: []string{"diagnose", "fail", "retry"}, doc: "fail, retry or diagnose"},
		{name: "agent", kind: kRef, ref: "agent", doc: "the agent that diagnoses"},
	},
}

func (r *reader) stall() Stall {
	return Stall{AfterMS: r.duration("after"), Action: r.enum("action"), Agent: r.ref("agent")}
}
