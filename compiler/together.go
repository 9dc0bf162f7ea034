package compiler

import (
	"path"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// claimed is a taken name.
type claimed struct {
	name  string
	what  string // "sprint 1.1", "the base"
	at    diag.Range
	fixed bool // a branch that exists already: base, target
}

// checkTogether looks at the branches, worktrees and ids of all plans at once.
func (c *compilation) checkTogether() {
	var branches, worktrees []claimed
	slugs := map[string]*build{}
	c.checkAnnotations()
	c.checkIDChoices()
	for _, u := range c.builds {
		e := u.epic
		if other := slugs[e.Epic.Slug]; other != nil {
			at := u.draft.Range
			if u.tree != nil {
				at = cmpRange(u.tree.FrontMatter.ID.Range, at)
			}
			c.diags.Add(diag.Newf("same-slug", at, "two plans have the slug %q", clip(e.Epic.Slug)).
				WithDetail("The slug names branches and state, so each plan needs its own. Write another id into the front matter of this plan.").
				WithRelated(other.draft.Range, "the other plan"))
			continue // everything else would clash too
		}
		slugs[e.Epic.Slug] = u
		branches = append(branches,
			claimed{e.Epic.Base, "the base", u.draft.Base.Range, true},
			claimed{e.Epic.Target, "the target", u.draft.Target.Range, true},
			claimed{"ralph/" + e.Epic.Slug + "/integration", "the integration branch", diag.Range{}, false})
		own := newBranches(e)
		for it, n := range u.nodes(e) {
			d, what := it.draft, string(n.Key)
			branches = append(branches, claimed{n.Git.Branch, what, cmpRange(d.Branch.Range, d.KeyRange), false})
			if n.Git.Base != e.Epic.Base && !own.before(e, n.Key, n.Git.Base) {
				branches = append(branches, claimed{n.Git.Base, "the base of " + what, d.Base.Range, true})
			}
			worktrees = append(worktrees, claimed{path.Clean(n.Git.Worktree), what, cmpRange(d.Worktree.Range, d.KeyRange), false})
		}
	}
	c.clashes("branch", branches)
	c.clashes("worktree", worktrees)
}

// ownBranches knows which node makes which branch.
type ownBranches struct {
	byBranch map[string]ir.Key
	byKey    map[ir.Key]int
	steps    *int // left to look back; without any a branch is taken to be earlier
}

func newBranches(e *ir.Epic) ownBranches {
	steps := 2_000_000
	b := ownBranches{make(map[string]ir.Key, len(e.Nodes)), make(map[ir.Key]int, len(e.Nodes)), &steps}
	for i := range e.Nodes {
		b.byBranch[e.Nodes[i].Git.Branch] = e.Nodes[i].Key
		b.byKey[e.Nodes[i].Key] = i
	}
	return b
}

// before reports whether the branch is that of a node which another waits for: a
// plan whose sprints are based on each other's branches says what its graph says.
func (b ownBranches) before(e *ir.Epic, key ir.Key, branch string) bool {
	want, known := b.byBranch[branch]
	if !known {
		return false
	}
	i := b.byKey[key]
	seen, stack := map[int]bool{i: true}, []int{i}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, a := range e.Nodes[at].After {
			*b.steps--
			if a.Type == ir.Blocks && a.Key == want || *b.steps < 0 {
				return true
			}
			if a.Type != ir.Blocks {
				continue
			}
			if k, ok := b.byKey[a.Key]; ok && !seen[k] {
				seen[k] = true
				stack = append(stack, k)
			}
		}
	}
	return false
}

// checkAnnotations reports an id that is annotated twice: in two plans, or for
// an item and its own plan. Twice among the items of one plan is reported by
// syntax.
func (c *compilation) checkAnnotations() {
	type owner struct {
		u  *build
		at diag.Range
	}
	first := map[ir.NodeID]owner{}
	see := func(u *build, id ir.NodeID, at diag.Range, item bool) {
		if id == "" {
			return
		}
		if o, twice := first[id]; twice && (o.u != u || item && o.at == u.draft.IDRange) {
			c.diags.Add(diag.Newf("duplicate-annotation", at, "the annotation %q appears twice", clip(string(id))).
				WithDetail("An id belongs to one plan or item permanently. Delete this annotation; compile writes a new one.").
				WithRelated(o.at, "first here"))
			return
		}
		if _, known := first[id]; !known {
			first[id] = owner{u, at}
		}
	}
	for _, u := range c.builds {
		see(u, u.draft.ID, u.draft.IDRange, false)
		for i := range u.draft.Nodes {
			see(u, u.draft.Nodes[i].ID, u.draft.Nodes[i].IDRange, true)
		}
	}
}

// clashes reports names that cannot exist beside each other: the same one
// twice, one below another, and names that differ only by case.
func (c *compilation) clashes(kind string, all []claimed) {
	exact := make(map[string]int, len(all))
	folded := make(map[string]int, len(all))
	reported := 0
	say := func(i, j int, how, todo string) {
		if reported++; reported > 50 {
			return
		}
		a, b := &all[i], &all[j]
		c.diags.Add(diag.Newf(diag.Code(kind+"-clash"), b.at, "the %s of %s clashes with another", kind, clip(b.what)).
			WithDetail("%q %s %q, of %s. %s", b.name, how, a.name, a.what, todo).
			WithRelated(a.at, "the other one: %s", a.what))
	}
	for i, a := range lists.Each(all) {
		if a.name == "" {
			continue
		}
		if first, twice := exact[a.name]; twice {
			if !(a.fixed && all[first].fixed) {
				say(first, i, "is the same as", "Give one of them another name; a template needs {sprint}, and {epic} where several plans are compiled.")
			}
			continue
		}
		exact[a.name] = i
		low := strings.ToLower(a.name)
		if first, twice := folded[low]; twice {
			say(first, i, "differs only by case from", "On systems that ignore case both are one file. Give one of them another name.")
			continue
		}
		folded[low] = i
	}
	for i, a := range lists.Each(all) {
		// A name that is a directory of another one: main and main/1-1-setup.
		if exact[a.name] != i {
			continue
		}
		for dir := path.Dir(a.name); dir != "." && dir != "/" && dir != ".."; dir = path.Dir(dir) {
			if j, both := exact[dir]; both {
				if !(a.fixed && all[j].fixed) {
					say(j, i, "cannot exist below", "git keeps branches as files, so one cannot be the directory of another. Change the template, or the label.")
				}
				break
			}
		}
	}
}
