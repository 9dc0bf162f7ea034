package policies

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/ralph-compiler/ralph/diag"
)

// Fragment is an hcl fence of a plan, decoded. It may hold the attributes of a
// step (they speak of every step in its scope), `step "s" {}` (of one step),
// retry, stall, limits, budget, hitl, worktree, git, `gate "n"` and waive; in
// the scope "plan" also integration, concurrency and rule. Anything else, an
// agent or a runner for instance, belongs into a policy file and is an error.
type Fragment struct {
	Scope       string // "plan", "phase 2", "sprint 1.2a"
	Range       diag.Range
	Steps       StepSettings `hcl:"."` // for every step; use StepSettings.OverlayFence
	Step        []*Step      // for the step of that name
	Settings    Settings
	Gates       map[string]*Gate // defined here
	Rules       []*Rule
	Waivers     []*Waiver
	Concurrency Concurrency `hcl:"concurrency"`
	Files       []FileRead
}

// fenceBlock is the root of a fence below a phase or sprint, planFenceBlock of
// one below the plan's title.
var fenceBlock = &block{
	name: "fence", node: true,
	of:    (*StepSettings)(nil),
	attrs: []attr{descriptionAttr},
	blocks: []*block{
		stepBlock, retryBlock, stallBlock, limitsBlock, budgetBlock, hitlBlock, gitBlock, worktreeBlock, gateBlock, waiveBlock,
	},
}

var planFenceBlock = &block{
	name: "fence", node: true,
	of:     (*StepSettings)(nil),
	attrs:  []attr{descriptionAttr},
	blocks: append(slices.Clone(fenceBlock.blocks), integrationBlock, concurrencyBlock, ruleBlock),
}

func fenceRoot(scope string) *block {
	if scope == "plan" {
		return planFenceBlock
	}
	return fenceBlock
}

// Fragment decodes an hcl fence of a plan. source is its content, with container
// prefixes blanked at the same length; its first byte is at offset in file.
// scope is "plan", "phase ID" or "sprint KEY". It is never nil. Expressions in a
// fence cannot mention node.*: a fence is in the node that it is about.
// Gates that the fences outer define, those around it, may be named.
func (s *Set) Fragment(file *diag.File, source []byte, offset int, scope string, outer ...*Fragment) (*Fragment, diag.List) {
	d := &decoder{scope: s.ctx.child(), src: newTexts(), where: scope}
	d.src.texts[file.Name], d.src.offsets[file.Name], d.src.lengths[file.Name] = source, offset, len(file.Bytes)
	out := &Fragment{Scope: scope, Range: file.Range(offset, min(offset+len(source), len(file.Bytes))), Gates: map[string]*Gate{}}
	start := hcl.Pos{Line: 1, Column: 1, Byte: offset}
	at := d.scope.meter.read(source)
	r, why := hcl.Range{}, ""
	if at < 0 {
		r, why = checkBounds(source, file.Name, start, false, false)
	}
	switch {
	case at >= 0:
		d.diags.Add(tooManyWords(file.Range(offset+at, offset+at)))
	case why != "":
		d.diags.Add(tooLarge(d.rng(r), why))
	case !d.scope.meter.use(blockCost):
		d.diags.Add(costly(out.Range, spent))
	default:
		f, diags := hclsyntax.ParseConfig(source, file.Name, start)
		d.addHCL(diags)
		if f != nil {
			s.fragment(d, f.Body, out, outer)
		}
		d.diags.Sort()
	}
	return out, d.diags
}

// fragment decodes the body of a fence into out.
func (s *Set) fragment(d *decoder, body hcl.Body, out *Fragment, outer []*Fragment) {
	root := *fenceRoot(out.Scope)
	root.node = false
	r := d.open(&root, body, "", "fence of "+d.where, out.Range, false)
	for _, f := range outer {
		for _, name := range sortedKeys(f.Gates) {
			d.know("gate", name)
		}
	}
	d.declareFence(r)
	r.fill(out)
	r.nested = slices.DeleteFunc(slices.Clone(r.nested), func(b *hcl.Block) bool { return b.Type == "retry" || b.Type == "stall" }) // read with Steps
	r.fill(&out.Settings)
	out.Settings.Retry, out.Settings.Stall = out.Steps.Retry, out.Steps.Stall
	out.Step = r.steps()
	for _, b := range r.nested {
		switch b.Type {
		case "gate":
			if g := out.Gates[b.Labels[0]]; g == nil {
				g = d.gate(b)
				g.TimeoutMS = g.TimeoutMS.Or(Value[int64]{V: s.GateTimeout(g.Kind.V).V})
				out.Gates[g.Name] = g
				s.checkGate(d, g)
				d.neverOnBase(g, "this one is in the plan")
				if g.Dynamic {
					d.diags.Add(diag.New("policy-node-not-known", d.rng(b.DefRange), "node.* is not known in a fence").
						WithDetail("A fence is in the sprint that it is about. Write the value itself."))
				}
			}
		case "rule":
			out.Rules = append(out.Rules, list[Rule](d, []*hcl.Block{b})...)
		case "waive":
			out.Waivers = append(out.Waivers, list[Waiver](d, []*hcl.Block{b})...)
		}
	}
	for _, step := range out.Step {
		s.checkWords(d, step.Capabilities)
	}
	s.checkWords(d, out.Steps.Capabilities)
	out.Files = d.scope.takeReads()
}

// declareFence makes the gates and rules of a fence known to its expressions and
// reports duplicates.
func (d *decoder) declareFence(r *reader) {
	first := map[string]diag.Range{}
	for _, b := range r.nested {
		if b.Type != "gate" && b.Type != "rule" {
			continue
		}
		at := d.rng(b.DefRange)
		if prev, again := first[b.Type+b.Labels[0]]; again {
			d.twice(b.Type, b.Labels[0], at, prev)
			continue
		}
		d.named(b.Type, b.Labels[0], at)
		first[b.Type+b.Labels[0]] = at
		d.know(b.Type, b.Labels[0])
	}
}

// know makes a name known to the expressions of a fence.
func (d *decoder) know(typ, name string) {
	d.scope.names[typ] = insert(d.scope.names[typ], name)
	delete(d.scope.roots, typ)
}
