package compiler

import (
	"cmp"
	"path"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/slug"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// Templates for names where neither plan nor policy says one.
const (
	branchTemplate   = "ralph/{epic}/{sprint}-{slug}"
	worktreeTemplate = "../{repo}-worktrees/{branch}"
)

// passGit names base, branch and worktree of each node. Clashes are looked for
// later, across all plans (together.go).
func (b *build) passGit(diags *diag.List) *ir.Epic {
	e := b.own()
	top := b.whole
	e.Epic.Base = cmp.Or(b.draft.Base.Value, top.Git.Base.V, b.draft.Target.Value)
	e.Epic.Target = cmp.Or(b.draft.Target.Value, top.Git.Target.V)
	b.checkBase(diags)
	for it, n := range b.nodes(e) {
		d, s := it.draft, &it.settings
		n.Git.Base = e.Epic.Base
		if d.Base.Set() && b.may("source_branch", d.Base.Range, diags) {
			n.Git.Base = d.Base.Value
			checkRef(n.Git.Base, d.Base.Range, diags)
		}
		place := placeholders(e, n)
		n.Git.Branch = fillIn(s.Git.Branch.Get(branchTemplate), place)
		at := cmpRange(s.Git.Branch.Range, d.KeyRange)
		if d.Branch.Set() && b.may("branch", d.Branch.Range, diags) {
			n.Git.Branch, at = d.Branch.Value, d.Branch.Range
		}
		checkRef(n.Git.Branch, at, diags)
		place["branch"] = n.Git.Branch
		n.Git.Worktree = fillIn(s.Git.Worktree.Get(worktreeTemplate), place)
		at = cmpRange(s.Git.Worktree.Range, d.KeyRange)
		if d.Worktree.Set() && b.may("worktree", d.Worktree.Range, diags) {
			n.Git.Worktree, at = strings.TrimSuffix(d.Worktree.Value, "/"), d.Worktree.Range
		}
		checkWorktree(n.Git.Worktree, at, diags)
	}
	return e
}

// checkBase looks at base and target of the plan, and of the policy.
func (u *unit) checkBase(diags *diag.List) {
	for _, b := range []ir.Stated{u.draft.Base, u.draft.Target} {
		if b.Value != "" {
			checkRef(b.Value, b.Range, diags)
		}
	}
	for _, b := range []policies.Value[string]{u.whole.Git.Base, u.whole.Git.Target} {
		if b.Set {
			checkRef(b.V, b.Range, diags)
		}
	}
}

// placeholders are the words of templates. {repo} stays open until apply, so
// that the name of the clone's folder changes no byte.
func placeholders(e *ir.Epic, n *ir.Node) map[string]string {
	base := n.Git.Base
	return map[string]string{
		"epic": e.Epic.Slug, "plan": e.Epic.Slug, "sprint": slug.Ref(string(n.Key)),
		"slug": slug.Make(n.Title), "phase": slug.Ref(n.Phase),
		"base": base, "source": base, "repo": "{repo}",
	}
}

// fillIn replaces {word} by its value; unknown words stay.
func fillIn(template string, words map[string]string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(template, '{')
		if i < 0 {
			break
		}
		j := strings.IndexByte(template[i:], '}')
		if j < 0 {
			break
		}
		b.WriteString(template[:i])
		if v, known := words[template[i+1:i+j]]; known {
			b.WriteString(v)
		} else {
			b.WriteString(template[i : i+j+1])
		}
		template = template[i+j+1:]
	}
	b.WriteString(template)
	return b.String()
}

func checkRef(name string, at diag.Range, diags *diag.List) {
	why := ir.BadBranch(name)
	if why == "" {
		return
	}
	diags.Add(diag.Newf("branch-format", at, "%q is not a valid branch name", clip(name)).
		WithDetail("git rejects it: it %s. Write a name of letters, digits, \"-\", \"_\" and \"/\".", why))
}

// checkWorktree refuses paths outside the project and its sibling
// ../<name>-worktrees/.
func checkWorktree(p string, at diag.Range, diags *diag.List) {
	why := badWorktree(p)
	if why == "" {
		return
	}
	diags.Add(diag.New("worktree-path", at, "the worktree's path is not allowed").
		WithDetail("%q %s. Write a path inside the project or inside \"../NAME-worktrees/\".", clip(p), why))
}

func badWorktree(p string) string {
	if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "contains a control character"
	}
	if why := foreignPath(p); why != "" {
		return why
	}
	clean := path.Clean(p)
	rest, sibling := strings.CutPrefix(clean, "../")
	switch folder, below, _ := strings.Cut(rest, "/"); {
	case !sibling && clean != "..":
		if clean == "." {
			return "is the project itself"
		}
		if first, _, _ := strings.Cut(clean, "/"); strings.EqualFold(first, ".git") {
			return "is inside .git"
		}
		return ""
	case clean == ".." || !strings.HasSuffix(folder, "-worktrees") || folder == "-worktrees" || below == "":
		return "is outside the project"
	}
	return ""
}

// onDrive reports whether a path begins with a drive letter: "C:".
func onDrive(p string) bool {
	return len(p) > 1 && p[1] == ':' && ('a' <= p[0] && p[0] <= 'z' || 'A' <= p[0] && p[0] <= 'Z')
}
