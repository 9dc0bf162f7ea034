package compiler

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// runSettings are those of the run as a whole: top level, the default policy,
// the fences of the plan.
func (u *unit) runSettings() *policies.Settings {
	if u.run == nil {
		s := u.set.Settings.Overlay(u.set.DefaultPolicy().Settings)
		for _, f := range u.plan {
			s = s.Overlay(f.Settings)
		}
		u.run = &s
	}
	return u.run
}

// passIntegration writes what concerns the run as a whole.
func passIntegration(u *unit, e *ir.Epic, diags *diag.List) *ir.Epic {
	e = with(e)
	s := u.runSettings()
	e.Epic.Integration = ir.Integration{
		Branch: "ralph/" + e.Epic.Slug + "/integration",
		Mode:   s.Integration.Mode.Get("dag"), PR: s.Integration.PR.Get("none"),
		Gates: u.sumGates(e, s, diags), ConflictAgent: s.Integration.ConflictAgent.V,
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
		Git: ir.GitSettings{Cleanup: s.Git.Cleanup.Get("never"), Commit: s.Git.Commit.Get("each"), Remote: s.Git.Remote.V},
		Worktree: ir.Worktree{
			Setup: s.Worktree.Setup.V, Copy: s.Worktree.Copy.V, Env: s.Worktree.Env.V, MinFree: s.Worktree.MinFree.V,
			Submodules: s.Worktree.Submodules.V, Layout: s.Worktree.Layout.Get("worktree"),
		},
		Tracker: tracker(u.set.Tracker), Dialect: u.dialect.Name, Lanes: u.set.Ralph.Lanes.V, Policies: u.policy.paths,
	}
	for _, n := range u.set.Notify {
		e.Run.Notify = append(e.Run.Notify, ir.Notify{On: n.On.V, Run: n.Run.V})
	}
	return e
}

// sumGates are the gates that judge the joined result: as written, else the
// command gates of what is joined.
func (u *unit) sumGates(e *ir.Epic, s *policies.Settings, diags *diag.List) []string {
	if g := s.Integration.Gates; g.Set {
		out := []string{}
		gt := &gating{u: u, gates: e.Gates, diags: diags, said: map[string]bool{}}
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
			gates := make(map[string]ir.Gate, len(e.Gates)+1)
			for k, v := range e.Gates {
				gates[k] = v
			}
			gates[name] = gt.fromPolicy(p, name, map[bool]string{true: "builtin", false: "policy"}[p.Builtin])
			e.Gates = gates
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
	slices.SortFunc(out, func(a, b string) int { return ir.CompareKeys(ir.Key(a), ir.Key(b)) })
	return out
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
