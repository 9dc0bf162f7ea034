package executor

import "fmt"

// mergeTask is what the agent of a step that ralph put in before the node's own
// is told: to resolve a conflict, and to do nothing else yet.
func (r *Run) mergeTask(n *node) []string {
	a := n.life.aside
	if a == nil || !a.merge || n.life.step != asideStep {
		return nil
	}
	out := []string{"Before anything else: resolve a merge conflict. A merge of these is under way in your worktree:", ""}
	for _, in := range a.inputs {
		line := "- " + r.nameOf(in.Node)
		if d := r.byID[in.Node]; d != nil && d.ir != nil && !d.sum {
			line += fmt.Sprintf(" (%s), branch %s", d.ir.Title, d.ir.Git.Branch)
		}
		out = append(out, line+fmt.Sprintf(", commit %.12s", in.Commit))
	}
	if len(a.paths) > 0 {
		out = append(out, "", "In conflict:", "")
		for _, p := range a.paths {
			out = append(out, "- "+p)
		}
	}
	return append(
		out, "",
		"Edit these files so that what each side meant is kept and no conflict marker is left.",
		"Leave all other files as the merge made them, and end with a tree that builds.",
		"The rest of what stands above is not to be done now: it is the next step.",
	)
}
