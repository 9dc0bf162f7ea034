package compiler

import (
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/policies"
)

// elsewhere finds settings of the whole run that stand where only some of its
// items look: in a policy that is not everybody's, in a fence of a phase or
// sprint. They would do nothing.
func (u *unit) elsewhere(diags *diag.List) {
	def, run := u.set.DefaultPolicy(), u.runPolicy()
	seen := map[string]bool{}
	for i := range u.configs {
		p := u.configs[i].policy
		if p.Name != def.Name && (run == nil || p.Name != run.Name) && !seen[p.Name] {
			seen[p.Name] = true
			u.ofTheRun(&p.Settings, "policy \""+clip(p.Name)+"\" counts for some items only", diags)
		}
		for _, f := range u.configs[i].own {
			u.ofTheRun(&f.Settings, "this fence counts for one sprint", diags)
		}
	}
	for i := range u.phases {
		for _, f := range u.phases[i] {
			u.ofTheRun(&f.Settings, "this fence counts for one phase", diags)
		}
	}
	for _, f := range u.plan {
		if v := f.Settings.Integration.SerializeOverlaps; v.Set {
			u.misplaced(v.Range, "integration", []string{"serialize_overlaps"}, "the order of items is made before fences are read",
				"Write it at top level of the policy (ralph.hcl) or into the default policy.", diags)
		}
	}
}

// ofTheRun reports what s says about the whole run.
func (u *unit) ofTheRun(s *policies.Settings, because string, diags *diag.List) {
	const to = "Write it at top level of the policy (ralph.hcl), into the default policy, or into a fence below the plan's title."
	check := func(block string, values map[string]policies.Value[string]) {
		var names []string
		at := diag.Range{}
		for _, name := range sortedNames(values) {
			if v := values[name]; v.Set {
				if names = append(names, name); len(names) == 1 || v.Range.Start < at.Start {
					at = v.Range
				}
			}
		}
		if len(names) > 0 {
			u.misplaced(at, block, names, because, to, diags)
		}
	}
	text := func(set bool, at diag.Range) policies.Value[string] {
		return policies.Value[string]{Set: set, Range: at}
	}
	b, h, w, in := &s.Budget, &s.HITL, &s.Worktree, &s.Integration
	check("budget", map[string]policies.Value[string]{
		"tokens": text(b.Tokens.Set, b.Tokens.Range), "usd": text(b.USDMicro.Set, b.USDMicro.Range),
		"wall": text(b.WallMS.Set, b.WallMS.Range), "on_exceed": b.OnExceed,
	})
	check("hitl", map[string]policies.Value[string]{"plan": h.Plan, "labels": text(h.Labels.Set, h.Labels.Range)})
	check("git", map[string]policies.Value[string]{
		"base": s.Git.Base, "target": s.Git.Target, "cleanup": s.Git.Cleanup, "commit": s.Git.Commit, "remote": s.Git.Remote, "on_tamper": s.Git.OnTamper,
	})
	check("worktree", map[string]policies.Value[string]{
		"setup": text(w.Setup.Set, w.Setup.Range), "copy": text(w.Copy.Set, w.Copy.Range), "env": text(w.Env.Set, w.Env.Range), "secrets": text(w.Secrets.Set, w.Secrets.Range),
		"min_free": text(w.MinFree.Set, w.MinFree.Range), "max_commit": text(w.MaxCommit.Set, w.MaxCommit.Range), "submodules": text(w.Submodules.Set, w.Submodules.Range), "layout": w.Layout,
	})
	check("integration", map[string]policies.Value[string]{
		"mode": in.Mode, "pr": in.PR, "conflict_agent": in.ConflictAgent, "gates": text(in.Gates.Set, in.Gates.Range),
		"serialize_overlaps": text(in.SerializeOverlaps.Set, in.SerializeOverlaps.Range),
	})
}

// misplaced reports a block, once however many plans meet it.
func (u *unit) misplaced(at diag.Range, block string, names []string, because, to string, diags *diag.List) {
	if u.c.misplaced[at] {
		return
	}
	u.c.misplaced[at] = true
	if block == "budget" {
		to = "Write per_node { … } around what one item may cost. " + to
	}
	diags.Add(diag.Newf("setting-elsewhere", at, "this part of %s does nothing here", block).
		WithDetail("%s of %s %s for the whole run, and %s. %s", text.AndMore(names, len(names)), block, text.Form(len(names), "holds", "hold"), because, to))
}
