package compiler

import (
	"cmp"
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

// overrideWords are the words of `override` for an attribute of a fence: the exact one,
// then wider ones. Mostly it is the block's, or, in a step, the attribute's own name.
func overrideWords(x policies.Stated) []string {
	switch strings.TrimPrefix(x.Block+"."+x.Name, ".") {
	case "capabilities":
		return []string{"capability"}
	case "tags":
		return []string{"tags", "capability"}
	case "gate_mode":
		return []string{"gate_mode", "gates"}
	case "limits.plan", "limits.build":
		return []string{"iterations", "limits"}
	case "limits.runner_retries":
		return []string{"retry", "limits"}
	case "limits.attempts", "limits.breaker", "limits.timeout", "retry.attempts", "git.branch", "git.worktree":
		return []string{x.Name, x.Block}
	case "git.base":
		return []string{"source_branch", "git"}
	}
	return []string{cmp.Or(x.Block, x.Name)}
}

// checkFence holds a fence to `override`, and refuses what would loosen gates
// whatever is below it. What depends on the policy below is tightened when the
// layers are put over each other.
func (u *unit) checkFence(f *policies.Fragment, diags *diag.List) {
	for _, x := range f.Stated() {
		words := overrideWords(x)
		u.may(words[0], x.Range, diags, words[1:]...)
	}
	for _, w := range f.Waivers {
		u.may("waive", w.Range, diags)
	}
	for _, st := range append([]*policies.Step{{StepSettings: f.Steps}}, f.Step...) {
		if a := st.Approval; a.Set && !a.V.Required {
			diags.Add(diag.New("gate-loosened", a.Range, "a plan cannot remove an approval").
				WithDetail("The policy decides which steps a person approves. Remove the line, or change the policy."))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Gates)) {
		s := &f.Gates[name].Secrets
		dropLoosening(u, s.Set, s, diags, "a plan cannot hand out secrets",
			"Only the policy says which commands get a secret. Make it a gate of the policy, or remove the line.")
		u.openNothing(&f.Gates[name].Network, diags)
		u.keepSandbox(policies.Value[string]{}, &f.Gates[name].Sandbox, diags)
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

// people orders the levels of hitl by how many gates they ask for.
var peopleRank = map[string]int{"none": 0, "gates": 1, "every-node": 2}

// tighten returns what a fence says over below, without what would take people
// away; that is reported once for each place.
func (u *unit) tighten(below, over policies.Settings, diags *diag.List) policies.Settings {
	h, w := &over.HITL, &over.Worktree
	level := below.HITL.Level.Get("gates")
	dropLoosening(u, h.Level.Set && peopleRank[h.Level.V] < peopleRank[level], &h.Level, diags, "a plan cannot remove human gates",
		"Below this fence the level is \""+level+"\", and a plan may only ask for more. Remove the line, or change the policy.")
	dropLoosening(u, h.Plan.Set && h.Plan.V == "auto" && below.HITL.Plan.V == "required", &h.Plan, diags, "a plan cannot approve itself",
		"The policy says that a person approves plans before they run. Remove the line, or change the policy.")
	dropLoosening(u, over.Git.OnTamper.V == "note" && below.Git.OnTamper.V != "note", &over.Git.OnTamper, diags, "a plan cannot excuse tampering",
		"Only the policy says that a run does not fail when others change settings, hooks or refs while it is at work. Remove the line, or change the policy.")
	dropLoosening(u, w.Layout.V == "worktree" && below.Worktree.Layout.Get("clone") != "worktree", &w.Layout, diags, "a plan cannot choose the weaker layout",
		"In a worktree agents write into the refs and the configuration of the user's repository. Remove the line, or write it into the policy.")
	dropLoosening(u, w.MaxCommit.V > below.Worktree.MaxCommit.Get(ir.MaxCommit), &w.MaxCommit, diags, "a plan cannot raise max_commit",
		"A plan may only lower it. Remove the line, or change the policy.")
	dropLoosening(u, w.MinFree.Set && w.MinFree.V < below.Worktree.MinFree.V, &w.MinFree, diags, "a plan cannot lower min_free",
		"A plan may only ask for more. Remove the line, or change the policy.")
	dropLoosening(u, w.Secrets.Set, &w.Secrets, diags, "a plan cannot hand out secrets",
		"Only the policy says which commands get a secret. Remove the line, or write it into the policy.")
	u.openNothing(&w.Network, diags)
	u.openNothing(&over.Integration.Network, diags)
	u.keepSandbox(below.Worktree.Sandbox, &w.Sandbox, diags)
	u.keepSandbox(below.Integration.Sandbox, &over.Integration.Sandbox, diags)
	return over
}

// keepApproval reports a fence that would choose other people for an approval
// that is below it; the overlay keeps the one below.
func (u *unit) keepApproval(below, over policies.Value[policies.Approval], diags *diag.List) {
	if below.V.Required && over.Set && over.V.Required && len(over.V.Approvers) > 0 && !slices.Equal(below.V.Approvers, over.V.Approvers) {
		u.loosened(over.Range, diags, "a plan cannot choose who approves",
			"The policy asks for this approval and says who gives it. Remove the line, or ask for one more: **Approval**: required from @name.")
	}
}

// dropLoosening reports a value that would loosen what judges the work, and takes it away.
func dropLoosening[T any](u *unit, is bool, v *policies.Value[T], diags *diag.List, summary, detail string) {
	if is {
		u.loosened(v.Range, diags, summary, detail)
		*v = policies.Value[T]{}
	}
}

func (u *unit) loosened(at diag.Range, diags *diag.List, summary, detail string) {
	if u.c.said.first("loosened " + at.File + " " + strconv.Itoa(max(at.Start, 0))) { // fences of a plan meet several policies
		diags.Add(diag.New("gate-loosened", at, summary).WithDetail("%s", detail))
	}
}
