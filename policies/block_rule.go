package policies

import (
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/ralph-compiler/ralph/diag"
)

// Rule is the block `rule "n"`: policy as code. Use Node, Edge or Plan, depending on
// Over. Not safe for concurrent use.
type Rule struct {
	Decl
	Severity Value[string] `hcl:"severity=error" enum:"error note warning" doc:"error, warning or note"` // error, warning, note (default error)
	Over     Value[string] `hcl:"over=node" enum:"edge node plan" doc:"node, edge or plan"`              // node, edge, plan (default node)

	when, assert, message hclsyntax.Expression // nil if absent
	source                *source
}

// Finding is a breach of a rule.
type Finding struct {
	Rule     *Rule
	Severity diag.Severity
	Message  string
}

// Waiver is the block `waive "rule"`: an accepted breach.
type Waiver struct {
	Decl                 // Name is the rule's
	Node   Value[string] `hcl:"node" with:"required" doc:"the key of the sprint, such as \"1.2a\""` // key of a node
	Reason Value[string] `hcl:"reason" with:"required" doc:"why it is accepted"`
	Owner  Value[string] `hcl:"owner" with:"required" doc:"who answers for it"`
	Until  Value[string] `hcl:"until" with:"required" doc:"the last day on which it holds, such as \"2026-12-31\""` // date, 2026-01-31: the last day on which it holds
}

var (
	errNotBool = errors.New("true or false is needed")
	errNotDate = errors.New("a date is needed, as 2026-12-31")
	errEmpty   = errors.New("the text is empty")
)

var ruleBlock = &block{
	of:   (*Rule)(nil),
	name: "rule", label: "name", node: true,
	doc: "policy as code: what every node, edge or plan must fulfil",
	attrs: []attr{
		descriptionAttr,
		{name: "when", kind: kAny, doc: "an expression that is true where the rule counts"},
		{name: "assert", kind: kAny, required: true, doc: "an expression that must be true there"},
		{name: "message", kind: kAny, required: true, doc: "what is wrong where it is not"},
	},
}

var waiveBlock = &block{of: (*Waiver)(nil), name: "waive", label: "rule", many: true, doc: "an accepted breach of a rule"}

// rule decodes a rule and tries its expressions on an unknown node and on a
// sample, so that a misspelt attribute is found before any plan exists.
func (out *Rule) check(r *reader) {
	out.when, out.assert, out.message = r.expr("when"), r.expr("assert"), r.expr("message")
	out.source = &source{scope: r.d.scope, src: r.d.src, builtin: r.d.builtin, where: r.d.where}
	sample, unknown := sampleRoots(out.Over.V), map[string]cty.Value{}
	for _, k := range sortedKeys(sample) {
		unknown[k] = cty.UnknownVal(sample[k].Type())
	}
	samples := []map[string]cty.Value{unknown, sample}
	for i, e := range []hclsyntax.Expression{out.when, out.assert, out.message} {
		if e == nil {
			continue
		}
		var only func(g *hcl.Diagnostic) bool
		for j, s := range samples {
			if j == 1 {
				only = typeMistake
			}
			st, v := r.d.evalRule(e, s, out, only)
			if st == bad {
				break
			}
			if i < 2 && st == known && v.IsKnown() && !isBool(v) {
				r.invalid([]string{"when", "assert"}[i], r.d.rng(e.Range()), errNotBool)
				break
			}
		}
	}
}

func isBool(v cty.Value) bool {
	b, err := convert.Convert(v, cty.Bool)
	return err == nil && !b.IsNull()
}

func sampleRoots(over string) map[string]cty.Value {
	switch over {
	case "edge":
		return map[string]cty.Value{
			"edge": edgeValue(&EdgeView{From: sampleNode(), To: sampleNode(), Type: "blocks", Origin: "number"}),
			"plan": planValue(samplePlan()),
		}
	case "plan":
		return map[string]cty.Value{"plan": planValue(samplePlan())}
	}
	return map[string]cty.Value{"node": nodeValue(sampleNode()), "plan": planValue(samplePlan())}
}

// evalRule evaluates an expression of a rule with the roots it may name.
func (d *decoder) evalRule(e hclsyntax.Expression, roots map[string]cty.Value, rule *Rule, only func(*hcl.Diagnostic) bool) (state, cty.Value) {
	u := use{feeding: "rule." + rule.Name, at: d.rng(e.Range()), roots: roots}
	a := d.scope.analyse(e)
	if !a.literal && !d.checkNames(a, u) {
		return bad, cty.NilVal
	}
	d.checkCompared(a)
	d.scope.feeding = u.feeding
	return d.run(e, roots, u, only)
}

// Node evaluates a rule over nodes. A nil Finding means that the rule holds or
// does not count for the node. p may be nil when the rule does not name plan.
func (r *Rule) Node(v *NodeView, p *PlanView) (*Finding, diag.List) {
	return r.eval(p, func() map[string]cty.Value { return map[string]cty.Value{"node": nodeValue(v)} }, v)
}

// Edge evaluates a rule over edges.
func (r *Rule) Edge(v *EdgeView, p *PlanView) (*Finding, diag.List) {
	return r.eval(p, func() map[string]cty.Value { return map[string]cty.Value{"edge": edgeValue(v)} }, v.From, v.To)
}

// Plan evaluates a rule over the plan.
func (r *Rule) Plan(p *PlanView) (*Finding, diag.List) {
	return r.eval(p, func() map[string]cty.Value { return map[string]cty.Value{} })
}

// pays pays for asking the rule about nodes, and for showing those that no
// expression has seen.
func (r *Rule) pays(nodes ...*NodeView) bool {
	cost := ruleCost
	for _, v := range nodes {
		if v.value == nil {
			cost += viewCost + 4*(len(v.Gates)+len(v.Agents)+len(v.Steps)) + (len(v.Labels)+len(v.Paths)+len(v.Owns)+len(v.After))/2
		}
	}
	return r.source.scope.meter.use(cost)
}

// eval evaluates the rule over what it knows, after paying for the nodes in it.
func (r *Rule) eval(p *PlanView, views func() map[string]cty.Value, nodes ...*NodeView) (*Finding, diag.List) {
	if !r.pays(nodes...) {
		return nil, diag.List{costly(r.Range, spent)}
	}
	roots := views()
	if r.assert == nil {
		return nil, nil // reported by Decode
	}
	d := &decoder{scope: r.source.scope, src: r.source.src, builtin: r.source.builtin, where: r.source.where}
	if p != nil && r.mentionsPlan() {
		if p.value == nil && !r.source.scope.meter.use(viewCost*len(p.Nodes)) {
			return nil, diag.List{costly(r.Range, spent)}
		}
		roots["plan"] = planValue(p)
	}
	test := func(e hclsyntax.Expression, absent bool) (holds, ok bool) {
		if e == nil {
			return absent, true
		}
		st, v := d.evalRule(e, roots, r, nil)
		if st != known {
			return false, false
		}
		b, err := convert.Convert(v, cty.Bool)
		if err != nil || b.IsNull() || !b.IsKnown() {
			d.diags.Add(diag.New("policy-invalid-value", d.rng(e.Range()), "the condition is neither true nor false").
				WithDetail("A rule counts when its when is true, and holds when its assert is true. Write a comparison."))
			return false, false
		}
		return b.True(), true
	}
	if counts, ok := test(r.when, true); !ok || !counts {
		return nil, d.diags
	}
	if holds, ok := test(r.assert, true); !ok || holds {
		return nil, d.diags
	}
	f := &Finding{Rule: r, Severity: diag.Error, Message: "rule " + r.Name + " is broken"}
	switch r.Severity.V {
	case "warning":
		f.Severity = diag.Warning
	case "note":
		f.Severity = diag.Note
	}
	if r.message != nil {
		if st, v := d.evalRule(r.message, roots, r, nil); st == known {
			if s, err := asString(v); err == nil {
				f.Message = printableText(s)
			}
		}
	}
	return f, d.diags
}

func (r *Rule) mentionsPlan() bool {
	return slices.ContainsFunc([]hclsyntax.Expression{r.when, r.assert, r.message}, func(e hclsyntax.Expression) bool {
		return e != nil && mentions(r.source.scope.analyse(e), "plan")
	})
}

func (w *Waiver) check(r *reader) {
	if _, err := time.Parse(time.DateOnly, w.Until.V); w.Until.Set && err != nil {
		r.invalid("until", w.Until.Range, errNotDate)
	}
	for _, x := range []struct {
		name string
		v    Value[string]
	}{{"node", w.Node}, {"reason", w.Reason}, {"owner", w.Owner}} {
		if x.v.Set && x.v.V == "" {
			r.invalid(x.name, x.v.Range, errEmpty)
		}
	}
	r.d.checkRef("rule", w.Name, w.Range)
}
