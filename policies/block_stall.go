package policies

// Stall is the block `stall {}`.
type Stall struct {
	AfterMS Value[int64]  `hcl:"after" is:"duration" doc:"time without activity, such as \"5m\"; \"0s\" for never"` // 0: never
	Action  Value[string] `hcl:"action" enum:"diagnose fail retry" doc:"fail, retry or diagnose"`
	Agent   Value[string] `hcl:"agent" ref:"agent" doc:"the agent that diagnoses"`
}

var stallBlock = &block{of: (*Stall)(nil), name: "stall", doc: "what happens when an agent shows no activity"}
