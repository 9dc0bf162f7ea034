package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// blindReview is the gate that complexity `required` adds.
const blindReview = "blind-review"

// gating is the state of passGates.
type gating struct {
	u      *unit
	gates  map[string]ir.Gate
	diags  *diag.List
	said   map[string]bool
	source map[string]diag.Range // of gates that stand in the plan
	names  map[sharedGate]string
	here   int // the node that is looked at
}

// passGates puts the gates on each step: those of the policy, then the plan's
// Verify gates, its QA agents, then review and people. A plan adds and never
// takes away.
func passGates(u *unit, e *ir.Epic, diags *diag.List) *ir.Epic {
	e = with(e)
	g := &gating{u: u, gates: maps.Clone(e.Gates), diags: diags, said: map[string]bool{}, source: map[string]diag.Range{}, names: map[sharedGate]string{}}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		n.Steps = slices.Clone(n.Steps)
		g.node(i, n)
	}
	for name, gate := range g.gates {
		g.gates[name] = u.contracts.addTo(gate)
	}
	g.selfReviews(e.Nodes)
	u.noteImplicit(diags)
	e.Gates = g.gates
	return e
}

func (g *gating) node(i int, n *ir.Node) {
	if len(n.Steps) == 0 {
		return
	}
	g.here = i
	u, c, d := g.u, &g.u.configs[i], &g.u.draft.Nodes[i]
	last := lastWrite(n.Steps)
	level := u.settings(c).HITL.Level.Get("gates")
	critical := required(c.level) || c.floor
	values := u.steps(c)
	person := n.Kind == ir.Manual || n.Kind == ir.GateKind
	for k := range values {
		at := stepIndex(n.Steps, values[k].Name, last)
		if !u.carry(i, len(values[k].Gates.V)*nameWidth, "the gates") {
			return
		}
		for _, name := range values[k].Gates.V {
			g.policyGate(i, &n.Steps[at], name, values[k].Gates, level == "none" && !critical, n.Kind)
		}
		if a := values[k].Approval; a.Set && a.V.Required && (level != "none" || critical) && n.Kind != ir.Manual {
			g.approvalOfStep(i, &n.Steps[at], values[k].Name, a)
		}
	}
	if person {
		last = 0
	}
	if !u.carry(i, (len(d.Verify)+len(d.QA))*gateWidth, "the gates") {
		return
	}
	g.verify(i, &n.Steps[last])
	g.quality(i, &n.Steps[last])
	g.outputs(d)
	if n.Kind == ir.Work || n.Kind == ir.Merge {
		g.review(i, n, last, critical)
	}
	g.people(i, n, level)
	for k := range n.Steps {
		humansLast(&n.Steps[k], g.gates)
	}
	if n.Kind == ir.GateKind && len(n.Steps[0].Gates) == 0 {
		g.diags.Add(diag.Newf("gate-without-verdict", d.Range, "gate %s asks for nothing", clip(string(n.Key))).
			WithDetail("An item of kind gate only judges, and nothing judges here. Add a Verify label, a QA agent or an Approval, or remove the marker (gate)."))
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
func (g *gating) policyGate(i int, s *ir.Step, name string, list policies.Value[[]string], dropHuman bool, kind ir.Kind) {
	u, c := g.u, &g.u.configs[i]
	full, p := name, u.set.Gates[name]
	fenced := false
	for _, scope := range u.gateScopes(c) {
		if own := scope.gates[name]; own != nil {
			full, p, fenced = scope.prefix+"/"+name, own, true
			break
		}
	}
	if p == nil {
		// What stands in a policy file was reported with it.
		if !g.said["unknown "+name] && list.Range.File == u.file.Name {
			g.said["unknown "+name] = true
			known := sortedNames(u.set.Gates)
			g.diags.Add(diag.Newf("unknown-gate", list.Range, "there is no gate %q", clip(name)).
				WithDetail("No policy and no fence of the plan defines it.%s Define it, or remove it from the list.", didYouMean(name, known)))
		}
		return
	}
	if !g.planningOnly(i, p, list) {
		return
	}
	if p.Kind.V == "human" && (dropHuman && !fenced || kind == ir.Manual) {
		return
	}
	if p.Dynamic {
		q, l := p.For(c.view)
		g.diags.Add(l...)
		if q == nil {
			return
		}
		if full, p = string(u.draft.Nodes[i].Key)+"/"+name, q; !g.planningOnly(i, p, list) {
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
	full = g.shared(i, full, judging{p.Kind.V, p.TimeoutMS.Set, len(p.Approvers.V) > 0}, func(name string, s *policies.Settings) ir.Gate {
		return g.fromPolicy(p, name, from, s)
	})
	if !slices.Contains(s.Gates, full) {
		s.Gates = append(slices.Clip(s.Gates), full)
	}
}

// planningOnly reports a gate that judges plans, in the steps of a plan's work, and
// whether p is none.
func (g *gating) planningOnly(i int, p *policies.Gate, list policies.Value[[]string]) bool {
	if p.Kind.V != "compiles" || g.u.planning {
		return true
	}
	if !g.said["planning "+p.Name] {
		g.said["planning "+p.Name] = true
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
		TimeoutMS: gateTimeout(p, s), OnFailure: p.OnFailure.V, Protect: p.Protect.V,
		ProtectNew: p.ProtectNew.Get(true), Evidence: p.Evidence.V, RedFirst: p.RedFirst.V, Baseline: p.Baseline.V, From: from,
	}
	switch p.Kind.V {
	case "human":
		if len(out.Approvers) == 0 {
			out.Approvers = atless(s.HITL.Approvers.V)
		}
		if len(out.Approvers) == 0 {
			g.noApprover(p.Range, name, from)
		}
	case "agent", "review":
		g.staff(&out, p)
	}
	return out
}

func gateTimeout(p *policies.Gate, s *policies.Settings) int64 {
	if p.TimeoutMS.Set {
		return p.TimeoutMS.V
	}
	return s.Limits.GateTimeout(p.Kind.V).V
}

// staff chooses the agent of an agent or review gate.
func (g *gating) staff(out *ir.Gate, p *policies.Gate) {
	u := g.u
	out.Access = "read"
	if p.Agent.Set {
		a := u.agent(ir.AgentRef{Name: p.Agent.V, Range: p.Agent.Range}, "read", g.diags)
		if a.entry.Human && !g.said["judge "+p.Name] {
			g.said["judge "+p.Name] = true
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
	c, ok := u.selectAgent(n)
	if !ok {
		if !g.said["judge "+p.Name] {
			g.said["judge "+p.Name] = true
			g.diags.Add(diag.Newf("no-agent", at, "no agent fits gate %q", clip(p.Name)).
				WithDetail("No active agent has the capabilities %s.%s Declare one, or name an agent; what a person judges is a gate of kind \"human\".", strings.Join(n.capabilities, ", "), u.nearCapability(n.capabilities)))
		}
		return
	}
	if c.agent.Builtin && u.set.UserAgents() && !g.said["builtin "+p.Name] {
		g.said["builtin "+p.Name] = true
		g.diags.Add(diag.Newf("builtin-agent", at, "gate %q gets the built-in agent", clip(p.Name)).
			WithDetail("No agent that the policy declares fits, so the built-in agent %q is taken. Declare one with capability %s to choose another.", c.agent.Name, strings.Join(n.capabilities, ", ")))
	}
	g.judge(out, u.declared(c.agent, g.diags), c.why, p.Model.V)
}

func (g *gating) judge(out *ir.Gate, a *agentInfo, why, model string) {
	out.Agent, out.Why = a.name, why
	out.Model = cmp.Or(model, g.u.modelOf(a))
	out.Fallback = g.u.fallbacks(a.declared, "read", g.diags)
	out.TimeoutMS = scaled(out.TimeoutMS, a.multiplier)
}

// verify adds the command gates that the plan defines.
func (g *gating) verify(i int, s *ir.Step) {
	d := &g.u.draft.Nodes[i]
	unnamed := 0
	if d.Ordered && len(d.Verify) > 0 {
		s.GateMode = "ordered"
	}
	for k := range d.Verify {
		v := &d.Verify[k]
		name, at := v.Name, v.NameRange
		if name == "" {
			unnamed++
			name, at = "verify", v.Range
			if unnamed > 1 {
				name = fmt.Sprintf("verify-%d", unnamed)
			}
		}
		out := ir.Gate{
			Kind: "command", Run: literally(v.Run), Expect: v.Expect, TimeoutMS: g.timeout(i, "command"), OnFailure: "retry",
			ProtectNew: true, Evidence: v.Evidence, From: "plan",
		}
		switch {
		case v.Promise != "" || v.NoErrors:
			out = ir.Gate{Kind: "outcome", Promise: v.Promise, NoErrors: v.NoErrors, OnFailure: "retry", ProtectNew: true, From: "plan"}
		case v.Tests && v.Run == "":
			if out.Run = g.ownTests(v.Range); out.Run == "" {
				out.Run = "false" // that it is not known is an error; its absence would be a second one
			}
		}
		if v.Timeout.Set() {
			ms, err := policies.ParseDuration(v.Timeout.Value)
			if err != nil {
				g.badAttribute(v.Timeout, "timeout", "a duration such as 90s or 10m")
			} else {
				out.TimeoutMS = ms
			}
		}
		if v.OnFailure.Set() {
			if !slices.Contains(failureWords, v.OnFailure.Value) {
				g.badAttribute(v.OnFailure, "on_failure", "retry, stop or continue")
			} else {
				out.OnFailure = v.OnFailure.Value
			}
		}
		g.own(d, s, name, at, out)
	}
}

// timeout of the gates of a kind that the plan adds to a node.
func (g *gating) timeout(i int, kind string) int64 {
	return g.u.settings(&g.u.configs[i]).Limits.GateTimeout(kind).V
}

// failureWords say what a gate of a plan does when it is red.
var failureWords = []string{"retry", "stop", "continue"}

func (g *gating) badAttribute(v ir.Stated, name, want string) {
	code := diag.Code("fence-attribute")
	if _, ok := syntax.NearMiss(v.Value, failureWords); ok {
		code = "near-miss-fence"
	}
	g.diags.Add(diag.Newf(code, v.Range, "%s: %q is not a value for it", name, clip(v.Value)).
		WithDetail("In the first line of a fence, %s is %s. Write it so.", name, want))
}

// own adds a gate of the node's own plan section.
func (g *gating) own(d *ir.DraftNode, s *ir.Step, name string, at diag.Range, gate ir.Gate) {
	full := string(d.Key) + "/" + name
	if first, twice := g.source[full]; twice {
		g.diags.Add(diag.Newf("duplicate-gate", at, "gate %q stands twice", clip(name)).
			WithDetail("Each gate of an item needs its own name. Rename this one.").
			WithRelated(first, "first here"))
		return
	}
	if _, there := g.gates[full]; there { // a gate of the policy that is made for each item
		g.diags.Add(diag.Newf("gate-loosened", at, "the item already has a gate %q", clip(name)).
			WithDetail("A plan cannot replace a gate of the policy. Give this one another name."))
		return
	}
	g.source[full] = at
	g.gates[full] = gate
	s.Gates = append(slices.Clip(s.Gates), full)
}

// quality adds the plan's QA agents as agent gates.
func (g *gating) quality(i int, s *ir.Step) {
	u, d := g.u, &g.u.draft.Nodes[i]
	for _, q := range d.QA {
		a := u.agent(q, "read", g.diags)
		out := ir.Gate{
			Kind: "agent", Access: "read", TimeoutMS: g.timeout(i, "agent"), OnFailure: "retry",
			Sees: []string{"acceptance", "diff"}, OutputSchema: verdictSchema, ProtectNew: true, From: "plan",
		}
		if q.Note != "" {
			out.Prompt = splitLines(literally(q.Note))
		}
		g.judge(&out, a, "named by the plan", g.u.modelName(q.Model))
		g.own(d, s, cmp.Or(q.Gate, q.Name), q.Range, out)
	}
	if d.Ordered && len(d.QA) > 0 {
		s.GateMode = "ordered"
	}
}

// outputs types the output of QA gates with the json fences of the section.
func (g *gating) outputs(d *ir.DraftNode) {
	for _, o := range d.Outputs {
		full := string(d.Key) + "/" + o.Gate
		gate, known := g.gates[full]
		if _, own := g.source[full]; !known || !own || gate.Kind != "agent" {
			var names []string
			for _, q := range d.QA {
				names = append(names, q.Name)
			}
			g.diags.Add(diag.Newf("unknown-gate", o.Range, "there is no QA gate %q here", clip(o.Gate)).
				WithDetail("output= names a QA agent of the same item.%s Name one, or add it under QA Agents.", didYouMean(o.Gate, names)))
			continue
		}
		if o.Schema != nil {
			schema, l := policies.CheckOutput(o.Schema, o.Range)
			g.diags.Add(l...)
			gate.OutputSchema = schema
		}
		if o.Input != nil {
			schema, l := policies.CheckInput(o.Input, o.Range)
			g.diags.Add(l...)
			gate.InputSchema = schema
		}
		g.gates[full] = gate
	}
}

// review adds blind-review where the complexity requires one and none stands
// there.
func (g *gating) review(i int, n *ir.Node, last int, critical bool) {
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
		g.policyGate(i, s, blindReview, policies.Value[[]string]{Range: p.Range}, false, n.Kind)
		return
	}
	full := g.shared(i, blindReview, judging{kind: "review"}, func(_ string, set *policies.Settings) ir.Gate {
		p := &policies.Gate{Decl: policies.Decl{Name: blindReview, Range: g.u.configs[i].level.Range}}
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
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strings.TrimPrefix(n, "@")
	}
	return out
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
