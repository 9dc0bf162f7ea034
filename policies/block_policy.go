package policies

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/glob"
)

// Policy is the block `policy "n"`: the steps of a workflow and the settings
// around them.
type Policy struct {
	Decl
	Default  Value[bool]
	Priority Value[int] // decides when several policies match; higher wins
	Match    *Match     // nil: only by name or as the default
	Steps    []*Step    // in order
	Settings Settings

	Dynamic bool       // mentions node.*: use For
	Files   []FileRead // filled by For for a dynamic policy

	source *source
	broken bool // something in it was reported: it is not empty
}

// Step is the block `step "s"` of a policy.
type Step struct {
	Decl
	StepSettings
}

// Match is the block `match {}`: all attributes that are set must fit; of a
// list one element is enough.
type Match struct {
	Phase      Value[[]string]
	Lane       Value[[]string]
	Label      Value[[]string]
	Type       Value[[]string]
	Complexity Value[[]string]
	Priority   Value[[]int]
	Paths      Value[[]string] // globs, against what the node owns and forecasts
	Range      diag.Range
}

// Approval is what a step or a plan says about a person's consent.
type Approval struct {
	Required  bool
	Approvers []string // without @
	WithinMS  int64    // 0: no limit
}

var policyBlock = &block{
	name: "policy", label: "name", node: true,
	doc: "a workflow: its steps in order, and the settings around them",
	attrs: []attr{
		descriptionAttr,
		{name: "default", kind: kBool, doc: "true for the policy that stands below every other"},
		{name: "priority", kind: kInt, min: -1000, max: 1000, doc: "a whole number; the higher one wins when several match"},
	},
	blocks: []*block{
		matchBlock, stepBlock, limitsBlock, budgetBlock, hitlBlock, gitBlock, worktreeBlock, integrationBlock, retryBlock, stallBlock,
	},
}

var matchBlock = &block{
	name: "match", doc: "which sprints the policy is for; all attributes must fit",
	attrs: []attr{
		{name: "phase", kind: kStrings, doc: "ids of phases, such as [\"3a\"]"},
		{name: "lane", kind: kStrings, doc: "lanes, such as [\"ui\"]"},
		{name: "label", kind: kStrings, doc: "labels; one of them is enough"},
		{name: "type", kind: kStrings, doc: "types, such as [\"bug\"]"},
		{name: "complexity", kind: kRefs, ref: "complexity", doc: "levels, such as [\"critical\"]"},
		{name: "priority", kind: kInts, min: 0, max: 4, doc: "priorities from 0 (critical) to 4 (minimal)"},
		{name: "paths", kind: kGlobs, doc: "globs against what the sprint owns, such as [\"web/**\"]"},
	},
}

var stepBlock = &block{
	name: "step", label: "name", many: true,
	doc: "one stage of the work",
	attrs: []attr{
		descriptionAttr,
		{name: "capabilities", kind: kStrings, doc: "what its agent must be able to do, such as [\"implement\"]"},
		{name: "tags", kind: kStrings, doc: "words that its agent must carry"},
		{name: "model", kind: kRef, ref: "model", doc: "an alias or the provider's name of a model"},
		{name: "agent", kind: kRef, ref: "agent", doc: "its agent, such as agent.dev"},
		{name: "access", kind: kEnum, enum: []string{"read", "write"}, doc: "read or write"},
		{name: "gates", kind: kRefs, ref: "gate", doc: "what judges it, such as [gate.unit]"},
		{name: "gate_mode", kind: kEnum, enum: []string{"ordered", "parallel"}, doc: "parallel or ordered"},
		{name: "timeout", kind: kDuration, min: 1, doc: `the time of one attempt, such as "20m"`},
		{name: "iterations", kind: kInt, min: 1, max: 1000, doc: "prompts inside an attempt, from 1"},
		{name: "breaker", kind: kInt, min: 1, max: 1000, doc: "the same failure in a row, from 1"},
		{name: "approval", kind: kApproval, doc: `true, a list of people, or "required from @a within 48h"`},
		{name: "sandbox", kind: kRef, ref: "sandbox", doc: "what its agent can reach, such as sandbox.strict"},
		{name: "session", kind: kEnum, enum: []string{"fresh", "resume"}, doc: "fresh or resume"},
		{name: "on_failure", kind: kEnum, enum: []string{"keep", "reset"}, doc: "keep or reset"},
		{name: "next", kind: kRef, ref: "step", doc: "the step that a fail goes to"},
		{name: "allow_empty", kind: kBool, doc: "true lets an attempt change nothing"},
	},
	blocks: []*block{retryBlock, stallBlock},
}

// policy decodes a block `policy "n"`, for all nodes or, when d.view is set, for
// one.
func (d *decoder) policy(b *hcl.Block) *Policy {
	d.dynamic = false
	path := "policy." + b.Labels[0]
	at := d.rng(b.DefRange)
	before := len(d.diags)
	r := d.open(policyBlock, b.Body, path, d.origin(path), at, true)
	p := &Policy{
		Decl:     Decl{Name: b.Labels[0], Range: at, Builtin: d.builtin},
		Default:  or(r.boolean("default"), false),
		Priority: or(r.integer("priority"), 0),
		Settings: r.settings(),
	}
	if m := r.one("match"); m != nil {
		p.Match = &Match{
			Phase: m.strs("phase"), Lane: m.strs("lane"), Label: m.strs("label"), Type: m.strs("type"),
			Complexity: m.refs("complexity"), Priority: m.integers("priority"), Paths: m.globs("paths"), Range: m.at,
		}
		if len(m.attrs) == 0 {
			d.diags.Add(diag.New("policy-missing-attribute", m.at, "match says nothing").
				WithDetail("An empty match fits every sprint. Write what must fit, or default = true for the policy that stands below every other."))
		}
	}
	p.Steps = r.steps()
	p.broken = len(d.diags) > before
	p.Dynamic = d.dynamic
	if p.Dynamic && d.view == noView {
		p.source = &source{block: b, scope: d.scope, src: d.src, builtin: d.builtin, where: d.where}
	}
	return p
}

// steps decodes the step blocks, in order.
func (r *reader) steps() []*Step {
	var out []*Step
	seen := map[string]diag.Range{}
	for _, b := range r.nested {
		if b.Type != "step" {
			continue
		}
		name, at := b.Labels[0], r.d.rng(b.DefRange)
		if first, again := seen[name]; again {
			r.d.twice("step", name, at, first)
			continue
		}
		seen[name] = at
		if !r.d.named("step", name, at) {
			continue
		}
		path := strings.TrimPrefix(r.path+".step."+name, ".")
		s := r.d.open(stepBlock, b.Body, path, r.d.origin(path), at, r.node)
		out = append(out, &Step{Decl: Decl{Name: name, Range: at, Builtin: r.d.builtin}, StepSettings: s.step()})
	}
	return out
}

// step reads the attributes and blocks of a step.
func (r *reader) step() StepSettings {
	s := StepSettings{
		Capabilities: r.strs("capabilities"),
		Tags:         r.strs("tags"),
		Model:        r.ref("model"),
		Agent:        r.ref("agent"),
		Access:       r.enum("access"),
		Gates:        r.refs("gates"),
		GateMode:     r.enum("gate_mode"),
		TimeoutMS:    r.duration("timeout"),
		Iterations:   r.integer("iterations"),
		Breaker:      r.integer("breaker"),
		Approval:     r.approval("approval"),
		Sandbox:      r.ref("sandbox"),
		Session:      r.enum("session"),
		OnFailure:    r.enum("on_failure"),
		Next:         r.ref("next"),
		AllowEmpty:   r.boolean("allow_empty"),
	}
	if x := r.one("retry"); x != nil {
		s.Retry = x.retry()
	}
	if x := r.one("stall"); x != nil {
		s.Stall = x.stall()
	}
	return s
}

// settings reads the blocks that stand at top level, in a policy and in a fence.
func (r *reader) settings() Settings {
	var s Settings
	with := func(typ string, f func(*reader)) {
		if r.b.block(typ) == nil {
			return
		}
		if x := r.one(typ); x != nil {
			f(x)
		}
	}
	with("limits", func(x *reader) { s.Limits = x.limits() })
	with("budget", func(x *reader) { s.Budget = x.budget() })
	with("hitl", func(x *reader) { s.HITL = x.hitl() })
	with("git", func(x *reader) { s.Git = x.git() })
	with("worktree", func(x *reader) { s.Worktree = x.worktree() })
	with("integration", func(x *reader) { s.Integration = x.integration() })
	with("retry", func(x *reader) { s.Retry = x.retry() })
	with("stall", func(x *reader) { s.Stall = x.stall() })
	return s
}

// For returns the policy as it is for one node: p itself unless it is Dynamic.
func (p *Policy) For(v *NodeView) (*Policy, diag.List) {
	if p.source == nil {
		return p, nil
	}
	d, fits := p.source.decoder(v)
	if !fits {
		return p, diag.List{costly(p.Range, spent)}
	}
	out := d.policy(p.source.block)
	out.Files = d.scope.takeReads()
	if len(out.Steps) == 0 { // the default policy has steps that it does not write
		out.Steps = p.Steps
	}
	return out, d.diags
}

// Matching returns the policies whose match block fits the node and whose
// priority is the highest of those: none, one, or several that the user must
// tell apart. By name.
func (s *Set) Matching(v *NodeView) []*Policy {
	var out []*Policy
	for _, name := range s.names {
		p := s.Policies[name]
		if p.Match == nil || !p.Match.fits(v) {
			continue
		}
		if len(out) > 0 && p.Priority.V > out[0].Priority.V {
			out = out[:0]
		}
		if len(out) == 0 || p.Priority.V == out[0].Priority.V {
			out = append(out, p)
		}
	}
	return out
}

func (m *Match) fits(v *NodeView) bool {
	word := func(want Value[[]string], have ...string) bool {
		return !want.Set || slices.ContainsFunc(want.V, func(w string) bool {
			return slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(w, h) })
		})
	}
	return word(m.Phase, v.Phase) && word(m.Lane, v.Lane) && word(m.Label, v.Labels...) && word(m.Type, v.Type) &&
		word(m.Complexity, v.Complexity) &&
		(!m.Priority.Set || slices.Contains(m.Priority.V, v.Priority)) &&
		(!m.Paths.Set || slices.ContainsFunc(m.Paths.V, func(g string) bool {
			return slices.ContainsFunc(v.Paths, func(p string) bool { return p == g || glob.Match(g, p) })
		}))
}
