package policies

import (
	"errors"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
)

var errPositive = errors.New("a number above 0 is needed")

// Agent is the block `agent "n"`.
type Agent struct {
	Decl
	Path              Value[string] // agent file, relative to the project
	Slug              Value[string] // the runner's own agent
	Runner            Value[string]
	Model             Value[string]   // alias or model id
	Capabilities      Value[[]string] // "all" is written out
	Access            Value[string]   // read, write (default read: an agent that may write says so)
	Tags              Value[[]string]
	Priority          Value[int] // higher wins
	Speed             Value[int] // higher is faster; between agents of equal priority
	TimeoutMultiplier Value[float64]
	Session           Value[string] // fresh, resume
	Human             Value[bool]
	Fallback          Value[[]string]
	Active            Value[bool]
	Expect            TurnCost
}

// TurnCost is the block `expect {}`: what a turn of an agent is expected to cost.
// What is not set is unknown; 0 says that a turn costs nothing.
type TurnCost struct {
	Tokens   Value[int64]
	USDMicro Value[int64]
}

var agentBlock = &block{
	name: "agent", label: "name",
	doc: "who does work or judges it",
	attrs: []attr{
		descriptionAttr,
		{name: "path", kind: kPath, doc: "an agent file of the project, such as \".claude/agents/dev.md\""},
		{name: "slug", kind: kString, doc: "the runner's own agent of that name"},
		{name: "runner", kind: kRef, ref: "runner", doc: "what executes it, such as runner.claude"},
		{name: "model", kind: kRef, ref: "model", doc: "an alias or the provider's name of a model"},
		{name: "capabilities", kind: kStrings, doc: "what it can do, such as [\"implement\", \"test\"]; \"all\" for everything"},
		{name: "access", kind: kEnum, enum: []string{"read", "write"}, doc: "read or write"},
		{name: "tags", kind: kStrings, doc: "words that steps may ask for"},
		{name: "priority", kind: kInt, min: -1000, max: 1000, doc: "a whole number; the higher one is chosen"},
		{name: "speed", kind: kInt, min: -1000, max: 1000, doc: "a whole number; the faster one is chosen among equals"},
		{name: "timeout_multiplier", kind: kFloat, min: 0, max: 100, doc: "a number that the step's timeout is multiplied by"},
		{name: "session", kind: kEnum, enum: []string{"fresh", "resume"}, doc: "fresh or resume"},
		{name: "human", kind: kBool, doc: "true for a person"},
		{name: "fallback", kind: kRefs, ref: "agent", doc: "agents to take instead, in order"},
		{name: "active", kind: kBool, doc: "false keeps it from being chosen"},
	},
	blocks: []*block{{name: "expect", doc: "what a turn is expected to cost, while none has said", attrs: []attr{
		{name: "usd", kind: kUSD, doc: "US dollars, such as 0.40; 0 if a turn costs nothing"},
		{name: "tokens", kind: kInt, doc: "tokens, such as 60000"},
	}}},
}

// DefaultRunner is the runner of agents that name none.
const DefaultRunner = "claude"

func (r *reader) agent(decl Decl) *Agent {
	a := &Agent{
		Decl:              decl,
		Path:              r.file("path"),
		Slug:              r.str("slug"),
		Runner:            or(r.ref("runner"), DefaultRunner),
		Model:             r.ref("model"),
		Capabilities:      or(r.strs("capabilities"), []string{}),
		Access:            or(r.enum("access"), "read"),
		Tags:              or(r.strs("tags"), []string{}),
		Priority:          or(r.integer("priority"), 0),
		Speed:             or(r.integer("speed"), 0),
		TimeoutMultiplier: or(r.float("timeout_multiplier"), 1),
		Session:           r.enum("session"),
		Human:             or(r.boolean("human"), false),
		Fallback:          or(r.refs("fallback"), []string{}),
		Active:            or(r.boolean("active"), true),
	}
	if e := r.one("expect"); e != nil {
		a.Expect = TurnCost{Tokens: e.long("tokens"), USDMicro: e.usd("usd")}
		switch {
		case len(e.attrs) == 0:
			r.d.diags.Add(diag.New("policy-invalid-value", e.at, "the expectation says nothing").
				WithDetail("Without a figure the cost of a turn stays unknown. Write usd = 0.40, tokens = 60000 or both, or remove the block."))
		case a.Human.V:
			r.d.diags.Add(diag.New("policy-invalid-value", e.at, "a person has no expected cost").
				WithDetail("Budgets count what programs report; what people do takes none of them. Remove the block, or human = true."))
		}
	}
	if a.TimeoutMultiplier.Set && a.TimeoutMultiplier.V <= 0 {
		r.invalid("timeout_multiplier", a.TimeoutMultiplier.Range, errPositive)
		a.TimeoutMultiplier.V = 1
	}
	if a.Path.Set && a.Slug.Set {
		r.d.diags.Add(diag.New("policy-invalid-value", a.Slug.Range, "an agent has a path or a slug, not both").
			WithDetail("path is a file with instructions, slug an agent that the runner knows itself. Remove one of them.").
			WithRelated(a.Path.Range, "the path"))
	}
	return a
}

// all reports whether a list of capabilities stands for every one.
func all(capabilities []string) bool { return slices.Contains(capabilities, "all") }
