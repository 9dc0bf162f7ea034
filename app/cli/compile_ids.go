package cli

import (
	"fmt"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/ir"
)

// mostOthers is how many sprints are named that have got another id.
const mostOthers = 5

// namesBefore reads how the epic calls its nodes that r is to replace; zero if there is
// none, or if it stays as it is.
func namesBefore(target string, r compiler.Result) ir.Names {
	if target == "-" || project.SameBytes(target, r.JSON) {
		return ir.Names{}
	}
	return project.NamesIn(target)
}

// replacedPlan is the plan whose epic r replaces; "" if it is its own.
func replacedPlan(old ir.Names, r compiler.Result) string {
	if old.Epic == r.Epic.Epic.ID || old.Plan == r.Epic.Epic.Plan {
		return ""
	}
	return old.Plan
}

// otherIDs says which sprints have another id than in the epic that is replaced: the id
// is what a sprint is known by, so it begins anew. What was renumbered keeps its id and
// is not named.
func otherIDs(old ir.Names, r compiler.Result) (lines []string) {
	if old.Epic != r.Epic.Epic.ID {
		return nil
	}
	now := map[ir.NodeID]bool{}
	for i := range r.Epic.Nodes {
		now[r.Epic.Nodes[i].ID] = true
	}
	gone := map[ir.Key]ir.NodeID{}
	for _, n := range old.Nodes {
		if !now[n.ID] {
			gone[n.Key] = n.ID
		}
	}
	for i := range r.Epic.Nodes {
		n := &r.Epic.Nodes[i]
		was := gone[n.Key]
		if was == "" {
			continue
		}
		if len(lines) == mostOthers {
			return append(lines, "  and more")
		}
		lines = append(lines, fmt.Sprintf("%s was %s and is %s now: it begins anew, and --push closes the bead %s. If it is the same sprint, write the old id back into the plan",
			n.Key, was, n.ID, was))
	}
	return lines
}
