package policies

// Limits is the block `limits {}`: of a complexity level, of the policy as a
// whole, of a fence.
type Limits struct {
	Plan          Value[int]   `hcl:"plan" min:"1" max:"1000" doc:"iterations of a step that only reads, from 1"` // iterations of a step that only reads
	Build         Value[int]   `hcl:"build" min:"1" max:"1000" doc:"iterations of a step that writes, from 1"`    // iterations of a step that writes
	Attempts      Value[int]   `hcl:"attempts" min:"1" max:"1000" doc:"attempts of a step, from 1"`
	Breaker       Value[int]   `hcl:"breaker" min:"1" max:"1000" doc:"the same failure in a row, from 1"`
	RunnerRetries Value[int]   `hcl:"runner_retries" min:"0" max:"1000" doc:"retries after a crash or a lost connection"`
	TimeoutMS     Value[int64] `hcl:"timeout" is:"duration" min:"1" doc:"the time of one attempt of a step, such as \"20m\""` // of one attempt of a step
	// Defaults for gates, by kind; top level and policy only.
	CommandGateMS Value[int64] `hcl:"command_gate" is:"duration" doc:"the time of a command gate, such as \"5m\""`
	AgentGateMS   Value[int64] `hcl:"agent_gate" is:"duration" doc:"the time of an agent gate, such as \"10m\""`
	ReviewGateMS  Value[int64] `hcl:"review_gate" is:"duration" doc:"the time of a review gate, such as \"10m\""`
	HumanGateMS   Value[int64] `hcl:"human_gate" is:"duration" doc:"the time of a human gate, such as \"48h\"; \"0s\" waits for ever"`
}

// GateTimeout returns the timeout of gates of a kind that do not set one; 0 is no
// timeout.
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

var limitsBlock = &block{of: (*Limits)(nil), name: "limits", doc: "how often and how long"}
