package policies

import (
	"errors"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// Git is the block `git {}`. Branch and Worktree are templates with the places
// {epic} (also {plan}), {sprint}, {slug}, {phase}, {base} (also {source}), {branch}
// and {repo}; what is filled in is fit for a name of a branch.
type Git struct {
	Base     Value[string]
	Target   Value[string]
	Branch   Value[string]
	Worktree Value[string]
	Cleanup  Value[string] // never, on_success
	Commit   Value[string] // each, squash
	Remote   Value[string]
	OnTamper Value[string] // fail, note
}

// Overlay returns a with everything that b sets put over it.
func (a Git) Overlay(b Git) Git {
	return Git{
		Base:     b.Base.Or(a.Base),
		Target:   b.Target.Or(a.Target),
		Branch:   b.Branch.Or(a.Branch),
		Worktree: b.Worktree.Or(a.Worktree),
		Cleanup:  b.Cleanup.Or(a.Cleanup),
		Commit:   b.Commit.Or(a.Commit),
		Remote:   b.Remote.Or(a.Remote),
		OnTamper: b.OnTamper.Or(a.OnTamper),
	}
}

var gitBlock = &block{
	name: "git",
	doc:  "branches and commits",
	attrs: []attr{
		{name: "base", kind: kString, doc: "the branch that work starts from"},
		{name: "target", kind: kString, doc: "the branch that a pull request asks to be merged into"},
		{name: "branch", kind: kString, doc: "the template of branch names, such as \"ralph/{epic}/{sprint}-{slug}\""},
		{name: "worktree", kind: kString, doc: "the template of worktree paths, such as \"../{repo}-worktrees/{branch}\""},
		{name: "cleanup", kind: kEnum, enum: []string{"never", "on_success"}, doc: "when worktrees are removed: never or on_success"},
		{name: "commit", kind: kEnum, enum: []string{"each", "squash"}, doc: "what becomes of the agent's own commits: each or squash"},
		{name: "remote", kind: kString, doc: "the remote that is pushed to"},
		{name: "on_tamper", kind: kEnum, enum: []string{"fail", "note"}, doc: "what a change of settings, hooks or refs by others does to the run: fail or note"},
	},
}

// templatePlaces are what git templates may hold in braces.
var templatePlaces = []string{"base", "branch", "epic", "phase", "plan", "repo", "slug", "source", "sprint"}

func (r *reader) git() Git {
	g := Git{
		Base:     r.str("base"),
		Target:   r.str("target"),
		Branch:   r.str("branch"),
		Worktree: r.str("worktree"),
		Cleanup:  r.enum("cleanup"),
		Commit:   r.enum("commit"),
		Remote:   r.str("remote"),
		OnTamper: r.enum("on_tamper"),
	}
	r.checkTemplate("branch", g.Branch)
	r.checkTemplate("worktree", g.Worktree)
	return g
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
