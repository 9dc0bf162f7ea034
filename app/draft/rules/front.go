package rules

import (
	"slices"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// front reports a plan that chooses its own policy, which the user did not ask for. A
// revised plan may keep an existing choice.
func (k *checking) front() {
	fm := frontOf(k.File)
	if !fm.PoliciesSet || fm.PoliciesSet == k.before.PoliciesSet && slices.Equal(values(fm.Policies), values(k.before.Policies)) {
		return
	}
	at := fm.Range
	if len(fm.Policies) > 0 {
		at = fm.Policies[0].Range
	}
	k.diags.Add(diag.New("draft-policies", at, "the plan chooses policy files itself").
		WithDetail("`policies` in its front matter replaces the project's policy, with its gates and its approvals. Leave it out: the plan is compiled with the policy of the project."))
}

func frontOf(f *diag.File) syntax.FrontMatter {
	fm, _ := syntax.Peek(f) // what is wrong with it, the compiler says
	fm.PoliciesSet = fm.PoliciesSet || len(fm.Policies) > 0
	return fm
}

func values(all []syntax.Stated) (out []string) {
	return lists.Map(all, func(s syntax.Stated) string { return s.Value })
}
