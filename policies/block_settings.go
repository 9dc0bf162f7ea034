package policies

import (
	"errors"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

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

// Budget is the block `budget {}`.
type Budget struct {
	Tokens   Value[int64]  `hcl:"tokens" min:"1" doc:"tokens, from 1"`
	USDMicro Value[int64]  `hcl:"usd" is:"usd" min:"1" doc:"US dollars, such as 20 or 2.50"` // millionths of a US dollar
	WallMS   Value[int64]  `hcl:"wall" is:"duration" min:"1" doc:"time on the clock, such as \"8h\""`
	OnExceed Value[string] `hcl:"on_exceed" enum:"pause stop" doc:"pause or stop"`
	PerNode  NodeBudget    `hcl:"per_node" doc:"what one node may cost"`
}

// NodeBudget is the block `per_node {}` of a budget.
type NodeBudget struct {
	Tokens   Value[int64] `hcl:"tokens" min:"1" doc:"tokens, from 1"`
	USDMicro Value[int64] `hcl:"usd" is:"usd" min:"1" doc:"US dollars, such as 2.50"`
	WallMS   Value[int64] `hcl:"wall" is:"duration" min:"1" doc:"time on the clock, such as \"1h\""`
}

var budgetBlock = &block{of: (*Budget)(nil), name: "budget", doc: "what work may cost"}

// Concurrency is the block `concurrency {}`.
type Concurrency struct {
	Decl
	Nodes     Value[int]            `hcl:"nodes" min:"1" max:"100000" doc:"nodes at the same time, from 1"`
	PerRunner Value[map[string]int] `hcl:"per_runner" min:"1" doc:"agents at the same time by runner, as { claude = 4 }"`
	PerLane   Value[map[string]int] `hcl:"per_lane" min:"1" doc:"nodes at the same time by lane, as { ui = 1 }"`
}

var concurrencyBlock = &block{of: (*Concurrency)(nil), name: "concurrency", doc: "what runs at the same time"}

func (c *Concurrency) check(r *reader) {
	for _, name := range sortedKeys(c.PerRunner.V) {
		r.d.checkRef("runner", name, c.PerRunner.Range)
	}
}

// Stall is the block `stall {}`.
type Stall struct {
	AfterMS Value[int64]  `hcl:"after" is:"duration" doc:"time without activity, such as \"5m\"; \"0s\" for never"` // 0: never
	Action  Value[string] `hcl:"action" enum:"diagnose fail retry" doc:"fail, retry or diagnose"`
	Agent   Value[string] `hcl:"agent" ref:"agent" doc:"the agent that diagnoses"`
}

var stallBlock = &block{of: (*Stall)(nil), name: "stall", doc: "what happens when an agent shows no activity"}

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

// Integration is the block `integration {}`.
type Integration struct {
	Mode              Value[string]   `hcl:"mode" enum:"branch dag wait" doc:"dag, branch or wait"`
	PR                Value[string]   `hcl:"pr" enum:"node none plan" doc:"pull requests: none, plan or node"`
	ConflictAgent     Value[string]   `hcl:"conflict_agent" ref:"agent" doc:"the agent that resolves conflicts, such as agent.merger"`
	Gates             Value[[]string] `hcl:"gates" ref:"gate" doc:"the gates that judge the result; [] for none"`                    // not Set: the command gates of what is merged
	SerializeOverlaps Value[bool]     `hcl:"serialize_overlaps" doc:"true lets sprints that own the same files wait for each other"` // two unordered nodes that own the same files get an edge
	Sandbox           Value[string]   `hcl:"sandbox" ref:"sandbox" doc:"what its gates and its conflict agent can reach, such as sandbox.strict"`
	Network           Value[[]string] `hcl:"network" doc:"the hosts that its command gates may reach, such as [\"example.com\"]"`
}

var integrationBlock = &block{of: (*Integration)(nil), name: "integration", doc: "how results come together"}

func (i *Integration) check(r *reader) {
	r.checkHosts(i.Network)
	if i.Network.V != nil && len(i.Network.V) == 0 {
		r.wrong("network", i.Network.Range, errors.New("an empty list leaves to each gate what it may reach: take the hosts out of the gates, or leave the line out"))
	}
}

// Model is the block `model "alias"`.
type Model struct {
	Decl
	ID       Value[string] `hcl:"id" with:"required" doc:"the provider's name of the model"`
	Provider Value[string] `hcl:"provider" doc:"who serves it"`
	Price    `hcl:"price" doc:"what a million tokens cost"`
}

// Price is the block `price {}`, in millionths of a US dollar for a million tokens.
type Price struct {
	PriceInput  Value[int64] `hcl:"input" is:"usd" doc:"US dollars for a million tokens that are read, such as 3.00"`
	PriceOutput Value[int64] `hcl:"output" is:"usd" doc:"US dollars for a million tokens that are written, such as 15.00"`
}

var modelBlock = &block{of: (*Model)(nil), name: "model", label: "alias", doc: "an alias for a model", attrs: []attr{descriptionAttr}}

// Tracker is the block `tracker "bd" {}`.
type Tracker struct {
	Decl
	Prefix            Value[string]            `hcl:"prefix=bd" doc:"the prefix of the tracker's ids, such as \"bd\""`
	Mirror            Value[[]string]          `hcl:"mirror=" enum:"comments labels metadata mode pr status" doc:"what is mirrored: comments, labels, metadata, mode, pr, status; all of it if nothing is named"`
	Labels            Value[map[string]string] `hcl:"labels=" doc:"labels of the tracker by meaning"`
	Actor             Value[string]            `hcl:"actor=ralph" doc:"the name that ralph's changes carry"`
	PollMS            Value[int64]             `hcl:"poll=15000" is:"duration" min:"1" doc:"how often the tracker is read, such as \"15s\""`
	MaxConcurrentRuns Value[int]               `hcl:"max_concurrent_runs=1" min:"1" max:"1000" doc:"runs at the same time, from 1"`
	Approvals         Value[bool]              `hcl:"approvals=false" doc:"true lets people approve in the tracker"`
	Proposals         Value[bool]              `hcl:"proposals=false" doc:"true files what agents discover"`
	GC                Value[bool]              `hcl:"gc=false" doc:"true lets bd gc run after a push of many beads, which makes its database small and quick again"`
}

var trackerBlock = &block{of: (*Tracker)(nil), name: "tracker", label: "kind", doc: "mirrors a run into an issue tracker"}

func (t *Tracker) check(r *reader) {
	if t.Name != "bd" {
		r.d.diags.Add(diag.Newf("policy-invalid-value", t.Range, "unknown tracker %s", quoted(t.Name)).
			WithDetail("The one tracker that ralph knows is bd. Write tracker \"bd\" { … }."))
	}
}
