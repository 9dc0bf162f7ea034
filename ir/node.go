package ir

import "encoding/json"

// Kind of a node.
type Kind string

// Kinds.
const (
	Work     Kind = "work"
	Merge    Kind = "merge"
	GateKind Kind = "gate"
	Manual   Kind = "manual"
)

// ExcludedLabel is the label that leaves a node to people, where the policy has no
// other word for it.
const ExcludedLabel = "ashep:excluded"

// Node is a unit of work: one sprint.
type Node struct {
	ID         NodeID                     `json:"id"`
	Key        Key                        `json:"key"`
	Kind       Kind                       `json:"kind"`
	Done       bool                       `json:"done"` // the plan says so; apply does not run it
	Title      string                     `json:"title"`
	Phase      string                     `json:"phase"`   // id of its phase, "3a"
	Section    string                     `json:"section"` // heading path: "## Phase 1: A > ### Sprint 1.2: B"
	Goal       string                     `json:"goal"`
	Type       string                     `json:"type"`
	Priority   int                        `json:"priority"` // 0 (critical) to 4 (minimal)
	Lane       string                     `json:"lane"`
	Labels     []string                   `json:"labels"`
	Implements []string                   `json:"implements"`
	After      []Edge                     `json:"after"`  // sorted by key, numerically, then type
	Merges     []Key                      `json:"merges"` // the blocks predecessors, if there are two or more
	Git        Git                        `json:"git"`
	Scope      Scope                      `json:"scope"`
	Tasks      []Task                     `json:"tasks"`
	Acceptance []string                   `json:"acceptance"`
	Policy     string                     `json:"policy"`
	Steps      []Step                     `json:"steps"`
	Limits     NodeLimits                 `json:"limits"`
	Complexity Complexity                 `json:"complexity"`
	Prompt     []string                   `json:"prompt"`
	Ext        map[string]json.RawMessage `json:"ext"` // unknown keys of foreign formats, by format
	Digest     NodeDigest                 `json:"digest"`
	HITL       *NodeHITL                  `json:"hitl,omitempty"`    // where it differs from the run's
	Offline    bool                       `json:"offline,omitempty"` // in its sandboxes there is no host but the model's
}

// NodeHITL is what happens when a person writes in a session of the node's agents.
type NodeHITL struct {
	OnHumanMessage string `json:"on_human_message"` // pause, review, cooldown
	IdleCooldownMS int64  `json:"idle_cooldown_ms"`
}

// HITLOf is what holds for a node: the run's, and what is its own.
func (e *Epic) HITLOf(n *Node) HITL {
	h := e.Run.HITL
	if n != nil && n.HITL != nil {
		h.OnHumanMessage, h.IdleCooldownMS = n.HITL.OnHumanMessage, n.HITL.IdleCooldownMS
	}
	return h
}

// EdgeType says what an edge means; only Blocks schedules.
type EdgeType string

// Edge types.
const (
	Blocks         EdgeType = "blocks"
	ParentChild    EdgeType = "parent-child"
	Related        EdgeType = "related"
	DiscoveredFrom EdgeType = "discovered-from"
)

// Edge is a dependency on another node.
type Edge struct {
	Key  Key      `json:"key"`
	From string   `json:"from"` // number, prose, explicit, scope, import
	Type EdgeType `json:"type"`
}

// Git names the node's branch, its literal base and its worktree.
type Git struct {
	Branch   string `json:"branch"`
	Base     string `json:"base"`
	Worktree string `json:"worktree"` // "../{repo}-worktrees/…"; {repo} stays open until apply
}

// Scope is what the node may change (Owns), expects to change (Files) and reads.
type Scope struct {
	Owns  []string `json:"owns"`
	Files []string `json:"files"`
	Reads []string `json:"reads"`
}

// Task is an item of the sprint's task list.
type Task struct {
	Text   string   `json:"text"`
	Detail []string `json:"detail"`
}

// Step is one workflow stage inside a node.
type Step struct {
	Name         string     `json:"name" digest:"work"`
	Agent        string     `json:"agent" digest:"work"` // "" in a step that only a person does
	Fallback     []string   `json:"fallback"`            // agents to take instead, in order
	Why          string     `json:"why"`                 // why this agent
	Capabilities []string   `json:"capabilities"`
	Model        string     `json:"model" digest:"work"`
	Access       string     `json:"access" digest:"work"`  // read, write
	Session      string     `json:"session" digest:"work"` // fresh, resume
	Note         string     `json:"note" digest:"work"`    // the plan's note behind the agent
	Gates        []string   `json:"gates"`
	GateMode     string     `json:"gate_mode"` // parallel, ordered
	Limits       StepLimits `json:"limits"`
	Retry        Retry      `json:"retry"`
	Stall        Stall      `json:"stall"`
	OnFailure    string     `json:"on_failure"` // keep, reset
	Next         string     `json:"next"`       // step that a fail goes to
	AllowEmpty   bool       `json:"allow_empty"`
	Sandbox      string     `json:"sandbox" digest:"work"`          // that its agent runs in; "none" or "": none. Of it an image is in the digest
	Prompt       []string   `json:"prompt,omitempty" digest:"work"` // what its agent is told instead of the node's prompt
}

// StepLimits are the four separate limits and the time of one attempt.
type StepLimits struct {
	Iterations    int   `json:"iterations"`     // prompts inside an attempt
	Attempts      int   `json:"attempts"`       // agent → gates cycles
	Breaker       int   `json:"breaker"`        // same failure in a row
	RunnerRetries int   `json:"runner_retries"` // crash, network: never counted as attempts
	TimeoutMS     int64 `json:"timeout_ms"`     // of one attempt; the agent's multiplier is applied
}

// Retry says how long to wait before the next attempt.
type Retry struct {
	Backoff       string `json:"backoff"` // fixed, linear, exponential
	InitialMS     int64  `json:"initial_ms"`
	MaxMS         int64  `json:"max_ms"`
	JitterPercent int    `json:"jitter_percent"`
}

// Stall says what happens when an agent shows no activity.
type Stall struct {
	AfterMS int64  `json:"after_ms"` // 0: never
	Action  string `json:"action"`   // fail, retry, diagnose
	Agent   string `json:"agent"`
}

// NodeLimits are the limits of the node: those of its work step (the first that
// may write, else the first), and what bounds the node as a whole.
type NodeLimits struct {
	StepLimits
	EstimateMS int64  `json:"estimate_ms"`
	Deadline   string `json:"deadline"` // a day or a time, as Deadline reads it; "" if none
	Budget     Budget `json:"budget"`
}

// Complexity is the level and the word that it was recognised by.
type Complexity struct {
	Level string `json:"level"`
	Word  string `json:"word"`
	From  string `json:"from"` // keyword, plan, policy, flag, default
}

// NodeDigest says what a node's work and its judgement depend on.
type NodeDigest struct {
	Work  string `json:"work"`
	Judge string `json:"judge"`
}
