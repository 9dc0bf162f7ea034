package policies

// Retry is the block `retry {}`.
type Retry struct {
	Attempts      Value[int]    `hcl:"attempts" min:"1" max:"1000" doc:"attempts of a step, from 1"`
	Backoff       Value[string] `hcl:"backoff" enum:"exponential fixed linear" doc:"fixed, linear or exponential"`
	InitialMS     Value[int64]  `hcl:"initial" is:"duration" doc:"the first wait, such as \"5s\""`
	MaxMS         Value[int64]  `hcl:"max" is:"duration" doc:"the longest wait, such as \"5m\""`
	JitterPercent Value[int]    `hcl:"jitter" is:"percent" doc:"the share of a wait that is random, such as 0.2 or \"20%\""`
	RunnerRetries Value[int]    `hcl:"runner_retries" min:"0" max:"1000" doc:"retries after a crash or a lost connection, never counted as attempts"`
}

var retryBlock = &block{of: (*Retry)(nil), name: "retry", doc: "how an attempt is tried again"}
