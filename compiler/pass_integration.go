package compiler

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// passIntegration writes what concerns the run as a whole.
func (b *build) passIntegration(diags *diag.List) *ir.Epic {
	e := b.own()
	s := b.whole
	e.Epic.Integration = ir.Integration{
		Branch: "ralph/" + e.Epic.Slug + "/integration",
		Mode:   s.Integration.Mode.Get("dag"), PR: s.Integration.PR.Get("none"),
		ConflictAgent: s.Integration.ConflictAgent.V,
	}
	in := &e.Epic.Integration
	sum := summing{u: b.unit, crew: b.crew, e: e, diags: diags}
	own := sum.policyGates()
	in.Gates = sum.fenceGates(own)
	if in.Stated = in.Gates; !s.Integration.Gates.Set {
		in.Stated = in.Gates[len(own):]
	}
	if pr := b.c.in.Options.PR; pr != "" {
		if !slices.Contains([]string{"none", "plan", "node"}, pr) {
			diags.Add(diag.Newf("unknown-pr", diag.Range{}, "--pr %q is not known", clip(pr)).
				WithDetail("Write none, plan or node."))
		} else {
			e.Epic.Integration.PR = pr
		}
	}
	checkForge(s, in, diags)
	if name := s.Integration.ConflictAgent; name.V != "" {
		b.crew.agent(ir.AgentRef{Name: name.V, Range: name.Range}, diags)
	}
	con := b.set.Concurrency
	for _, f := range b.fences.plan {
		con.Nodes = f.Concurrency.Nodes.Or(con.Nodes)
		con.PerRunner = f.Concurrency.PerRunner.Or(con.PerRunner)
		con.PerLane = f.Concurrency.PerLane.Or(con.PerLane)
	}
	e.Run = ir.Run{
		Concurrency: ir.Concurrency{Nodes: con.Nodes.Get(10), PerRunner: con.PerRunner.V, PerLane: con.PerLane.V},
		Budget:      ir.Budget{Tokens: s.Budget.Tokens.V, USDMicro: s.Budget.USDMicro.V, WallMS: s.Budget.WallMS.V},
		OnExceed:    s.Budget.OnExceed.Get("pause"),
		HITL: ir.HITL{
			Level: s.HITL.Level.Get("gates"), Plan: s.HITL.Plan.Get("auto"), Approvers: atless(s.HITL.Approvers.V),
			Labels: s.HITL.Labels.V, OnHumanMessage: s.HITL.OnHumanMessage.Get("pause"), IdleCooldownMS: s.HITL.IdleCooldownMS.V,
		},
		Git: ir.GitSettings{Cleanup: s.Git.Cleanup.Get("never"), Commit: s.Git.Commit.Get("each"), Remote: s.Git.Remote.V, Forge: s.Git.Forge.V, OnTamper: onTamper(s.Git.OnTamper.V)},
		Worktree: ir.Worktree{
			Setup: s.Worktree.Setup.V, Copy: s.Worktree.Copy.V, Env: s.Worktree.Env.V, Secrets: s.Worktree.Secrets.V, MinFree: s.Worktree.MinFree.V, MaxCommit: s.Worktree.MaxCommit.V,
			Submodules: s.Worktree.Submodules.V, Layout: s.Worktree.Layout.Get("clone"),
		},
		Tracker: tracker(b.set.Tracker), Dialect: b.spec, Lanes: b.set.Ralph.Lanes.V, Policies: b.policy.paths,
	}
	for it, n := range b.nodes(e) {
		n.HITL = it.nodeHITL(e.Run.HITL)
	}
	for _, n := range b.set.Notify {
		e.Run.Notify = append(e.Run.Notify, ir.Notify{On: n.On.V, Run: n.Run.V, Env: n.Env.V, Secrets: n.Secrets.V})
	}
	return e
}

// nodeHITL is what the policy of a node says about people in its sessions, nil if the
// run says the same.
func (it *part) nodeHITL(run ir.HITL) *ir.NodeHITL {
	h := it.settings.HITL
	own := ir.NodeHITL{OnHumanMessage: h.OnHumanMessage.Get("pause"), IdleCooldownMS: h.IdleCooldownMS.V}
	if own == (ir.NodeHITL{OnHumanMessage: run.OnHumanMessage, IdleCooldownMS: run.IdleCooldownMS}) {
		return nil
	}
	return &own
}

// checkForge refuses pull requests where none can be made.
func checkForge(s *policies.Settings, in *ir.Integration, diags *diag.List) {
	if s.Git.Forge.V != "none" {
		return
	}
	at, asks, instead := s.Git.Forge.Range, "--pr "+in.PR, "leave the flag out"
	switch v := s.Integration; {
	case in.Mode == "wait":
		at, asks, instead = v.Mode.Range, `mode = "wait"`, `write mode = "dag" or mode = "branch"`
	case in.PR == "none":
		return
	case in.PR == v.PR.V:
		at, asks, instead = v.PR.Range, fmt.Sprintf("pr = %q", in.PR), `write pr = "none"`
	}
	diags.Add(diag.Newf("forge-none", at, "%s, and forge = \"none\" makes no pull requests", asks).
		WithDetail("Either %s, or write forge = \"gh\" or forge = \"glab\".", instead).
		WithRelated(s.Git.Forge.Range, "the forge"))
}

// onTamper leaves the default out of the file.
func onTamper(word string) string {
	if word == "fail" {
		return ""
	}
	return word
}

// summing finds the gates of the sum, and puts those into the epic that no node has.
type summing struct {
	u     *unit
	crew  *crew
	e     *ir.Epic
	diags *diag.List
}

// policyGates are the gates that judge the joined result: as written, else the
// command gates of what is joined.
func (sum *summing) policyGates() []string {
	u, e := sum.u, sum.e
	if g := u.whole.Integration.Gates; g.Set {
		out := []string{}
		for _, name := range g.V {
			if _, there := e.Gates[name]; there {
				out = append(out, name)
				continue
			}
			p := u.set.Gates[name]
			if p == nil {
				sum.diags.Add(u.unknownGate(name, g.Range, "The policy defines no such gate."))
				continue
			}
			sum.addGate(name, p, "policy")
			out = append(out, name)
		}
		return out
	}
	seen := said{}
	var out []string
	for i := range e.Nodes {
		if e.Nodes[i].Done {
			continue
		}
		for k := range e.Nodes[i].Steps {
			for _, name := range e.Nodes[i].Steps[k].Gates {
				if e.Gates[name].Kind == "command" && seen.first(name) {
					out = append(out, name)
				}
			}
		}
	}
	out = oneOfEach(e, out)
	slices.SortFunc(out, func(a, b string) int { return ir.CompareKeys(ir.Key(a), ir.Key(b)) })
	return out
}

// oneOfEach leaves of the gates that differ only by the time that policies give
// them ("unit", "slow/unit") the one with the most time: the sum is judged once.
func oneOfEach(e *ir.Epic, names []string) []string {
	most := map[string]string{}
	for _, name := range names {
		best, seen := most[e.Alike(name)]
		t, b := e.Gates[name].TimeoutMS, e.Gates[best].TimeoutMS
		if !seen || b != 0 && (t == 0 || t > b) || t == b && name < best {
			most[e.Alike(name)] = name
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return most[e.Alike(name)] != name })
}

// fenceGates appends the gates that fences of the plan name: a plan
// adds and never removes.
func (sum *summing) fenceGates(gates []string) []string {
	u := sum.u
	for _, f := range u.fences.plan {
		v := f.Settings.Integration.Gates
		if v.Set && len(v.V) == 0 {
			u.loosened(v.Range, sum.diags, "a plan cannot remove gates",
				"The result is judged by the gates that the policy says, by default the command gates of what is merged. Remove the line, or change the policy.")
		}
		for _, name := range v.V {
			full, p := name, u.set.Gates[name]
			from := "policy"
			for _, other := range u.fences.plan {
				if own := other.Gates[name]; own != nil {
					full, p, from = "plan/"+name, own, "plan"
				}
			}
			if p == nil {
				if _, there := sum.e.Gates[name]; !there {
					sum.diags.Add(u.unknownGate(name, v.Range, "Neither the policy nor a fence of the plan defines it."))
					continue
				}
			} else {
				sum.addGate(full, p, from)
			}
			gates = lists.Include(slices.Clip(gates), full)
		}
	}
	return gates
}

// addGate puts a gate into the epic if it is not there.
func (sum *summing) addGate(full string, p *policies.Gate, from string) {
	if _, there := sum.e.Gates[full]; there {
		return
	}
	if p.Builtin {
		from = "builtin"
	}
	g := newGating(sum.u, sum.crew, maps.Clone(sum.e.Gates), sum.diags)
	g.gates[full] = contracts{}.addTo(g.fromPolicy(p, full, from, sum.u.whole))
	sum.e.Gates = g.gates
}

func tracker(t *policies.Tracker) *ir.Tracker {
	if t == nil {
		return nil
	}
	return &ir.Tracker{
		Kind: "bd", Prefix: t.Prefix.V, Mirror: t.Mirror.V, Labels: t.Labels.V, Actor: t.Actor.V, PollMS: t.PollMS.V,
		MaxConcurrentRuns: t.MaxConcurrentRuns.V, Approvals: t.Approvals.V, Proposals: t.Proposals.V, GC: t.GC.V,
	}
}
