package compiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/policies"
)

// elsewhere finds settings of the whole run that are where only some of its
// items look: in a policy that is not everybody's, in a fence of a phase or
// sprint. They would do nothing.
func (u *unit) elsewhere(diags *diag.List) {
	def, run := u.set.DefaultPolicy(), u.runPolicy()
	seen := said{}
	for i := range u.parts {
		p := u.parts[i].policy
		if p.Name != def.Name && (run == nil || p.Name != run.Name) && seen.first(p.Name) {
			u.ofTheRun(&p.Settings, "policy \""+clip(p.Name)+"\" applies to some items only", diags)
		}
		for _, f := range u.parts[i].fences {
			u.ofTheRun(&f.Settings, "this fence applies to one sprint", diags)
		}
	}
	for _, phase := range u.fences.phases {
		for _, f := range phase {
			u.ofTheRun(&f.Settings, "this fence applies to one phase", diags)
		}
	}
	for _, f := range u.fences.plan {
		if v := f.Settings.Integration.SerializeOverlaps; v.Set {
			u.misplaced(v.Range, "integration", []string{"serialize_overlaps"}, "the order of items is determined before fences are read",
				"Write it at top level of the policy (ralph.hcl) or into the default policy.", diags)
		}
	}
}

// wholeRun reports whether a setting concerns the whole run.
func wholeRun(x policies.Stated) bool {
	switch x.Block {
	case "budget":
		return !strings.HasPrefix(x.Name, "per_node.")
	case "hitl":
		return x.Name == "plan" || x.Name == "labels"
	case "git":
		return x.Name != "branch" && x.Name != "worktree"
	}
	return x.Block == "worktree" || x.Block == "integration"
}

// ofTheRun reports what s says about the whole run, once for each block.
func (u *unit) ofTheRun(s *policies.Settings, because string, diags *diag.List) {
	const to = "Write it at top level of the policy (ralph.hcl), into the default policy, or into a fence below the plan's title."
	names, first := map[string][]string{}, map[string]diag.Range{}
	for _, x := range s.Stated() {
		if !wholeRun(x) {
			continue
		}
		if at, there := first[x.Block]; !there || x.Range.Start < at.Start {
			first[x.Block] = x.Range
		}
		names[x.Block] = append(names[x.Block], x.Name)
	}
	for _, block := range sortedNames(names) {
		slices.Sort(names[block])
		u.misplaced(first[block], block, names[block], because, to, diags)
	}
}

// misplaced reports a block, once however many plans meet it.
func (u *unit) misplaced(at diag.Range, block string, names []string, because, to string, diags *diag.List) {
	if !u.c.said.first(fmt.Sprint("misplaced ", at)) {
		return
	}
	if block == "budget" {
		to = "Write per_node { … } around what one item may cost. " + to
	}
	diags.Add(diag.Newf("setting-elsewhere", at, "this part of %s does nothing here", block).
		WithDetail("%s of %s %s for the whole run, but %s. %s", text.AndMore(names, len(names)), block, text.Form(len(names), "holds", "hold"), because, to))
}
