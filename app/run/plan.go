package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// PlanOf is what the next apply would do.
func PlanOf(ctx context.Context, epic *ir.Epic, space *workspace.Space, run *machine.Run, only, rerun []string, rebase bool) (record.PlanJSON, error) {
	p := record.PlanJSON{Version: record.PlanVersion, Nodes: []record.PlannedJSON{}, Counts: map[string]int{}}
	start, err := record.PlannedStart(ctx, epic, space, run, only, rerun, rebase)
	if err != nil {
		return p, err
	}
	p.Base = start.Base.Commit
	p.Proposals = run.Overview().Proposals
	files := NewStartsFrom(epic, space, run, start)
	p.Warnings = Warnings(ctx, epic, space, run, start.Base)
	planFirst(&p, run)
	if why := Refuse(epic); why != nil {
		p.Cannot = exit.Why(why)
	} else if why := CheckNames(space, run); why != nil {
		p.Cannot = exit.Why(why)
	} else if why := (&Opened{Epic: epic, Space: space}).CheckPrograms(ctx); why != nil {
		p.Cannot = exit.Why(why)
	}
	planned, err := machine.Plan(run, start, time.Now())
	if err != nil {
		if _, refused := errors.AsType[*executor.Refused](err); refused {
			return p, err
		}
		return p, &exit.Error{Code: exit.Bug, Err: err}
	}
	more, notes := BudgetWords(UnknownCosts(epic, run))
	p.Warnings = append(p.Warnings, more...)
	p.Baseline = record.Baselines(run.Bases().Checks())
	files.Will = func() (map[ir.NodeID]bool, error) { return record.WillRun(planned), nil }
	found, err := files.Look(ctx)
	if err != nil {
		return p, err
	}
	if w := found.Warning(start.Base, files.Pinned); w != "" {
		p.Warnings = append(p.Warnings, w)
	}
	warnings, missing := Paths(epic, space)
	p.Warnings = append(p.Warnings, warnings...)
	p.Notes = slices.Concat(Shown(epic), missing, found.Notes, notes)
	if why := found.Refusal(); why != nil && p.Cannot == "" {
		p.Cannot = exit.Why(why)
	}
	p.Nodes = append(p.Nodes, record.PlannedNodes(epic, planned)...)
	works := 0
	for _, x := range planned {
		if x.Node != executor.Integration {
			p.Counts[string(x.Action)]++
		}
		if x.Action.Works() {
			p.Changes = true
			works++
		}
	}
	err = planDisk(ctx, &p, epic, space, start.Base.Commit, works)
	return p, err
}

// planFirst says what has to be typed before apply.
func planFirst(p *record.PlanJSON, run *machine.Run) {
	o := run.Overview()
	if !o.PlanApproved {
		p.Warnings = append(p.Warnings, "the plan waits for approval: ralph approve")
		p.First = append(p.First, "ralph approve")
	}
	if o.Held.For != "" && o.Held.For != executor.ForBase {
		p.Warnings = append(p.Warnings, "nothing would start: the run is held: "+words.First(o.Held.Detail))
		p.First = append(p.First, words.ResumeCommand(o.Held.For, o.More))
	}
}

// planDisk estimates the disk space for the worktrees of the given number of sprints.
func planDisk(ctx context.Context, p *record.PlanJSON, epic *ir.Epic, space *workspace.Space, base string, works int) error {
	p.Disk.Trees = works // none is removed before the run ends
	size, err := space.Bases.Size(ctx, base)
	if err != nil {
		return err
	}
	p.Disk.Need = size * int64(p.Disk.Trees) * 6 / 5
	if p.Disk.Free, err = workspace.FreeSpace(space.Top()); err != nil {
		p.Disk.Free = -1
	}
	if need := p.Disk.Need + epic.Run.Worktree.MinFree; works > 0 && p.Disk.Free >= 0 && p.Disk.Free < need {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s are free, but worktrees with worktree.min_free need %s", words.Gigabytes(p.Disk.Free), words.Gigabytes(need)))
	}
	return nil
}
