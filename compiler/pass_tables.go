package compiler

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// passTables writes the agents, runners and models that nodes and gates name, directly or as fallbacks, and nothing else: a new agent in the policy changes
// no epic that does not use it. Secrets are all there: each is looked for in what
// agents leave, for any recipient.
func (b *build) passTables(_ *diag.List) *ir.Epic {
	e := b.own()
	e.Agents, e.Runners, e.Models = map[string]ir.Agent{}, map[string]ir.Runner{}, map[string]ir.Model{}
	e.Secrets = map[string]ir.Secret{}
	t := tables{u: b.unit, crew: b.crew, e: e}
	for _, n := range b.nodes(e) {
		for _, s := range lists.Each(n.Steps) {
			t.agents(s.Agent, s.Stall.Agent)
			t.agents(s.Fallback...)
			t.model(s.Model)
		}
	}
	for _, name := range sortedNames(e.Gates) {
		g := e.Gates[name]
		t.agents(g.Agent)
		t.agents(g.Fallback...)
		t.model(g.Model)
	}
	for name, sec := range b.set.Secrets {
		e.Secrets[name] = ir.Secret{Env: sec.Env.Get(name)}
	}
	t.agents(e.Epic.Integration.ConflictAgent)
	t.files()
	return e
}

type tables struct {
	u    *unit
	crew *crew
	e    *ir.Epic
}

func (t *tables) agents(names ...string) {
	for _, name := range names {
		if _, done := t.e.Agents[name]; done || name == "" {
			continue
		}
		var none diag.List
		a := t.crew.agent(ir.AgentRef{Name: name}, &none)
		t.e.Agents[name] = a.entry
		t.model(a.entry.Model)
		if r := t.u.set.Runners[a.entry.Runner]; r != nil {
			t.e.Runners[a.entry.Runner] = Runner(r)
		}
	}
}

// Runner is a runner of the policy in the form of epics.
func Runner(r *policies.Runner) ir.Runner {
	out := ir.Runner{
		Kind: r.Kind.V, Run: r.Run.V, Prompt: r.Prompt.V, Env: r.Env.V, Set: r.Assign.V, Secrets: r.Secrets.V,
		Outcome: r.Outcome.V, Concurrent: r.Concurrent.V, RPM: r.RPM.V,
	}
	if l := r.LimitedWhen; l != nil {
		out.LimitedWhen = &ir.LimitedWhen{Output: l.Output.V}
		if l.ExitCode.Set {
			code := l.ExitCode.V
			out.LimitedWhen.ExitCode = &code
		}
	}
	return out
}

func (t *tables) model(alias string) {
	if m := t.u.set.Models[alias]; m != nil {
		t.e.Models[alias] = ir.Model{ID: m.ID.V, Provider: m.Provider.V, PriceInput: m.PriceInput.V, PriceOutput: m.PriceOutput.V}
	}
}

// files lists the files of the project that fed values of the policy.
func (t *tables) files() {
	read := slices.Clone(t.u.set.Files)
	for _, f := range t.u.allFragments() {
		read = append(read, f.Files...)
	}
	for i := range t.u.parts { // policies that mention node.* read for each node
		read = append(read, t.u.parts[i].policy.Files...)
	}
	t.e.Files = lists.Map(read, func(f policies.FileRead) ir.FileDigest { return ir.FileDigest(f) })
	slices.SortFunc(t.e.Files, func(a, b ir.FileDigest) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.For, b.For))
	})
	t.e.Files = slices.CompactFunc(t.e.Files, func(a, b ir.FileDigest) bool { return a.Path == b.Path && a.For == b.For })
}
