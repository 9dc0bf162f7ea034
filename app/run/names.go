package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// CheckNames refuses an epic whose branches or worktrees cannot be created, for the
// remaining sprints and the integration. run is nil before the first run.
func CheckNames(space *workspace.Space, run *machine.Run) error {
	left := func(n *ir.Node) bool {
		if run == nil {
			return true
		}
		v, ok := run.View(n.ID)
		return ok && !slices.Contains([]executor.NodeStatus{executor.Done, executor.Skipped, executor.Cancelled}, v.Status)
	}
	if run != nil {
		space.Names.Began(begunIn(run))
	}
	found, err := space.Names.Clashes(left, run != nil && run.Integration().Joined())
	if err != nil {
		return err
	}
	return NamesTaken(found)
}

// NamesTaken names the conflicts and how to resolve them.
func NamesTaken(found []workspace.Clash) error {
	if len(found) == 0 {
		return nil
	}
	const most = 10
	var b strings.Builder
	for _, c := range found[:min(len(found), most)] {
		fmt.Fprintf(&b, "  - %s\n", c.What)
		for i, way := range c.Ways {
			or := ""
			if i > 0 {
				or = "or "
			}
			fmt.Fprintf(&b, "      %s%s\n", or, way)
		}
	}
	if len(found) > most {
		fmt.Fprintf(&b, "  and %d more\n", len(found)-most)
	}
	return exit.Unstartedf("names that this epic needs are already in use:\n%s", strings.TrimSuffix(b.String(), "\n"))
}

// begunIn lists the nodes that have attempts.
func begunIn(run *machine.Run) []ir.NodeID {
	begun := lists.Keep(run.Views(), func(v machine.NodeView) bool { return len(v.Attempts) > 0 })
	return lists.Map(begun, func(v machine.NodeView) ir.NodeID { return v.ID })
}
