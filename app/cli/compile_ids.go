package cli

import (
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// mostOthers bounds the sprints with a changed id that are named.
const mostOthers = 5

// namesBefore reads the node names of the epic that r replaces; zero if there is none, or
// if it stays as it is.
func namesBefore(target string, r compiler.Result) ir.Names {
	if target == "-" || project.SameBytes(target, r.JSON) {
		return ir.Names{}
	}
	return project.NamesIn(target)
}

// replacedPlan is the plan of the epic that r replaces; "" if it is the same plan.
func replacedPlan(old ir.Names, r compiler.Result) string {
	if old.Epic == r.Epic.Epic.ID || old.Plan == r.Epic.Epic.Plan {
		return ""
	}
	return old.Plan
}

// otherIDs names the sprints whose id differs from the replaced epic. A sprint is identified
// by its id, so these begin anew. A renumbered sprint keeps its id and is not named.
func otherIDs(old ir.Names, r compiler.Result) (lines []string) {
	if old.Epic != r.Epic.Epic.ID {
		return nil
	}
	now := lists.Pointers(r.Epic.Nodes, func(n *ir.Node) ir.NodeID { return n.ID })
	gone := map[ir.Key]ir.NodeID{}
	for _, n := range old.Nodes {
		if now[n.ID] == nil {
			gone[n.Key] = n.ID
		}
	}
	for n := range lists.Refs(r.Epic.Nodes) {
		was := gone[n.Key]
		if was == "" {
			continue
		}
		if len(lines) == mostOthers {
			return append(lines, "  and more")
		}
		lines = append(lines, fmt.Sprintf("%s was %s and is %s now: it starts from scratch, and --push closes the bead %s. If it is the same sprint, write the old id back into the plan",
			n.Key, was, n.ID, was))
	}
	return lines
}

// checkFreshIDs allows --fresh-id only where the id is written into the plan: otherwise the
// next compile would derive the deleted sprint's id again.
func checkFreshIDs(a *project.Args) error {
	if len(a.FreshIDs) == 0 {
		return nil
	}
	const writes = "--fresh-id writes the new id into the plan, and "
	switch {
	case a.NoAnnotate:
		return exit.Usagef(writes + "--no-annotate leaves it alone: give only one of them")
	case a.Check:
		return exit.Usagef(writes + "--check writes nothing: give only one of them")
	case slices.Contains(a.Plans, "-"):
		return exit.Usagef(writes + "a plan from standard input cannot be written: name its file")
	}
	for _, key := range a.FreshIDs {
		if slices.Contains(a.SameIDs, key) {
			return exit.Usagef("--fresh-id %s and --same-id %s: give only one of them", key, key)
		}
	}
	return nil
}
