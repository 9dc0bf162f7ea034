package compiler

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// passTables writes the agents, runners, models and sandboxes that nodes and gates
// name, directly or as fallbacks, and nothing else: a new agent in the policy changes
// no epic that does not use it. Secrets are all there: each is looked for in what
// agents leave, for any recipient.
func passTables(u *unit, crew *crew, e *ir.Epic) *ir.Epic {
	e = with(e)
	e.Agents, e.Runners, e.Models = map[string]ir.Agent{}, map[string]ir.Runner{}, map[string]ir.Model{}
	e.Secrets, e.Sandboxes = map[string]ir.Secret{}, map[string]ir.Sandbox{}
	t := tables{u: u, crew: crew, e: e}
	for it, n := range u.nodes(e) {
		for k := range n.Steps {
			s := &n.Steps[k]
			t.agent(s.Agent)
			t.agent(s.Stall.Agent)
			for _, f := range s.Fallback {
				t.agent(f)
			}
			t.model(s.Model)
			t.sandbox(s.Sandbox)
			if d := it.draft; d.Sandbox != nil && s.Sandbox == draftSandbox(d) {
				e.Sandboxes[s.Sandbox] = *d.Sandbox
			}
		}
	}
	for _, name := range sortedNames(e.Gates) {
		g := e.Gates[name]
		t.agent(g.Agent)
		for _, f := range g.Fallback {
			t.agent(f)
		}
		t.model(g.Model)
	}
	for name, sec := range u.set.Secrets {
		e.Secrets[name] = ir.Secret{Env: sec.Env.Get(name)}
	}
	t.agent(e.Epic.Integration.ConflictAgent)
	t.files()
	return e
}

type tables struct {
	u    *unit
	crew *crew
	e    *ir.Epic
}

func (t *tables) agent(name string) {
	if name == "" {
		return
	}
	if _, done := t.e.Agents[name]; done {
		return
	}
	var none diag.List
	a := t.crew.agent(ir.AgentRef{Name: name}, &none)
	t.e.Agents[name] = a.entry
	t.model(a.entry.Model)
	t.runner(a.entry.Runner)
}

func (t *tables) runner(name string) {
	r := t.u.set.Runners[name]
	if _, done := t.e.Runners[name]; done || r == nil {
		return
	}
	t.e.Runners[name] = Runner(r)
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
	m := t.u.set.Models[alias]
	if m == nil {
		return
	}
	t.e.Models[alias] = ir.Model{ID: m.ID.V, Provider: m.Provider.V, PriceInput: m.PriceInput.V, PriceOutput: m.PriceOutput.V}
}

func (t *tables) sandbox(name string) {
	s := t.u.set.Sandboxes[name]
	if s == nil {
		return
	}
	t.e.Sandboxes[name] = ir.Sandbox{
		Kind: s.Kind.V, Write: s.Write.V, Read: s.Read.V, Hide: s.Hide.V, Network: s.Network.V, Limits: s.Limits.V,
	}
}

// files lists the files of the project that fed values of the policy.
func (t *tables) files() {
	t.e.Files = nil
	add := func(files []policies.FileRead) {
		for _, f := range files {
			t.e.Files = append(t.e.Files, ir.FileDigest{Path: f.Path, Digest: f.Digest, For: f.For})
		}
	}
	add(t.u.set.Files)
	for _, f := range t.u.allFragments() {
		add(f.Files)
	}
	for i := range t.u.parts { // policies that mention node.* read for each node
		add(t.u.parts[i].policy.Files)
	}
	slices.SortFunc(t.e.Files, func(a, b ir.FileDigest) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.For, b.For))
	})
	t.e.Files = slices.CompactFunc(t.e.Files, func(a, b ir.FileDigest) bool { return a.Path == b.Path && a.For == b.For })
}
