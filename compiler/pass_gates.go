package compiler

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// blindReview is the gate that complexity `required` adds.
const blindReview = "blind-review"

// gating is the state of passGates.
type gating struct {
	u      *unit
	crew   *crew
	gates  map[string]ir.Gate
	diags  *diag.List
	said   said
	source map[string]diag.Range // of gates that are in the plan
	names  map[sharedGate]string
	here   *part // the item that is looked at
}

func newGating(u *unit, crew *crew, gates map[string]ir.Gate, diags *diag.List) *gating {
	return &gating{u: u, crew: crew, gates: gates, diags: diags, said: said{}, source: map[string]diag.Range{}, names: map[sharedGate]string{}, here: &u.parts[0]}
}

// passGates puts the gates on each step: those of the policy, then the plan's
// Verify gates, its QA agents, then review and people. A plan adds and never
// removes.
func (b *build) passGates(diags *diag.List) *ir.Epic {
	e := b.own()
	g := newGating(b.unit, b.crew, maps.Clone(e.Gates), diags)
	for it, n := range b.nodes(e) {
		n.Steps = slices.Clone(n.Steps)
		g.node(it, n)
	}
	known := contracts{}
	for name, gate := range g.gates {
		g.gates[name] = known.addTo(gate)
	}
	g.selfReviews(e)
	b.crew.noteImplicit(diags)
	e.Gates = g.gates
	return e
}

func (g *gating) node(it *part, n *ir.Node) {
	if len(n.Steps) == 0 {
		return
	}
	g.here = it
	d := it.draft
	last := lastWrite(n.Steps)
	level := it.settings.HITL.Level.Get("gates")
	critical := required(it.level) || it.floor
	for _, v := range lists.Each(it.steps) {
		s := &n.Steps[stepIndex(n.Steps, v.Name, last)]
		if !g.u.carry(d, len(v.Gates.V)*nameWidth, "the gates") {
			return
		}
		for _, name := range v.Gates.V {
			g.policyGate(s, name, v.Gates, level == "none" && !critical, n.Kind)
		}
		if a := v.Approval; a.Set && a.V.Required && (level != "none" || critical) && n.Kind != ir.Manual {
			g.approvalOfStep(s, v.Name, a)
		}
	}
	if n.Kind == ir.Manual || n.Kind == ir.GateKind {
		last = 0
	}
	if !g.u.carry(d, (len(d.Verify)+len(d.QA))*gateWidth, "the gates") {
		return
	}
	g.verify(&n.Steps[last])
	g.quality(&n.Steps[last])
	g.outputs(d)
	if n.Kind == ir.Work || n.Kind == ir.Merge {
		g.review(n, last, critical)
	}
	g.people(n, level)
	for k := range n.Steps {
		humansLast(&n.Steps[k], g.gates)
	}
	if n.Kind == ir.GateKind && len(n.Steps[0].Gates) == 0 {
		g.diags.Add(diag.Newf("gate-without-verdict", d.Range, "gate %s checks nothing", clip(string(n.Key))).
			WithDetail("An item of kind gate only judges, and this one has no gates. Add a Verify label, a QA agent or an Approval, or remove the marker (gate)."))
	}
}

// stepIndex finds the step that stands for a step of the policy: where it was
// split, its last part carries the gates.
func stepIndex(steps []ir.Step, name string, def int) int {
	at := -1
	for k := range steps {
		if steps[k].Name == name || at >= 0 && isPart(steps[k].Name, name) {
			at = k
		}
	}
	if at < 0 {
		return max(def, 0)
	}
	return at
}

func isPart(part, name string) bool {
	rest, ok := strings.CutPrefix(part, name+"-")
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}

// policyGate adds a gate that the policy, or a fence, lists on a step.
func (g *gating) policyGate(s *ir.Step, name string, list policies.Value[[]string], dropHuman bool, kind ir.Kind) {
	u := g.u
	full, p := name, u.set.Gates[name]
	fenced := false
	for _, scope := range g.here.gates {
		if own := scope.gates[name]; own != nil {
			full, p, fenced = scope.prefix+"/"+name, own, true
			break
		}
	}
	if p == nil {
		// What is in a policy file was reported with it.
		if list.Range.File == u.file.Name && g.said.first("unknown "+name) {
			g.diags.Add(u.unknownGate(name, list.Range, "No policy and no fence of the plan defines it."))
		}
		return
	}
	if !g.planningOnly(p, list) || p.Kind.V == "human" && (dropHuman && !fenced || kind == ir.Manual) {
		return
	}
	if p.Dynamic {
		q, l := p.For(g.here.view)
		g.diags.Add(l...)
		if q == nil {
			return
		}
		if full, p = string(g.here.draft.Key)+"/"+name, q; !g.planningOnly(p, list) {
			return
		}
	}
	from := "policy"
	if p.Builtin {
		from = "builtin"
	}
	if fenced {
		from = "plan"
	}
	full = g.shared(full, judging{p.Kind.V, p.TimeoutMS.Set, len(p.Approvers.V) > 0}, func(name string, s *policies.Settings) ir.Gate {
		return g.fromPolicy(p, name, from, s)
	})
	s.Gates = lists.Include(slices.Clip(s.Gates), full)
}

// unknownGate is what is wrong with a list that names a gate which is not there.
func (u *unit) unknownGate(name string, at diag.Range, who string) diag.Diagnostic {
	return diag.Newf("unknown-gate", at, "there is no gate %q", clip(name)).
		WithDetail("%s%s Define it, or remove it from the list.", who, didYouMean(name, sortedNames(u.set.Gates)))
}

// planningOnly reports false, with a diagnostic, for a gate that judges plans: it cannot
// are in the steps of a plan's work.
func (g *gating) planningOnly(p *policies.Gate, list policies.Value[[]string]) bool {
	if p.Kind.V != "compiles" {
		return true
	}
	if g.said.first("planning " + p.Name) {
		g.diags.Add(policies.PlanningOnly(p.Name, list.Range))
	}
	return false
}

// fromPolicy writes a gate of the policy as epic.json has it, under s.
func (g *gating) fromPolicy(p *policies.Gate, name, from string, s *policies.Settings) ir.Gate {
	out := ir.Gate{
		Kind: p.Kind.V, Run: p.Run.V, Env: p.Env.V, Secrets: p.Secrets.V,
		Expect: ir.Expect{ExitCode: p.Expect.ExitCode.V, StdoutContains: p.Expect.StdoutContains.V, StderrContains: p.Expect.StderrContains.V},
		Prompt: splitLines(p.Prompt.V), Sees: p.Sees.V, InputSchema: p.InputSchema.V, OutputSchema: p.OutputSchema.V,
		Promise: p.Promise.V, NoErrors: p.NoErrors.V, Approvers: atless(p.Approvers.V), OnTimeout: p.OnTimeout.V,
		TimeoutMS: p.TimeoutMS.Or(s.Limits.GateTimeout(p.Kind.V)).V, OnFailure: p.OnFailure.V, Protect: p.Protect.V,
		ProtectNew: p.ProtectNew.Get(true), Evidence: p.Evidence.V, RedFirst: p.RedFirst.V, From: from,
		Sandbox: p.Sandbox.V, Network: p.Network.V, Require: p.Require.V,
	}
	switch p.Kind.V {
	case "command":
		out.Baseline = p.Baseline.V
	case "human":
		if len(out.Approvers) == 0 {
			out.Approvers = atless(s.HITL.Approvers.V)
		}
		if len(out.Approvers) == 0 {
			g.noApprover(p.Range, name, from)
		}
	case "agent", "review":
		g.staff(&out, p)
		g.reachesModel(&out, p)
	}
	return out
}

// staff chooses the agent of an agent or review gate.
func (g *gating) staff(out *ir.Gate, p *policies.Gate) {
	u := g.u
	out.Access = "read"
	if p.Agent.Set {
		a := g.crew.agent(ir.AgentRef{Name: p.Agent.V, Range: p.Agent.Range}, g.diags)
		if a.entry.Human && g.said.first("judge "+p.Name) {
			g.diags.Add(diag.Newf("no-agent", p.Agent.Range, "a person cannot be the agent of gate %q", clip(p.Name)).
				WithDetail("%q is a person, and this gate is one that a program judges. Write kind = \"human\" and approvers = [%q].", clip(a.name), clip(a.name)))
		}
		g.judge(out, a, "named by the gate", p.Model.V)
		return
	}
	n := need{capabilities: p.Capabilities.V, tags: p.Tags.V, access: "read", model: p.Model.V, program: true, blind: p.Kind.V == "review"}
	at := u.place(g.here, p.Range)
	if p.Kind.V == "review" && len(n.capabilities) == 0 {
		n.capabilities = []string{"review"}
	}
	c, ok := g.crew.selectAgent(n)
	if !ok {
		if g.said.first("judge " + p.Name) {
			g.diags.Add(diag.Newf("no-agent", at, "no agent fits gate %q", clip(p.Name)).
				WithDetail("No active agent that is a program has %s.%s Declare one, or name an agent; what a person judges is a gate of kind \"human\".", n, u.nearCapability(n.capabilities)))
		}
		return
	}
	if c.agent.Builtin && u.set.UserAgents() && g.said.first("builtin "+p.Name) {
		g.diags.Add(diag.Newf("builtin-agent", at, "gate %q gets the built-in agent", clip(p.Name)).
			WithDetail("No agent declared by the policy fits, so the built-in agent %q is used.%s", c.agent.Name, u.misses(n)))
	}
	g.judge(out, g.crew.declared(c.agent, g.diags), c.why, p.Model.V)
}

func (g *gating) judge(out *ir.Gate, a *agentInfo, why, model string) {
	out.Agent, out.Why = a.name, why
	out.Model = cmp.Or(model, g.u.modelOf(a))
	out.Fallback = g.crew.fallbacks(a.declared, "read", g.diags)
	out.TimeoutMS = scaled(out.TimeoutMS, a.multiplier)
}

// review adds blind-review where the complexity requires one and none is
// there.
func (g *gating) review(n *ir.Node, last int, critical bool) {
	if !critical {
		return
	}
	for k := range n.Steps {
		for _, name := range n.Steps[k].Gates {
			// A plan's own review gate comes on top: else it could choose its judge.
			if x := g.gates[name]; x.Kind == "review" && x.From != "plan" {
				return
			}
		}
	}
	s := &n.Steps[last]
	if p := g.u.set.Gates[blindReview]; p != nil && p.Kind.V == "review" {
		g.policyGate(s, blindReview, policies.Value[[]string]{Range: p.Range}, false, n.Kind)
		return
	}
	full := g.shared(blindReview, judging{kind: "review"}, func(_ string, set *policies.Settings) ir.Gate {
		p := &policies.Gate{Decl: policies.Decl{Name: blindReview, Range: g.here.level.Range}}
		p.Kind.V = "review"
		out := ir.Gate{
			Kind: "review", Sees: []string{"acceptance", "diff"}, OutputSchema: verdictSchema, OnFailure: "retry",
			TimeoutMS: set.Limits.GateTimeout("review").V, ProtectNew: true, From: "builtin",
		}
		g.staff(&out, p)
		return out
	})
	s.Gates = append(slices.Clip(s.Gates), full)
}

// atless drops the @ that people write before names.
func atless(names []string) []string {
	return lists.Map(names, func(n string) string { return strings.TrimPrefix(n, "@") })
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
}

func scaled(ms int64, by float64) int64 {
	if by == 1 || by <= 0 {
		return ms
	}
	return int64(float64(ms)*by + 0.5)
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
