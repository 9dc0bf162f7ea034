package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// checkNames refuses an epic whose branches or worktrees cannot be made, for what is
// still to run and for the sum of all results. Before the first run there is no run.
func checkNames(space *workspace.Space, run *executor.Run) error {
	left := func(n *ir.Node) bool {
		if run == nil {
			return true
		}
		v, ok := run.View(n.ID)
		return ok && !slices.Contains([]executor.NodeStatus{executor.Done, executor.Skipped, executor.Cancelled}, v.Status)
	}
	if run != nil {
		space.Began(begunIn(run))
	}
	found, err := space.Clashes(left, run != nil && run.Joined())
	if err != nil {
		return inputErrorf("%w", err)
	}
	return namesTaken(found)
}

// taken tells the compiler which names of an epic somebody else has here, or needs that
// was compiled from another plan than these.
func (a *compileArgs) taken(p *project) func(*ir.Epic) []compiler.Taken {
	var plans []string
	for _, plan := range a.plans {
		rel, _ := p.rel(plan)
		plans = append(plans, rel)
	}
	beside, _ := p.rel(a.out)
	if !isDirName(a.out) {
		beside = path.Dir(beside)
	}
	files := sync.OnceValue(func() []workspace.EpicFile { return epicsIn(p.FS(), beside) })
	return func(epic *ir.Epic) []compiler.Taken {
		space := workspace.Glance(p.dir, epic)
		if space == nil {
			return nil
		}
		_, err := os.Lstat(filepath.Join(space.State(), journal.File)) // once it was applied, its integration branch is taken to be its own
		found, err := space.Clashes(func(*ir.Node) bool { return true }, err == nil)
		if err != nil {
			return nil // apply says what is wrong with the repository
		}
		if planned, err := space.Planned(files(), plans...); err == nil {
			found = append(found, planned...)
		}
		out := make([]compiler.Taken, 0, len(found))
		for _, c := range found {
			out = append(out, compiler.Taken{Nodes: c.Nodes, What: c.What, Ways: c.Ways})
		}
		return out
	}
}

// namesTaken says what is in the way, and the ways out.
func namesTaken(found []workspace.Clash) error {
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
	return inputErrorf("names that this epic needs are taken:\n%s  Nothing was started.", b.String())
}

// alsoPlanned finds the names of an epic that others need which lie in its project and
// are not applied: a warning, because nothing is taken yet.
func alsoPlanned(space *workspace.Space) []workspace.Clash {
	root, err := os.OpenRoot(space.Top())
	if err != nil {
		return nil
	}
	defer root.Close()
	found, err := space.Planned(epicsIn(regular.FS(root), "."))
	if err != nil {
		return nil
	}
	return found[:min(len(found), 10)]
}

// begunIn lists the nodes that have attempts.
func begunIn(run *executor.Run) []ir.NodeID {
	var ids []ir.NodeID
	for _, v := range run.Views() {
		if len(v.Attempts) > 0 {
			ids = append(ids, v.ID)
		}
	}
	return ids
}
