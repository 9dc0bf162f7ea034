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
func (g *gating) shared(name string, j judging, gate func(string, *policies.Settings) ir.Gate) string {
	u, it := g.u, g.here
	memo := sharedGate{it.sharedConfig, name}
	if full, done := g.names[memo]; done {
		return full
	}
	key := string(it.draft.Key)
	own := it.settings
	own.HITL = u.policyHITL(it)
	if strings.HasPrefix(name, key+"/") { // its own anyway
		g.gates[name] = gate(name, &own)
		return name
	}
	def := policies.Overlay(u.set.Settings, u.set.DefaultPolicy().Settings)
	full := name
	if !j.same(&own, &def) {
		full = it.policy.Name + "/" + name
		if here := policies.Overlay(def, it.policy.Settings); it.policy.Dynamic || it.policy.Name == u.set.DefaultPolicy().Name || !j.same(&own, &here) {
			full = key + "/" + name
		}
	}
	if !it.owned && !strings.HasPrefix(full, key+"/") {
		g.names[memo] = full
	}
	if _, done := g.gates[full]; !done {
		g.gates[full] = gate(full, &own)
	}
	return full
}

// policyHITL is hitl without the fences of the plan, which may add people of
// their own but not choose who approves for the policy.
func (u *unit) policyHITL(it *part) policies.HITL {
	h := policies.Overlay(policies.Overlay(u.set.Settings.HITL, u.set.DefaultPolicy().Settings.HITL), it.policy.Settings.HITL)
	if len(h.Approvers.V) == 0 {
		h.Approvers = it.settings.HITL.Approvers
	}
	return h
}

// place returns at if it is in a file that the user has; else, of a built-in
// block, where the item's policy was chosen.
func (u *unit) place(it *part, at diag.Range) diag.Range {
	if u.c.files[at.File] != nil {
		return at
	}
	d, p := it.draft, it.policy
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
