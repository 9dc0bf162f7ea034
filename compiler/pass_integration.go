package compiler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// runSettings are those of the run as a whole: top level, the default policy,
// the policy that the plan names for all of its items, the fences of the plan.
// Gates of the sum that fences name are not in it: they come on top (fenceSum).
func (u *unit) runSettings() *policies.Settings {
	if u.run == nil {
		s := u.set.Settings.Overlay(u.set.DefaultPolicy().Settings)
		if p := u.runPolicy(); p != nil {
			s = s.Overlay(p.Settings)
		}
		gates, approvers := s.Integration.Gates, s.HITL.Approvers
		var quiet diag.List // said already, about the nodes
		for _, f := range u.plan {
			s = s.Overlay(u.tighten(s, f.Settings, &quiet))
		}
		s.Integration.Gates = gates
		if len(approvers.V) > 0 { // who approves is the policy's choice
			s.HITL.Approvers = approvers
		}
		u.run = &s
	}
	return u.run
}

// runPolicy is the policy that the plan names for all of its items; nil if it
// names none.
func (u *unit) runPolicy() *policies.Policy {
	name := u.draft.Policy
	if o := u.set.Ralph.Override; !name.Set() || o.Set && !slices.Contains(o.V, "policy") {
		return nil
	}
	return u.set.Policies[name.Value]
}

// passIntegration writes what concerns the run as a whole.
func passIntegration(u *unit, e *ir.Epic, diags *diag.List) *ir.Epic {
	e = with(e)
	s := u.runSettings()
	e.Epic.Integration = ir.Integration{
		Branch: "ralph/" + e.Epic.Slug + "/integration",
		Mode:   s.Integration.Mode.Get("dag"), PR: s.Integration.PR.Get("none"),
		ConflictAgent: s.Integration.ConflictAgent.V,
	}
	in := &e.Epic.Integration
	own := u.sumGates(e, s, diags)
	in.Gates = u.fenceSum(e, own, diags)
	if in.Stated = in.Gates; !s.Integration.Gates.Set {
		in.Stated = in.Gates[len(own):]
	}
	if pr := u.c.in.Options.PR; pr != "" {
		if !slices.Contains([]string{"none", "plan", "node"}, pr) {
			diags.Add(diag.Newf("unknown-pr", diag.Range{}, "--pr %q is not known", clip(pr)).
				WithDetail("Write none, plan or node."))
		} else {
			e.Epic.Integration.PR = pr
		}
	}
	if name := s.Integration.ConflictAgent; name.V != "" {
		u.agent(ir.AgentRef{Name: name.V, Range: name.Range}, "write", diags)
	}
	con := u.set.Concurrency
	for _, f := range u.plan {
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
		Git: ir.GitSettings{Cleanup: s.Git.Cleanup.Get("never"), Commit: s.Git.Commit.Get("each"), Remote: s.Git.Remote.V, OnTamper: onTamper(s.Git.OnTamper.V)},
		Worktree: ir.Worktree{
			Setup: s.Worktree.Setup.V, Copy: s.Worktree.Copy.V, Env: s.Worktree.Env.V, Secrets: s.Worktree.Secrets.V, MinFree: s.Worktree.MinFree.V, MaxCommit: s.Worktree.MaxCommit.V,
			Submodules: s.Worktree.Submodules.V, Layout: s.Worktree.Layout.Get("clone"),
		},
		Tracker: tracker(u.set.Tracker), Dialect: u.spec, Lanes: u.set.Ralph.Lanes.V, Policies: u.policy.paths,
	}
	for i := range e.Nodes {
		e.Nodes[i].HITL = u.nodeHITL(i, e.Run.HITL)
	}
	for _, n := range u.set.Notify {
		e.Run.Notify = append(e.Run.Notify, ir.Notify{On: n.On.V, Run: n.Run.V, Env: n.Env.V, Secrets: n.Secrets.V})
	}
	return e
}

// nodeHITL is what the policy of a node says about people in its sessions, nil if the
// run says the same.
func (u *unit) nodeHITL(i int, run ir.HITL) *ir.NodeHITL {
	h := u.settings(&u.configs[i]).HITL
	own := ir.NodeHITL{OnHumanMessage: h.OnHumanMessage.Get("pause"), IdleCooldownMS: h.IdleCooldownMS.V}
	if own == (ir.NodeHITL{OnHumanMessage: run.OnHumanMessage, IdleCooldownMS: run.IdleCooldownMS}) {
		return nil
	}
	return &own
}

// onTamper leaves the default out of the file.
func onTamper(word string) string {
	if word == "fail" {
		return ""
	}
	return word
}

// sumGates are the gates that judge the joined result: as written, else the
// command gates of what is joined.
func (u *unit) sumGates(e *ir.Epic, s *policies.Settings, diags *diag.List) []string {
	if g := s.Integration.Gates; g.Set {
		out := []string{}
		for _, name := range g.V {
			if _, there := e.Gates[name]; there {
				out = append(out, name)
				continue
			}
			p := u.set.Gates[name]
			if p == nil {
				known := sortedNames(u.set.Gates)
				diags.Add(diag.Newf("unknown-gate", g.Range, "there is no gate %q", clip(name)).
					WithDetail("The policy defines no such gate.%s", didYouMean(name, known)+" Define it, or remove it from the list."))
				continue
			}
			u.addGate(e, name, p, "policy", diags)
			out = append(out, name)
		}
		return out
	}
	seen := map[string]bool{}
	var out []string
	for i := range e.Nodes {
		if e.Nodes[i].Done {
			continue
		}
		for k := range e.Nodes[i].Steps {
			for _, name := range e.Nodes[i].Steps[k].Gates {
				if !seen[name] && e.Gates[name].Kind == "command" {
					seen[name] = true
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
	id := func(name string) string {
		g := e.Gates[name]
		if g.From == "plan" {
			return name
		}
		return name[strings.LastIndexByte(name, '/')+1:] + "\x00" + g.Run + fmt.Sprint(g.Env, g.Secrets, g.Expect)
	}
	for _, name := range names {
		best, seen := most[id(name)]
		t, b := e.Gates[name].TimeoutMS, e.Gates[best].TimeoutMS
		if !seen || b != 0 && (t == 0 || t > b) || t == b && name < best {
			most[id(name)] = name
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return most[id(name)] != name })
}

// fenceSum puts the gates that fences of the plan name behind the others: a plan
// adds and never takes away.
func (u *unit) fenceSum(e *ir.Epic, sum []string, diags *diag.List) []string {
	for _, f := range u.plan {
		v := f.Settings.Integration.Gates
		if v.Set && len(v.V) == 0 {
			u.loosened(v.Range, diags, "a plan cannot take gates away",
				"The result is judged by the gates that the policy says, by default the command gates of what is merged. Remove the line, or change the policy.")
		}
		for _, name := range v.V {
			full, p := name, u.set.Gates[name]
			from := "policy"
			for _, other := range u.plan {
				if own := other.Gates[name]; own != nil {
					full, p, from = "plan/"+name, own, "plan"
				}
			}
			if p == nil {
				if _, there := e.Gates[name]; !there {
					known := sortedNames(u.set.Gates)
					diags.Add(diag.Newf("unknown-gate", v.Range, "there is no gate %q", clip(name)).
						WithDetail("Neither the policy nor a fence of the plan defines it.%s Define it, or remove it from the list.", didYouMean(name, known)))
					continue
				}
			} else {
				u.addGate(e, full, p, from, diags)
			}
			if !slices.Contains(sum, full) {
				sum = append(slices.Clip(sum), full)
			}
		}
	}
	return sum
}

// addGate puts a gate into the epic if it is not there.
func (u *unit) addGate(e *ir.Epic, full string, p *policies.Gate, from string, diags *diag.List) {
	if _, there := e.Gates[full]; there {
		return
	}
	if p.Builtin {
		from = "builtin"
	}
	gt := &gating{u: u, gates: e.Gates, diags: diags, said: map[string]bool{}}
	gates := maps.Clone(e.Gates)
	gates[full] = u.contracts.addTo(gt.fromPolicy(p, full, from, u.runSettings()))
	e.Gates = gates
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
