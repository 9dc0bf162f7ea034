package policies

import (
	"errors"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// Git is the block `git {}`. Branch and Worktree are templates with the places
// {epic} (also {plan}), {sprint}, {slug}, {phase}, {base} (also {source}), {branch}
// and {repo}; the values are valid in branch names.
type Git struct {
	Base     Value[string] `hcl:"base" doc:"the branch that work starts from"`
	Target   Value[string] `hcl:"target" doc:"the branch that a pull request asks to be merged into"`
	Branch   Value[string] `hcl:"branch" doc:"the template of branch names, such as \"ralph/{epic}/{sprint}-{slug}\""`
	Worktree Value[string] `hcl:"worktree" doc:"the template of worktree paths, such as \"../{repo}-worktrees/{branch}\""`
	Cleanup  Value[string] `hcl:"cleanup" enum:"never on_success" doc:"when worktrees are removed: never or on_success"`
	Commit   Value[string] `hcl:"commit" enum:"each squash" doc:"what becomes of the agent's own commits: each or squash"`
	Remote   Value[string] `hcl:"remote" doc:"the remote that is pushed to"`
	Forge    Value[string] `hcl:"forge" enum:"gh glab none" doc:"the program that makes pull requests: gh, glab or none; by default that of the remote's host"`
	OnTamper Value[string] `hcl:"on_tamper" enum:"fail note" doc:"what a change of settings, hooks or refs by others does to the run: fail or note"`
}

var gitBlock = &block{of: (*Git)(nil), name: "git", doc: "branches and commits"}

// templatePlaces are what git templates may hold in braces.
var templatePlaces = []string{"base", "branch", "epic", "phase", "plan", "repo", "slug", "source", "sprint"}

func (g *Git) check(r *reader) {
	r.checkTemplate("branch", g.Branch)
	r.checkTemplate("worktree", g.Worktree)
}

func (r *reader) checkTemplate(name string, v Value[string]) {
	for _, m := range placePattern.FindAllStringSubmatch(v.V, 100) {
		if err := oneOf(m[1], templatePlaces); err != nil {
			r.invalid(name, v.Range, err)
			return
		}
	}
	if name == "branch" && strings.Contains(v.V, "{repo}") || name == "branch" && strings.Contains(v.V, "{branch}") {
		r.invalid(name, v.Range, errors.New("a branch name cannot contain {repo} or {branch}"))
	}
}

var placePattern = lazyregexp.New(`\{([^{}]*)\}`)
