package compiler

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// passRules evaluates policy as code over the epic as it will be reviewed. A
// waived breach is a note. The day on which a waiver ends is not looked at: the
// clock may change no byte and no verdict of a compile.
func (b *build) passRules(diags *diag.List) *ir.Epic {
	e := b.own()
	rules, waivers := b.set.Rules, b.set.Waivers
	for _, fs := range b.allFragments() {
		rules = append(slices.Clip(rules), fs.Rules...)
		waivers = append(slices.Clip(waivers), fs.Waivers...)
	}
	keys := lists.Index(e.Nodes, func(x *ir.Node) ir.Key { return x.Key })
	e.Waivers = nil
	for _, w := range waivers {
		if _, here := keys[ir.Key(w.Node.V)]; here {
			e.Waivers = append(e.Waivers, ir.Waiver{Rule: w.Name, Node: ir.Key(w.Node.V), Reason: w.Reason.V, Owner: w.Owner.V, Until: w.Until.V})
		} else if len(b.c.builds) == 1 && w.Node.Set {
			diags.Add(diag.Newf("waiver-unused", w.Node.Range, "no item has the id %q", clip(w.Node.V)).
				WithDetail("The waiver names an item that the plan does not have, so it waives nothing. Correct the id, or remove the waiver."))
		}
	}
	if len(rules) == 0 {
		return e
	}
	r := ruling{u: b.unit, e: e, waivers: map[waived]*policies.Waiver{}, diags: diags, broken: map[*policies.Rule]int{}, fields: map[string][]string{}}
	r.views()
	for _, w := range waivers {
		at := waived{w.Name, ir.Key(w.Node.V)}
		r.waivers[at] = cmp.Or(r.waivers[at], w)
	}
	for _, rule := range rules {
		r.rule(rule, keys)
	}
	return e
}

// allFragments are the fences of the plan, of its phases and of its items.
func (u *unit) allFragments() []*policies.Fragment {
	out := slices.Concat(u.fences.plan, slices.Concat(u.fences.phases...))
	for i := range u.parts {
		out = append(out, u.parts[i].fences...)
	}
	return out
}

// waived is a rule and the key of a node.
type waived struct {
	rule string
	node ir.Key
}

type ruling struct {
	u       *unit
	e       *ir.Epic
	waivers map[waived]*policies.Waiver // the first
	nodes   []*policies.NodeView
	plan    *policies.PlanView
	diags   *diag.List
	broken  map[*policies.Rule]int
	fields  map[string][]string // of the outputs of gates
}

// views makes the complete views: gates, agents and steps included.
func (r *ruling) views() {
	e := r.e
	r.nodes = make([]*policies.NodeView, 0, len(e.Nodes))
	for it, n := range r.u.nodes(e) {
		old := it.view
		v := &policies.NodeView{
			Key: old.Key, Phase: old.Phase, Title: old.Title, Goal: old.Goal, Kind: old.Kind, Lane: old.Lane, Type: old.Type,
			Complexity: old.Complexity, Priority: old.Priority, Labels: old.Labels, Paths: old.Paths, Owns: old.Owns,
			After: old.After, Done: old.Done, Policy: old.Policy,
			Attempts: n.Limits.Attempts, Iterations: n.Limits.Iterations, TimeoutMS: n.Limits.TimeoutMS,
		}
		for _, s := range lists.Each(n.Steps) {
			v.Steps = append(v.Steps, policies.StepView{Name: s.Name, Agent: s.Agent, Model: s.Model, Access: s.Access, Gates: s.Gates})
			if s.Agent != "" {
				a := e.Agents[s.Agent]
				v.Agents = append(v.Agents, policies.AgentView{
					Name: s.Agent, Step: s.Name, Model: s.Model, Access: s.Access, Runner: a.Runner,
					Capabilities: a.Capabilities, Tags: a.Tags, Human: a.Human, Implicit: a.Implicit,
				})
			}
			for _, name := range s.Gates {
				g := e.Gates[name]
				v.Gates = append(v.Gates, policies.GateView{
					Name: name, Kind: g.Kind, Agent: g.Agent, Model: g.Model, Access: g.Access, Run: g.Run, OnFailure: g.OnFailure,
					From: g.From, Step: s.Name, Approvers: g.Approvers, Protect: g.Protect, Fields: r.outputFields(name, g.OutputSchema),
				})
			}
		}
		r.nodes = append(r.nodes, v)
	}
	r.plan = &policies.PlanView{
		Slug: e.Epic.Slug, Title: e.Epic.Title, Base: e.Epic.Base, Target: e.Epic.Target, Owner: e.Epic.Owner,
		Labels: e.Epic.Labels, Nodes: r.nodes,
	}
}

// outputFields lists the properties of a gate's output, for rules about them.
func (r *ruling) outputFields(gate string, schema json.RawMessage) []string {
	if len(schema) == 0 {
		return nil
	}
	if f, done := r.fields[gate]; done {
		return f
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var out []string
	if json.Unmarshal(schema, &s) == nil {
		out = sortedNames(s.Properties)
	}
	r.fields[gate] = out
	return out
}

func (r *ruling) rule(rule *policies.Rule, keys map[ir.Key]int) {
	errors := false
	take := func(f *policies.Finding, l diag.List, at diag.Range, key ir.Key) {
		if len(l) > 0 && !errors { // a mistake in the rule itself is said once
			errors = true
			r.diags.Add(l...)
		}
		if f != nil {
			r.report(f, at, key)
		}
	}
	switch rule.Over.Get("node") {
	case "plan":
		f, l := rule.Plan(r.plan)
		take(f, l, r.u.draft.Range, "")
	case "edge":
		for i := range r.e.Nodes {
			if r.u.c.meter.Empty() {
				return
			}
			for _, a := range r.e.Nodes[i].After {
				from, known := keys[a.Key]
				if !known {
					continue
				}
				f, l := rule.Edge(&policies.EdgeView{From: r.nodes[from], To: r.nodes[i], Type: string(a.Type), Origin: a.From}, r.plan)
				take(f, l, r.u.draft.Nodes[i].KeyRange, r.e.Nodes[i].Key)
			}
		}
	default:
		for i := range r.nodes {
			if errors && r.u.c.meter.Empty() {
				return
			}
			f, l := rule.Node(r.nodes[i], r.plan)
			take(f, l, r.u.draft.Nodes[i].KeyRange, r.e.Nodes[i].Key)
		}
	}
}

// maxBreaches bounds how often one rule is reported.
const maxBreaches = 50

func (r *ruling) report(f *policies.Finding, at diag.Range, key ir.Key) {
	if w := r.waivers[waived{f.Rule.Name, key}]; w != nil {
		r.diags.Add(diag.Newf("rule-waived", at, "rule %q is waived here", clip(f.Rule.Name)).
			WithDetail("%s. Waived by %s until %s: %s.", strings.TrimRight(f.Message, ". "), w.Owner.V, w.Until.V, w.Reason.V).
			WithRelated(w.Range, "the waiver"))
		r.expired(w)
		return
	}
	if r.broken[f.Rule]++; r.broken[f.Rule] > maxBreaches {
		return
	}
	d := diag.Newf("rule-broken", at, "rule %q is broken", clip(f.Rule.Name)).
		WithDetail("%s. Change the item, or add waive %q { } with a reason, an owner and a date.", strings.TrimRight(f.Message, ". "), f.Rule.Name).
		WithRelated(f.Rule.Range, "the rule")
	d.Severity = f.Severity
	r.diags.Add(d)
}

// expired warns of a waiver past its last day. The clock gives a warning,
// never bytes.
func (r *ruling) expired(w *policies.Waiver) {
	now := r.u.c.in.Options.Now
	last, err := time.Parse(time.DateOnly, w.Until.V)
	if now.IsZero() || err != nil || now.Before(last.AddDate(0, 0, 1)) {
		return
	}
	r.diags.Add(diag.Newf("waiver-expired", w.Until.Range, "the waiver of %s has expired", clip(w.Name)).
		WithDetail("It was valid until %s. Fix what the rule reports, or agree on a later date with %s.", w.Until.V, w.Owner.V))
}
