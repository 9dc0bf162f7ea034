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
	Default  Value[bool] `hcl:"default=false" doc:"true for the policy that is below every other"`
	Priority Value[int]  `hcl:"priority=0" min:"-1000" max:"1000" doc:"a whole number; the higher one wins when several match"` // decides when several policies match; higher wins
	Match    *Match      `hcl:"match"`                                                                                          // nil: only by name or as the default
	Steps    []*Step     // in order
	Settings Settings    `hcl:"."`

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

// Match is the block `match {}`: all set attributes must fit; of a list one element is
// enough.
type Match struct {
	Phase      Value[[]string] `hcl:"phase" doc:"ids of phases, such as [\"3a\"]"`
	Lane       Value[[]string] `hcl:"lane" doc:"lanes, such as [\"ui\"]"`
	Label      Value[[]string] `hcl:"label" doc:"labels; one of them is enough"`
	Type       Value[[]string] `hcl:"type" doc:"types, such as [\"bug\"]"`
	Complexity Value[[]string] `hcl:"complexity" ref:"complexity" doc:"levels, such as [\"critical\"]"`
	Priority   Value[[]int]    `hcl:"priority" min:"0" max:"4" doc:"priorities from 0 (critical) to 4 (minimal)"`
	Paths      Value[[]string] `hcl:"paths" is:"globs" doc:"globs against what the sprint owns, such as [\"web/**\"]"` // globs, against what the node owns and forecasts
	Range      diag.Range
}

// Approval is a step's or a plan's setting for a person's consent.
type Approval struct {
	Required  bool
	Approvers []string // without @
	WithinMS  int64    // 0: no limit
}

var policyBlock = &block{
	of:   (*Policy)(nil),
	name: "policy", label: "name", node: true,
	doc:   "a workflow: its steps in order, and the settings around them",
	attrs: []attr{descriptionAttr},
	blocks: []*block{
		matchBlock, stepBlock, limitsBlock, budgetBlock, hitlBlock, gitBlock, worktreeBlock, integrationBlock, retryBlock, stallBlock,
	},
}

var matchBlock = &block{of: (*Match)(nil), name: "match", doc: "which sprints the policy is for; all attributes must fit"}

var stepBlock = &block{
	of:   (*StepSettings)(nil),
	name: "step", label: "name", many: true,
	doc:    "one stage of the work",
	attrs:  []attr{descriptionAttr},
	blocks: []*block{retryBlock, stallBlock},
}

// policy decodes a block `policy "n"`, for all nodes or, when d.view is set, for
// one.
func (d *decoder) policy(b *hcl.Block) *Policy {
	d.dynamic = false
	before := len(d.diags)
	r := d.reader(b)
	p := &Policy{}
	r.fill(p)
	p.Steps = r.steps()
	p.broken = len(d.diags) > before
	p.Dynamic = d.dynamic
	if p.Dynamic && d.view == noView {
		p.source = &source{block: b, scope: d.scope, src: d.src, builtin: d.builtin, where: d.where}
	}
	return p
}

func (m *Match) check(r *reader) {
	if len(r.attrs) == 0 {
		r.d.diags.Add(diag.New("policy-missing-attribute", r.at, "match says nothing").
			WithDetail("An empty match fits every sprint. Write what must fit, or default = true for the policy that is below every other."))
	}
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
		s.name = name
		step := &Step{}
		s.fill(step)
		out = append(out, step)
	}
	return out
}

// For returns the policy for one node: p itself unless it is Dynamic.
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
