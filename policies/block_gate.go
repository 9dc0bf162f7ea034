package policies

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/ralph-compiler/ralph/diag"
)

// Gate is the block `gate "n"`: something that judges an attempt.
type Gate struct {
	Decl
	Kind         Value[string]            `hcl:"kind" enum:"agent command compiles human outcome review" doc:"command, agent, review, human, outcome or (planning mode) compiles; left out, it follows from the other attributes"`
	Run          Value[string]            `hcl:"run" with:"run shell" doc:"the shell command that must succeed, such as \"go test ./...\""` // shell command; may hold ${run.…}
	Env          Value[map[string]string] `hcl:"env=" with:"run" doc:"variables that the command gets, as { NAME = \"value\" }"`
	Secrets      Value[[]string]          `hcl:"secrets" ref:"secret" doc:"the secrets that the command gets, such as [secret.DATABASE_URL]"`
	Expect       Expect                   `hcl:"expect" doc:"what a command must do; all must hold"`
	Agent        Value[string]            `hcl:"agent" ref:"agent" doc:"the agent that judges, such as agent.reviewer"`
	Capabilities Value[[]string]          `hcl:"capabilities=" doc:"what the agent must be able to do, instead of its name"` // instead of an agent by name
	Tags         Value[[]string]          `hcl:"tags=" doc:"words that the agent must carry"`
	Model        Value[string]            `hcl:"model" ref:"model" doc:"an alias or the provider's name of a model"`
	Prompt       Value[string]            `hcl:"prompt" with:"run" doc:"what the agent is told to look for"`                                                                         // may hold ${run.…}
	Sees         Value[[]string]          `hcl:"sees=" enum:"acceptance diff plan prompt tasks worktree" doc:"what the agent sees: acceptance, diff, plan, prompt, tasks, worktree"` // acceptance, diff, …
	InputSchema  Value[json.RawMessage]   `hcl:"input_schema" doc:"a JSON Schema of what the agent gets"`                                                                            // compact, keys sorted
	OutputSchema Value[json.RawMessage]   `hcl:"output_schema" doc:"a JSON Schema of what the agent answers, such as jsonfile(\"schemas/qa.json\")"`                                 // compact, keys sorted; of agent and review gates always there
	Require      Value[map[string]string] `hcl:"require" doc:"what fields of the answer must be for a pass, such as { coverage_percent = \">= 80\" }"`                               // in the one spelling of internal/condition
	Promise      Value[string]            `hcl:"promise" doc:"the text that the agent's last message must contain"`
	NoErrors     Value[bool]              `hcl:"no_errors=false" doc:"true asks for an outcome without errors"`
	Approvers    Value[[]string]          `hcl:"approvers=" doc:"who may approve, such as [\"ada\", \"bob\"]"`
	OnTimeout    Value[string]            `hcl:"on_timeout=fail" enum:"fail stop" doc:"fail or stop"`
	TimeoutMS    Value[int64]             `hcl:"timeout" is:"duration" doc:"how long it may take, such as \"10m\""` // the kind's default if not Set; 0: none
	OnFailure    Value[string]            `hcl:"on_failure=retry" enum:"continue retry stop" doc:"retry, stop or continue"`
	Protect      Value[[]string]          `hcl:"protect=" is:"globs" doc:"globs of files that an attempt may not change, such as [\"**/*_test.go\"]"`
	ProtectNew   Value[bool]              `hcl:"protect_new=true" doc:"false forbids new files that match protect"`
	Evidence     Value[bool]              `hcl:"evidence=false" doc:"true keeps the output as evidence when it passes"`
	RedFirst     Value[bool]              `hcl:"red_first=false" doc:"true asks that the gate fails before the work"`
	Baseline     Value[string]            `hcl:"baseline" enum:"green" doc:"green lets nothing start while the gate is red on the base"` // green: nothing starts while it is red on the base
	Sandbox      Value[string]            `hcl:"sandbox" ref:"sandbox" doc:"what its command or agent can reach, such as sandbox.strict"`
	Network      Value[[]string]          `hcl:"network" doc:"the hosts that it may reach, such as [\"example.com\"]; left out: none for a command, \"model\" for an agent"`

	Dynamic bool       // mentions node.*: use For
	Files   []FileRead // filled by For for a dynamic gate

	source *source
	broken bool // something was written and is wrong: reported, not missing
}

// Expect says what a command must do for its gate to pass.
type Expect struct {
	ExitCode       Value[int]    `hcl:"exit_code" min:"0" max:"255" doc:"the exit code, 0 to 255"`
	StdoutContains Value[string] `hcl:"stdout_contains" doc:"text that standard output contains"`
	StderrContains Value[string] `hcl:"stderr_contains" doc:"text that standard error contains"`
	Range          diag.Range
}

var gateBlock = &block{
	of:   (*Gate)(nil),
	name: "gate", label: "name", node: true,
	doc:    "something that judges an attempt",
	attrs:  []attr{descriptionAttr},
	blocks: []*block{outputBlock},
}

// attributes that mean something for one kind of gate only.
var gateKinds = map[string][]string{
	"run": {"command"}, "env": {"command"}, "secrets": {"command"}, "expect": {"command"}, "red_first": {"command"}, "baseline": {"command"},
	"agent": {"agent", "review"}, "capabilities": {"agent", "review"}, "tags": {"agent", "review"}, "model": {"agent", "review"},
	"prompt": {"agent", "review"}, "sees": {"agent", "review"}, "input_schema": {"agent", "review"},
	"output_schema": {"agent", "review"}, "output": {"agent", "review"}, "require": {"agent", "review"},
	"promise": {"outcome"}, "no_errors": {"outcome"},
	"approvers": {"human"}, "on_timeout": {"human"},
	"sandbox": {"agent", "command", "review"}, "network": {"agent", "command", "review"},
}

// gate decodes a block `gate "n"`, for all nodes or, when d.view is set, for one.
func (d *decoder) gate(b *hcl.Block) *Gate {
	d.dynamic = false
	r := d.reader(b)
	g := &Gate{}
	r.fill(g)
	withoutAt(g.Approvers.V)
	r.checkEnv("env", g.Env)
	r.checkHosts(g.Network)
	if g.Kind.V == "" && !g.Kind.Set {
		g.Kind = Value[string]{V: r.guessKind(), Origin: "default"}
	}
	r.gateOutput(g)
	r.require(g)
	r.unusedByKind(g)
	for name, set := range map[string]bool{"kind": g.Kind.Set, "run": g.Run.Set, "agent": g.Agent.Set, "approvers": g.Approvers.Set, "promise": g.Promise.Set, "no_errors": g.NoErrors.Set} {
		g.broken = g.broken || r.attrs[name] != nil && !set
	}
	g.Dynamic = d.dynamic
	if g.Dynamic && d.view == noView {
		g.source = &source{block: b, scope: d.scope, src: d.src, builtin: d.builtin, where: d.where}
	}
	return g
}

// guessKind says what a gate is from what it has.
func (r *reader) guessKind() string {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return r.attrs[n] != nil })
	}
	switch {
	case has("run"):
		return "command"
	case has("agent", "prompt", "output_schema", "capabilities", "require") || r.block("output") != nil:
		return "agent"
	case has("approvers"):
		return "human"
	case has("promise", "no_errors"):
		return "outcome"
	}
	return "command"
}

// unusedByKind warns about what the gate's kind does not look at.
func (r *reader) unusedByKind(g *Gate) {
	kind := g.Kind.V
	if kind == "" {
		return
	}
	for _, name := range sortedKeys(gateKinds) {
		var at diag.Range
		if a := r.attrs[name]; a != nil {
			at = r.d.rng(a.NameRange)
		} else if b := r.block(name); b != nil {
			at = r.d.rng(b.TypeRange)
		} else {
			continue
		}
		if slices.Contains(gateKinds[name], kind) {
			continue
		}
		r.d.diags.Add(diag.Newf("gate-unused-attribute", at, "%q means nothing in a gate of kind %s", name, kind).
			WithDetail("Only gates of kind %s look at it. Remove it, or change the kind.", strings.Join(gateKinds[name], " and ")))
	}
}

// For returns the gate for one node: g itself unless it is Dynamic.
func (g *Gate) For(v *NodeView) (*Gate, diag.List) {
	if g.source == nil {
		return g, nil
	}
	d, fits := g.source.decoder(v)
	if !fits {
		return g, diag.List{costly(g.Range, spent)}
	}
	out := d.gate(g.source.block)
	if !out.TimeoutMS.Set && !g.TimeoutMS.Set {
		out.TimeoutMS = g.TimeoutMS
	}
	out.Files = d.scope.takeReads()
	return out, d.diags
}

// decoder returns a decoder that knows the node, and whether there is something left
// to use it.
func (s *source) decoder(v *NodeView) (*decoder, bool) {
	if !s.scope.meter.use(blockCost) {
		return nil, false
	}
	s.scope.takeReads()
	return &decoder{scope: s.scope, src: s.src, builtin: s.builtin, where: s.where, view: nodeValue(v)}, true
}

// checkGate reports gates that cannot give a verdict.
func (s *Set) checkGate(d *decoder, g *Gate) {
	if g.broken {
		return
	}
	switch {
	case g.RedFirst.V:
		d.neverOnBase(g, "this one has to fail before the work (red_first)")
	case g.Dynamic:
		d.neverOnBase(g, "this one depends on the sprint (node)")
	case ofSprint(g.Run.V), slices.ContainsFunc(slices.Collect(maps.Values(g.Env.V)), ofSprint):
		d.neverOnBase(g, "this one depends on the sprint (run, RALPH_NODE and the like)")
	}
	switch g.Kind.V {
	case "command":
		if g.Run.Set && (strings.TrimSpace(g.Run.V) != "" && g.Run.V != "tests" || g.Dynamic) {
			return
		}
		at := g.Range
		if g.Run.Set {
			at = g.Run.Range
		}
		dg := diag.Newf("gate-without-command", at, "gate %s has no command", quoted(g.Name))
		if found := DetectTests(s.project); len(found) > 0 {
			f := found[0]
			dg = dg.WithDetail("A command gate passes when its command succeeds. The project has %s (%s). Write run = %q.", f.File, f.Tool, f.Command)
			if g.Run.Set && d.sourceIs(at, `"`+g.Run.V+`"`) {
				dg = dg.WithFix(at, fmt.Sprintf("%q", f.Command))
			}
		} else {
			dg = dg.WithDetail("A command gate passes when its command succeeds, and no test framework was found in the project. Write run = \"COMMAND\".")
		}
		d.diags.Add(dg)
	case "human":
		if len(g.Approvers.V) == 0 && !s.anyApprovers() && !g.Dynamic {
			d.diags.Add(diag.Newf("gate-without-approver", g.Range, "nobody can approve gate %s", quoted(g.Name)).
				WithDetail("A human gate waits for one of its approvers. Write approvers = [\"NAME\"] here or in hitl { }."))
		}
	case "outcome":
		if !g.Promise.Set && !g.NoErrors.V && !g.Dynamic {
			d.diags.Add(diag.Newf("gate-without-verdict", g.Range, "gate %s checks nothing", quoted(g.Name)).
				WithDetail("A gate of kind outcome looks at what the agent reported. Write promise = \"DONE\" or no_errors = true."))
		}
	case "agent":
		if !g.Agent.Set && !g.Capabilities.Set {
			d.diags.Add(diag.Newf("gate-without-verdict", g.Range, "gate %s has no agent", quoted(g.Name)).
				WithDetail("An agent gate is judged by an agent. Write agent = agent.NAME, or capabilities = [\"review\"]."))
		}
	}
}

// ofSprint reports whether a command, or a variable of it, says which sprint it judges.
func ofSprint(text string) bool {
	return strings.Contains(strings.ReplaceAll(text, "$${run.", ""), "${run.") ||
		slices.ContainsFunc([]string{"RALPH_NODE", "RALPH_ID", "RALPH_STEP", "RALPH_ATTEMPT", "RALPH_BRANCH"}, func(v string) bool { return strings.Contains(text, v) })
}

// neverOnBase reports a gate that has to be green on the base and is not tried there.
func (d *decoder) neverOnBase(g *Gate, why string) {
	if g.Baseline.Set {
		d.diags.Add(diag.Newf("gate-never-on-base", g.Baseline.Range, "gate %s is never tried on the base", quoted(g.Name)).
			WithDetail("Before a run, gates of the policy are tried on the base that say the same of every sprint, and %s. Remove baseline, or make it a gate of its own.", why))
	}
}

// anyApprovers reports whether hitl { } names approvers, at top level or in some
// policy: which policy a human gate meets is known per node only.
func (s *Set) anyApprovers() bool {
	named := func(p *Policy) bool { return len(p.Settings.HITL.Approvers.V) > 0 }
	return len(s.Settings.HITL.Approvers.V) > 0 || slices.ContainsFunc(slices.Collect(maps.Values(s.Policies)), named)
}
