package policies

import (
	"errors"

	"github.com/ralph-compiler/ralph/diag"
)

var errPositive = errors.New("a number above 0 is needed")

// Agent is the block `agent "n"`.
type Agent struct {
	Decl
	Path              Value[string]   `hcl:"path" is:"path" doc:"an agent file of the project, such as \".claude/agents/dev.md\""` // agent file, relative to the project
	Slug              Value[string]   `hcl:"slug" doc:"the runner's own agent of that name"`                                       // the runner's own agent
	Runner            Value[string]   `hcl:"runner=claude" ref:"runner" doc:"what executes it, such as runner.claude"`
	Model             Value[string]   `hcl:"model" ref:"model" doc:"an alias or the provider's name of a model"`                            // alias or model id
	Capabilities      Value[[]string] `hcl:"capabilities=" doc:"what it can do, such as [\"implement\", \"test\"]; \"all\" for everything"` // "all" is written out
	Access            Value[string]   `hcl:"access=read" enum:"read write" doc:"read or write"`                                             // read, write (default read: an agent that may write says so)
	Tags              Value[[]string] `hcl:"tags=" doc:"words that steps may ask for"`
	Priority          Value[int]      `hcl:"priority=0" min:"-1000" max:"1000" doc:"a whole number; the higher one is chosen"`           // higher wins
	Speed             Value[int]      `hcl:"speed=0" min:"-1000" max:"1000" doc:"a whole number; the faster one is chosen among equals"` // higher is faster; between agents of equal priority
	TimeoutMultiplier Value[float64]  `hcl:"timeout_multiplier=1" min:"0" max:"100" doc:"a number that the step's timeout is multiplied by"`
	Session           Value[string]   `hcl:"session" enum:"fresh resume" doc:"fresh or resume"`
	Human             Value[bool]     `hcl:"human=false" doc:"true for a person"`
	Fallback          Value[[]string] `hcl:"fallback=" ref:"agent" doc:"agents to take instead, in order"`
	Active            Value[bool]     `hcl:"active=true" doc:"false keeps it from being chosen"`
	Expect            TurnCost        `hcl:"expect" doc:"what a turn is expected to cost, while none has said"`
}

// TurnCost is the block `expect {}`: what a turn of an agent is expected to cost.
// Unset figures are unknown; 0 says that a turn costs nothing.
type TurnCost struct {
	Tokens   Value[int64] `hcl:"tokens" doc:"tokens, such as 60000"`
	USDMicro Value[int64] `hcl:"usd" is:"usd" doc:"US dollars, such as 0.40; 0 if a turn costs nothing"`
	Range    diag.Range   // of the block; zero without one
}

var agentBlock = &block{of: (*Agent)(nil), name: "agent", label: "name", doc: "who does work or judges it", attrs: []attr{descriptionAttr}}

func (c *TurnCost) check(r *reader) {
	if len(r.attrs) == 0 {
		r.d.diags.Add(diag.New("policy-invalid-value", r.at, "the expectation says nothing").
			WithDetail("Without a figure the cost of a turn stays unknown. Write usd = 0.40, tokens = 60000 or both, or remove the block."))
		c.Range = diag.Range{} // one complaint is enough
	}
}

func (a *Agent) check(r *reader) {
	if a.Human.V && !a.Expect.Range.IsZero() {
		r.d.diags.Add(diag.New("policy-invalid-value", a.Expect.Range, "a person has no expected cost").
			WithDetail("Budgets count what programs report; what people do takes none of them. Remove the block, or human = true."))
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
}
