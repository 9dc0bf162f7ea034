package record

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// taken tells the compiler which names of an epic someone else has here, or needs that
// was compiled from another plan than these.
func taken(a *project.Args, p *project.Project) func(*ir.Epic) []compiler.Taken {
	var plans []string
	for _, plan := range a.Plans {
		rel, _ := p.Rel(plan)
		plans = append(plans, rel)
	}
	beside, _ := p.Rel(a.Out)
	if !project.IsDirName(a.Out) {
		beside = path.Dir(beside)
	}
	files := sync.OnceValue(func() []workspace.EpicFile { return project.EpicsIn(p.FS(), beside) })
	return func(epic *ir.Epic) []compiler.Taken {
		space := workspace.Glance(p.Dir, epic)
		if space == nil {
			return nil
		}
		_, err := os.Lstat(filepath.Join(space.State(), journal.File)) // once it was applied, its integration branch is taken to be its own
		found, err := space.Names.Clashes(func(*ir.Node) bool { return true }, err == nil)
		if err != nil {
			return nil // apply says what is wrong with the repository
		}
		if planned, err := space.Names.Planned(files(), plans...); err == nil {
			found = append(found, planned...)
		}
		return lists.Map(found, func(c workspace.Clash) compiler.Taken {
			return compiler.Taken{Nodes: c.Nodes, What: c.What, Ways: c.Ways}
		})
	}
}

// past tells the compiler what this clone has on record of an epic, and which nodes the
// epic.json has that is replaced: the one that is written to, if it is of this epic, else
// the usual one, else the copy that the last apply made. The journal is only read; nothing is locked.
func past(a *project.Args, p *project.Project) func(ir.Header) compiler.Past {
	common := workspace.CommonDir(p.Dir)
	if common == "" {
		return nil
	}
	return func(h ir.Header) compiler.Past {
		state := filepath.Join(common, "ralph", string(h.ID))
		ids, err := journal.Known(context.Background(), state, h.ID)
		if err != nil {
			return compiler.Past{Unknown: fmt.Sprintf("The journal of this epic cannot be read (%v); ralph journal verify says more", err)}
		}
		if len(ids) == 0 {
			return compiler.Past{}
		}
		file := filepath.Join(state, "epic.json")
		applied, found := project.NamesAt(file, h.ID)
		replaced, latest := applied, file
		for _, f := range []string{a.Target(h.Slug), "epic.json", filepath.Join(p.Dir, "epic.json")} {
			if names, found := project.NamesAt(f, h.ID); found {
				replaced, latest = names, f
				break
			}
		}
		if !found {
			file = latest
		}
		past := compiler.Past{
			Journal:  lists.Table(ids, func(id ir.NodeID) (ir.NodeID, string) { return id, "" }),
			Replaced: lists.Table(replaced.Nodes, func(n ir.Name) (ir.NodeID, string) { return n.ID, n.Title }),
		}
		for _, n := range applied.Nodes {
			if _, known := past.Journal[n.ID]; known {
				past.Journal[n.ID] = fmt.Sprintf("%s %q", n.Key, columns.Truncate(n.Title, 60))
			}
		}
		past.Fate = sync.OnceValue(func() map[ir.NodeID]string { return fates(state, project.EpicAt(file, h.ID), ids) })
		return past
	}
}

// RecallClone adds to a compiler's input what this clone has on record about the epic:
// earlier compiles and runs, and the names already taken by others.
func RecallClone(a *project.Args, p *project.Project, in *compiler.Input) {
	in.Past, in.Taken = past(a, p), taken(a, p)
}

// fates says what became of the nodes that the journal knows, if another item under the
// same id would inherit it: a node without a start or a decision has no fate. Where
// that cannot be told, all have one.
func fates(state string, epic *ir.Epic, ids []ir.NodeID) map[ir.NodeID]string {
	out := lists.Table(ids, func(id ir.NodeID) (ir.NodeID, string) { return id, "on record" })
	if epic == nil {
		return out
	}
	events, err := ReadEvents(context.Background(), state, epic.Epic.ID)
	if err != nil {
		return out
	}
	run, err := Replayed(epic, events)
	if err != nil {
		return out
	}
	for _, v := range run.Views() {
		switch {
		case v.Status != executor.Pending && v.Status != executor.Ready:
			out[v.ID] = v.Status.String()
		case v.Tries() == 0 && len(v.Decisions) == 0:
			delete(out, v.ID)
		}
	}
	return out
}
