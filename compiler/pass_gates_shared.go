package compiler

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// judging says what a gate leaves to the settings around it.
type judging struct {
	kind           string
	timed, peopled bool // says its time, its people itself
}

// same reports whether the gate is the same under both settings.
func (j judging) same(a, b *policies.Settings) bool {
	return (j.timed || a.Limits.GateTimeout(j.kind).V == b.Limits.GateTimeout(j.kind).V) &&
		(j.peopled || j.kind != "human" || slices.Equal(a.HITL.Approvers.V, b.HITL.Approvers.V))
}

// sharedGate finds the name that shared gave a gate.
type sharedGate struct {
	config *sharedConfig
	name   string
}

// shared adds a gate of which time and people may follow from the settings
// around it. Where those are others than at top level and in the default policy,
// the gate is one of its own: POLICY/NAME, or KEY/NAME if a fence, a level of
// complexity or an expression over the node says so. The name is returned.
func (g *gating) shared(i int, name string, j judging, gate func(string, *policies.Settings) ir.Gate) string {
	u, c := g.u, &g.u.configs[i]
	if key := string(u.draft.Nodes[i].Key); strings.HasPrefix(name, key+"/") { // its own anyway
		s := *u.settings(c)
		s.HITL = u.policyHITL(c)
		g.gates[name] = gate(name, &s)
		return name
	}
	memo := sharedGate{c.sharedConfig, name}
	if c.owned == nil {
		if full, done := g.names[memo]; done && !strings.HasPrefix(full, string(u.draft.Nodes[i].Key)+"/") {
			return full
		}
	}
	own := *u.settings(c)
	own.HITL = u.policyHITL(c)
	def := u.set.Settings.Overlay(u.set.DefaultPolicy().Settings)
	full := name
	if !j.same(&own, &def) {
		full = c.policy.Name + "/" + name
		if here := def.Overlay(c.policy.Settings); c.policy.Dynamic || c.policy.Name == u.set.DefaultPolicy().Name || !j.same(&own, &here) {
			full = string(u.draft.Nodes[i].Key) + "/" + name
		}
	}
	if c.owned == nil && !strings.HasPrefix(full, string(u.draft.Nodes[i].Key)+"/") {
		g.names[memo] = full
	}
	if _, done := g.gates[full]; !done {
		g.gates[full] = gate(full, &own)
	}
	return full
}

// policyHITL is hitl without the fences of the plan, which may add people of
// their own but not choose who approves for the policy.
func (u *unit) policyHITL(c *nodeConfig) policies.HITL {
	h := u.set.Settings.HITL.Overlay(u.set.DefaultPolicy().Settings.HITL).Overlay(c.policy.Settings.HITL)
	if len(h.Approvers.V) == 0 {
		h.Approvers = u.settings(c).HITL.Approvers
	}
	return h
}

// place returns at if it lies in a file that the user has; else, of a built-in
// block, where the node's policy was chosen.
func (u *unit) place(i int, at diag.Range) diag.Range {
	if u.c.files[at.File] != nil {
		return at
	}
	d, p := &u.draft.Nodes[i], u.configs[i].policy
	switch {
	case d.Policy.Set() && d.Policy.Value == p.Name:
		return d.Policy.Range
	case u.draft.Policy.Set() && u.draft.Policy.Value == p.Name:
		return u.draft.Policy.Range
	case u.c.files[p.Range.File] != nil:
		return p.Range
	}
	return d.KeyRange
}
