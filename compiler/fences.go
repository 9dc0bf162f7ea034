package compiler

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// A plan may come from a stranger: what its fences say is held to the policy's
// `override`, and may add to what judges the work but never take away from it.

// may reports whether the policy lets a plan set one of the words; if not it
// says so about the first, the most exact one.
func (u *unit) may(word string, at diag.Range, diags *diag.List, wider ...string) bool {
	o := u.set.Ralph.Override
	if !o.Set || slices.Contains(o.V, word) || slices.ContainsFunc(wider, func(w string) bool { return slices.Contains(o.V, w) }) {
		return true
	}
	allowed := "nothing"
	if len(o.V) > 0 {
		allowed = strings.Join(o.V, ", ")
	}
	diags.Add(diag.Newf("label-not-allowed", at, "the policy does not let a plan set %s", word).
		WithDetail("The policy lists what a plan may set: %s. Remove it here, or add %q to override.", allowed, word).
		WithRelated(o.Range, "the list"))
	return false
}

// hold holds one value of a fence to `override`.
func hold[T any](u *unit, diags *diag.List, v policies.Value[T], word string, wider ...string) {
	if v.Set {
		u.may(word, v.Range, diags, wider...)
	}
}

// checkFence holds a fence to `override`, and refuses what would loosen gates
// whatever lies below it. What depends on the policy below is tightened when the
// layers are put over each other.
func (u *unit) checkFence(f *policies.Fragment, diags *diag.List) {
	u.holdStep(&f.Steps, diags)
	for _, st := range f.Step {
		u.holdStep(&st.StepSettings, diags)
	}
	u.holdSettings(&f.Settings, diags)
	hold(u, diags, f.Concurrency.Nodes, "concurrency")
	hold(u, diags, f.Concurrency.PerRunner, "concurrency")
	hold(u, diags, f.Concurrency.PerLane, "concurrency")
	for _, w := range f.Waivers {
		u.may("waive", w.Range, diags)
	}
	for _, st := range append([]*policies.Step{{StepSettings: f.Steps}}, f.Step...) {
		if a := st.Approval; a.Set && !a.V.Required {
			diags.Add(diag.New("gate-loosened", a.Range, "a plan cannot take an approval away").
				WithDetail("The policy decides which steps a person approves. Remove the line, or change the policy."))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Gates)) {
		if s := &f.Gates[name].Secrets; s.Set {
			u.loosened(s.Range, diags, "a plan cannot hand out secrets",
				"Only the policy says which commands get a secret. Make it a gate of the policy, or remove the line.")
			*s = policies.Value[[]string]{}
		}
		if other := u.set.Gates[name]; other != nil {
			d := diag.Newf("gate-loosened", f.Gates[name].Range, "the policy already has a gate %q", clip(name)).
				WithDetail("A plan cannot replace a gate of the policy. Give this one another name.")
			if !other.Builtin {
				d = d.WithRelated(other.Range, "the policy's gate")
			}
			diags.Add(d)
		}
	}
	u.checkFenceSteps(f, diags)
}

// checkFenceSteps reports steps that no policy has: what a fence says of them
// would do nothing.
func (u *unit) checkFenceSteps(f *policies.Fragment, diags *diag.List) {
	if len(f.Step) == 0 {
		return
	}
	known := map[string]bool{}
	for _, p := range u.set.Policies {
		for _, s := range p.Steps {
			known[s.Name] = true
		}
	}
	for _, s := range f.Step {
		if !known[s.Name] {
			names := sortedNames(known)
			diags.Add(diag.Newf("policy-unknown-reference", s.Range, "no policy has a step %q", clip(s.Name)).
				WithDetail("A fence adjusts steps of the policy and adds none. The steps are %s.%s", text.AndMore(names, len(names)), didYouMean(s.Name, names)))
		}
	}
}

func (u *unit) holdStep(s *policies.StepSettings, diags *diag.List) {
	hold(u, diags, s.Capabilities, "capability")
	hold(u, diags, s.Tags, "tags", "capability")
	hold(u, diags, s.Model, "model")
	hold(u, diags, s.Agent, "agent")
	hold(u, diags, s.Access, "access")
	hold(u, diags, s.Gates, "gates")
	hold(u, diags, s.GateMode, "gate_mode", "gates")
	hold(u, diags, s.TimeoutMS, "timeout")
	hold(u, diags, s.Iterations, "iterations")
	hold(u, diags, s.Breaker, "breaker")
	hold(u, diags, s.Approval, "approval")
	hold(u, diags, s.Sandbox, "sandbox")
	hold(u, diags, s.Session, "session")
	hold(u, diags, s.OnFailure, "on_failure")
	hold(u, diags, s.Next, "next")
	hold(u, diags, s.AllowEmpty, "allow_empty")
	hold(u, diags, s.Retry.Attempts, "attempts", "retry")
	hold(u, diags, s.Retry.Backoff, "retry")
	hold(u, diags, s.Retry.InitialMS, "retry")
	hold(u, diags, s.Retry.MaxMS, "retry")
	hold(u, diags, s.Retry.JitterPercent, "retry")
	hold(u, diags, s.Retry.RunnerRetries, "retry")
	hold(u, diags, s.Stall.AfterMS, "stall")
	hold(u, diags, s.Stall.Action, "stall")
	hold(u, diags, s.Stall.Agent, "stall")
}

// holdSettings leaves out retry and stall, which stand on the step settings too.
func (u *unit) holdSettings(s *policies.Settings, diags *diag.List) {
	l := &s.Limits
	hold(u, diags, l.Plan, "iterations", "limits")
	hold(u, diags, l.Build, "iterations", "limits")
	hold(u, diags, l.Attempts, "attempts", "limits")
	hold(u, diags, l.Breaker, "breaker", "limits")
	hold(u, diags, l.RunnerRetries, "retry", "limits")
	hold(u, diags, l.TimeoutMS, "timeout", "limits")
	for _, v := range []policies.Value[int64]{l.CommandGateMS, l.AgentGateMS, l.ReviewGateMS, l.HumanGateMS} {
		hold(u, diags, v, "limits")
	}
	b := &s.Budget
	for _, v := range []policies.Value[int64]{b.Tokens, b.USDMicro, b.WallMS, b.PerNode.Tokens, b.PerNode.USDMicro, b.PerNode.WallMS} {
		hold(u, diags, v, "budget")
	}
	hold(u, diags, b.OnExceed, "budget")
	h := &s.HITL
	for _, v := range []policies.Value[string]{h.Level, h.Plan, h.OnHumanMessage} {
		hold(u, diags, v, "hitl")
	}
	hold(u, diags, h.Approvers, "hitl")
	hold(u, diags, h.Labels, "hitl")
	hold(u, diags, h.IdleCooldownMS, "hitl")
	hold(u, diags, s.Git.Base, "source_branch", "git")
	hold(u, diags, s.Git.Branch, "branch", "git")
	hold(u, diags, s.Git.Worktree, "worktree", "git")
	for _, v := range []policies.Value[string]{s.Git.Target, s.Git.Cleanup, s.Git.Commit, s.Git.Remote, s.Git.OnTamper} {
		hold(u, diags, v, "git")
	}
	w := &s.Worktree
	hold(u, diags, w.Setup, "worktree")
	hold(u, diags, w.Copy, "worktree")
	hold(u, diags, w.Env, "worktree")
	hold(u, diags, w.Secrets, "worktree")
	hold(u, diags, w.MinFree, "worktree")
	hold(u, diags, w.MaxCommit, "worktree")
	hold(u, diags, w.Submodules, "worktree")
	hold(u, diags, w.Layout, "worktree")
	i := &s.Integration
	for _, v := range []policies.Value[string]{i.Mode, i.PR, i.ConflictAgent} {
		hold(u, diags, v, "integration")
	}
	hold(u, diags, i.Gates, "integration")
	hold(u, diags, i.SerializeOverlaps, "integration")
}

// people orders the levels of hitl by how many gates they ask for.
var peopleRank = map[string]int{"none": 0, "gates": 1, "every-node": 2}

// tighten returns what a fence says over below, without what would take people
// away; that is reported once for each place.
func (u *unit) tighten(below, over policies.Settings, diags *diag.List) policies.Settings {
	h := &over.HITL
	if h.Level.Set && peopleRank[h.Level.V] < peopleRank[below.HITL.Level.Get("gates")] {
		u.loosened(h.Level.Range, diags, "a plan cannot take human gates away",
			"Below this fence the level is "+quote(below.HITL.Level.Get("gates"))+", and a plan may only ask for more. Remove the line, or change the policy.")
		h.Level = policies.Value[string]{}
	}
	if h.Plan.Set && h.Plan.V == "auto" && below.HITL.Plan.V == "required" {
		u.loosened(h.Plan.Range, diags, "a plan cannot approve itself",
			"The policy says that a person approves plans before they run. Remove the line, or change the policy.")
		h.Plan = policies.Value[string]{}
	}
	if t := &over.Git.OnTamper; t.V == "note" && below.Git.OnTamper.V != "note" {
		u.loosened(t.Range, diags, "a plan cannot excuse tampering",
			"Only the policy says that a run does not fail when others change settings, hooks or refs while it is at work. Remove the line, or change the policy.")
		*t = policies.Value[string]{}
	}
	w, at := &over.Worktree, below.Worktree
	if w.Layout.V == "worktree" && at.Layout.Get("clone") != "worktree" {
		u.loosened(w.Layout.Range, diags, "a plan cannot choose the weaker layout",
			"In a worktree agents write into the refs and the configuration of the user's repository. Remove the line, or write it into the policy.")
		w.Layout = policies.Value[string]{}
	}
	if w.MaxCommit.V > at.MaxCommit.Get(ir.MaxCommit) {
		u.loosened(w.MaxCommit.Range, diags, "a plan cannot raise max_commit",
			"A plan may only set a smaller one. Remove the line, or change the policy.")
		w.MaxCommit = policies.Value[int64]{}
	}
	if w.MinFree.Set && w.MinFree.V < at.MinFree.V {
		u.loosened(w.MinFree.Range, diags, "a plan cannot lower min_free",
			"A plan may only ask for more. Remove the line, or change the policy.")
		w.MinFree = policies.Value[int64]{}
	}
	if s := &over.Worktree.Secrets; s.Set {
		u.loosened(s.Range, diags, "a plan cannot hand out secrets",
			"Only the policy says which commands get a secret. Remove the line, or write it into the policy.")
		*s = policies.Value[[]string]{}
	}
	return over
}

// keepApproval reports a fence that would choose other people for an approval
// that stands below it; the overlay keeps the one below.
func (u *unit) keepApproval(below, over policies.Value[policies.Approval], diags *diag.List) {
	if below.V.Required && over.Set && over.V.Required && len(over.V.Approvers) > 0 && !slices.Equal(below.V.Approvers, over.V.Approvers) {
		u.loosened(over.Range, diags, "a plan cannot choose who approves",
			"The policy asks for this approval and says who gives it. Remove the line, or ask for one more: **Approval**: required from @name.")
	}
}

func (u *unit) loosened(at diag.Range, diags *diag.List, summary, detail string) {
	key := "loosened " + at.File + " " + strconv.Itoa(max(at.Start, 0)) // fences of a plan meet several policies
	if u.said[key] {
		return
	}
	u.said[key] = true
	diags.Add(diag.New("gate-loosened", at, summary).WithDetail("%s", detail))
}

func quote(s string) string { return `"` + s + `"` }
