package ir

import "encoding/json"

// Version is the value of the top-level field "ir".
const Version = "ralph.ir/v1"

// NodeID is the stable identity of a node, the id of its bead: "bd-a1b2c3".
type NodeID string

// Key is the id of the sprint in its plan, "1.2a": unique in an epic, and what
// people type.
type Key string

// Epic is the compiled graph of one plan.
type Epic struct {
	IR        string             `json:"ir"` // Version
	Epic      Header             `json:"epic"`
	Run       Run                `json:"run"`
	Agents    map[string]Agent   `json:"agents"`
	Gates     map[string]Gate    `json:"gates"`
	Runners   map[string]Runner  `json:"runners"`
	Models    map[string]Model   `json:"models"`
	Secrets   map[string]Secret  `json:"secrets"`
	Sandboxes map[string]Sandbox `json:"sandboxes"`
	Waivers   []Waiver           `json:"waivers"`
	Files     []FileDigest       `json:"files"` // read by policy expressions, sorted by path
	Nodes     []Node             `json:"nodes"` // Kahn's order, smallest key first
	Digest    string             `json:"digest"`
}

// Header says which plan the epic comes from and which branches it concerns.
type Header struct {
	ID          NodeID      `json:"id"`
	Slug        string      `json:"slug"`
	Title       string      `json:"title"`
	Description []string    `json:"description"` // lines of prose below the title
	Plan        string      `json:"plan"`
	Base        string      `json:"base"`   // branch that roots start from; "" is HEAD when first applied
	Target      string      `json:"target"` // branch that a pull request asks to be merged into
	Owner       string      `json:"owner"`
	Labels      []string    `json:"labels"`
	Complexity  string      `json:"complexity"` // the highest of its nodes
	Integration Integration `json:"integration"`
}

// Plans is the plan that an epic has written, "" if it does what a plan says: of a draft
// a gate compiles it.
func (e *Epic) Plans() string {
	for _, g := range e.Gates {
		if g.Kind == "compiles" {
			return g.Plan
		}
	}
	return ""
}

// Integration says how results come together.
type Integration struct {
	Branch        string   `json:"branch"` // "" in mode none
	Mode          string   `json:"mode"`   // dag, branch, wait, none: nothing is joined
	PR            string   `json:"pr"`     // none, plan, node
	Gates         []string `json:"gates"`
	Stated        []string `json:"stated,omitempty"` // of Gates, those that policy or plan list: they judge whatever is joined, the others while a node that has them is
	ConflictAgent string   `json:"conflict_agent"`
	Sandbox       string   `json:"sandbox,omitempty"` // of its gates, instead of their own, and of ConflictAgent
	Network       []string `json:"network,omitempty"` // of its command gates, instead of their own
}

// Run holds what concerns a whole run: limits, people, the place where work is done.
type Run struct {
	Concurrency Concurrency `json:"concurrency"`
	Budget      Budget      `json:"budget"`
	OnExceed    string      `json:"on_exceed"` // pause, stop
	HITL        HITL        `json:"hitl"`
	Git         GitSettings `json:"git"`
	Worktree    Worktree    `json:"worktree"`
	Notify      []Notify    `json:"notify"`
	Tracker     *Tracker    `json:"tracker"`  // null: none
	Dialect     string      `json:"dialect"`  // of the plan, for annotation and why
	Lanes       []string    `json:"lanes"`    // declared
	Policies    []string    `json:"policies"` // policy files, sorted
}

// Concurrency limits what runs at the same time.
type Concurrency struct {
	Nodes     int            `json:"nodes"`
	PerRunner map[string]int `json:"per_runner"`
	PerLane   map[string]int `json:"per_lane"`
}

// Budget bounds what work may cost; 0 is no limit.
type Budget struct {
	Tokens   int64 `json:"tokens"`
	USDMicro int64 `json:"usd_micro"` // millionths of a US dollar
	WallMS   int64 `json:"wall_ms"`
}

// HITL says where people come in.
type HITL struct {
	Level          string            `json:"level"` // none, gates, every-node
	Plan           string            `json:"plan"`  // auto, required
	Approvers      []string          `json:"approvers"`
	Labels         map[string]string `json:"labels"`
	OnHumanMessage string            `json:"on_human_message"` // pause, review, cooldown
	IdleCooldownMS int64             `json:"idle_cooldown_ms"`
}

// GitSettings concern all nodes; names of branches stand on the nodes.
type GitSettings struct {
	Cleanup string `json:"cleanup"` // never, on_success
	Commit  string `json:"commit"`  // each, squash
	Remote  string `json:"remote"`

	Forge    string `json:"forge,omitempty"`     // gh, glab, none: what makes pull requests; left out: it follows from the remote's host
	OnTamper string `json:"on_tamper,omitempty"` // note: a run does not fail because others changed settings, hooks or refs; left out: it does
}

// MaxCommit is what an attempt may add where an epic does not say it, in bytes.
const MaxCommit = 256_000_000

// Worktree says how a worktree is prepared.
type Worktree struct {
	Setup      []string          `json:"setup" digest:"work"`
	Copy       []string          `json:"copy" digest:"work"`
	Env        map[string]string `json:"env" digest:"work"`
	MinFree    int64             `json:"min_free"`             // in bytes
	MaxCommit  int64             `json:"max_commit,omitempty"` // in bytes, of the files that an attempt adds or changes; left out: 256 MB
	Submodules bool              `json:"submodules" digest:"work"`
	Layout     string            `json:"layout"`                          // worktree, clone
	Secrets    []string          `json:"secrets,omitempty" digest:"work"` // that setup commands get
	Sandbox    string            `json:"sandbox,omitempty"`               // that setup commands run in; "none" or left out: none
	Network    []string          `json:"network,omitempty"`               // what they reach there
}

// Notify runs a command on events.
type Notify struct {
	On      []string          `json:"on"`
	Run     []string          `json:"run"`
	Env     map[string]string `json:"env,omitempty"`
	Secrets []string          `json:"secrets,omitempty"`
}

// Tracker mirrors a run into an issue tracker.
type Tracker struct {
	Kind              string            `json:"kind"` // bd
	Prefix            string            `json:"prefix"`
	Mirror            []string          `json:"mirror"`
	Labels            map[string]string `json:"labels"`
	Actor             string            `json:"actor"`
	PollMS            int64             `json:"poll_ms"`
	MaxConcurrentRuns int               `json:"max_concurrent_runs"`
	Approvals         bool              `json:"approvals"`
	Proposals         bool              `json:"proposals"`
	GC                bool              `json:"gc"`
}

// Agent is one who does work or judges it. An implicit agent (named by a plan,
// declared by no policy) has neither model nor access here: those as used stand
// on the step or the gate.
type Agent struct {
	Path         string   `json:"path"`                 // agent file; "" if none
	Digest       string   `json:"digest" digest:"work"` // of the agent file: "sha256:…"
	Slug         string   `json:"slug" digest:"work"`   // the runner's own agent
	Runner       string   `json:"runner"`
	Model        string   `json:"model"`
	Access       string   `json:"access"` // read, write, ""
	Capabilities []string `json:"capabilities"`
	Tags         []string `json:"tags"`
	Session      string   `json:"session"` // fresh, resume, ""
	Human        bool     `json:"human" digest:"work"`
	Implicit     bool     `json:"implicit"`
	Expect       *Cost    `json:"expect,omitempty"` // of a turn, while no turn of it has said what it cost
}

// Cost is what a turn of an agent is expected to cost. A figure that is left out
// is unknown, which is never taken for nothing.
type Cost struct {
	Tokens   *int64 `json:"tokens,omitempty"`
	USDMicro *int64 `json:"usd_micro,omitempty"` // millionths of a US dollar
}

// Contract is the line of a gate's prompt below which the compiler says how to answer.
// Like all of the prompt it is in digest.judge: other words judge finished work again.
const Contract = "Answer with one JSON object and nothing behind it:"

// Gate judges an attempt. Fields that its kind does not use are empty.
type Gate struct {
	Kind         string            `json:"kind" digest:"judge"` // command, agent, review, human, outcome, compiles
	Run          string            `json:"run" digest:"judge"`
	Env          map[string]string `json:"env" digest:"judge"`
	Expect       Expect            `json:"expect" digest:"judge"`
	Agent        string            `json:"agent" digest:"judge"`
	Fallback     []string          `json:"fallback"` // agents to take instead, in order
	Why          string            `json:"why"`      // why this agent
	Model        string            `json:"model" digest:"judge"`
	Access       string            `json:"access" digest:"judge"`
	Prompt       []string          `json:"prompt" digest:"judge"`
	Sees         []string          `json:"sees" digest:"judge"`
	InputSchema  json.RawMessage   `json:"input_schema" digest:"judge"`  // null: none
	OutputSchema json.RawMessage   `json:"output_schema" digest:"judge"` // null: none
	Promise      string            `json:"promise" digest:"judge"`
	NoErrors     bool              `json:"no_errors" digest:"judge"`
	Approvers    []string          `json:"approvers" digest:"judge"`
	OnTimeout    string            `json:"on_timeout"` // fail, stop
	TimeoutMS    int64             `json:"timeout_ms"`
	OnFailure    string            `json:"on_failure" digest:"judge"` // retry, stop, continue
	Protect      []string          `json:"protect" digest:"judge"`
	ProtectNew   bool              `json:"protect_new" digest:"judge"`
	Evidence     bool              `json:"evidence" digest:"judge"`
	RedFirst     bool              `json:"red_first" digest:"judge"`
	From         string            `json:"from"`                             // policy, plan, builtin
	Baseline     string            `json:"baseline,omitempty"`               // green: nothing starts while it is red on the base
	Secrets      []string          `json:"secrets,omitempty" digest:"judge"` // that its command gets
	Plan         string            `json:"plan,omitempty" digest:"judge"`    // of kind compiles, and review of a draft: the plan that is judged, relative to the project
	Policy       string            `json:"policy,omitempty" digest:"judge"`  // of kind compiles: digest of the policy files that it is judged by
	Sandbox      string            `json:"sandbox,omitempty"`                // that its command or agent runs in; "none" or left out: none
	Network      []string          `json:"network,omitempty"`                // what it reaches there
	Require      map[string]string `json:"require,omitempty" digest:"judge"` // field of the answer to condition, such as ">= 80": of those who judge, what a pass must have
}

// Expect says what a command must do for its gate to pass; all must hold.
type Expect struct {
	ExitCode       int    `json:"exit_code"`
	StdoutContains string `json:"stdout_contains"`
	StderrContains string `json:"stderr_contains"`
}

// Runner is what executes an agent.
type Runner struct {
	Kind        string            `json:"kind" digest:"work"` // command, claude, opencode, codex, acp
	Run         []string          `json:"run" digest:"work"`
	Prompt      string            `json:"prompt" digest:"work"` // stdin, file, arg
	Env         []string          `json:"env" digest:"work"`    // names let through
	Set         map[string]string `json:"set" digest:"work"`    // variables set
	Secrets     []string          `json:"secrets" digest:"work"`
	Outcome     string            `json:"outcome" digest:"work"` // optional, required
	Concurrent  int               `json:"concurrent"`
	RPM         int               `json:"rpm"`
	LimitedWhen *LimitedWhen      `json:"limited_when"` // null: never
}

// LimitedWhen recognises a rate limit in what a program printed.
type LimitedWhen struct {
	ExitCode *int   `json:"exit_code"`
	Output   string `json:"output"` // regular expression, optional group "until"
}

// Model is what an alias stands for.
type Model struct {
	ID       string `json:"id" digest:"work"`
	Provider string `json:"provider" digest:"work"`
	// Prices in millionths of a US dollar for a million tokens.
	PriceInput  int64 `json:"price_input"`
	PriceOutput int64 `json:"price_output"`
}

// Secret names the variable that a secret is read from when running.
type Secret struct {
	Env string `json:"env"`
}

// Sandbox says what agents, gates and setup can reach, as the policy has it: paths begin
// with / or ~/, and limits are numbers but for those of a container.
type Sandbox struct {
	Kind     string            `json:"kind"` // auto, namespaces, bwrap, landlock, none; container and seatbelt are not built yet
	Write    []string          `json:"write"`
	Read     []string          `json:"read"`
	Hide     []string          `json:"hide"`               // below one of Read or Write
	Network  []string          `json:"network"`            // "example.com", "*.example.com", either with a port; "model": what the runner needs; "*": any public host
	Limits   map[string]string `json:"limits"`             // memory, tmp and file in bytes, cpu in percent of one processor, pids; image
	Cache    []string          `json:"cache,omitempty"`    // directories of the user that are filled without a change to them
	Services []string          `json:"services,omitempty"` // "127.0.0.1:5432"
	Nest     bool              `json:"nest,omitempty"`     // programs inside may make sandboxes of their own
	Accept   string            `json:"accept,omitempty"`   // landlock: the least that auto may take; left out: namespaces or bwrap
	Required bool              `json:"required,omitempty"` // nobody may take less on one machine
}

// Waiver is an accepted breach of a rule.
type Waiver struct {
	Rule   string `json:"rule"`
	Node   Key    `json:"node"`
	Reason string `json:"reason"`
	Owner  string `json:"owner"`
	Until  string `json:"until"` // date, 2026-01-31
}

// FileDigest is a file that fed a value of the policy.
type FileDigest struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
	For    string `json:"for"` // the value: "gate.qa.output_schema"
}
