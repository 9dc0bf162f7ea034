package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// planBefore is a plan before it is changed.
type planBefore struct {
	draft.Was
	epic     *ir.Epic // what it compiles to; if it has errors, what its last run was about; nil: neither
	compiles bool
}

// id is the id of the plan's epic, "" if nobody knows it.
func (b *planBefore) id() ir.NodeID {
	if b.epic != nil {
		return b.epic.Epic.ID
	}
	return b.Epic
}

// before is the plan that a draft changes, as its base has it; nil if it writes a new
// one.
func (j planJudge) before(ctx context.Context, p *project) (*planBefore, error) {
	space, err := workspace.Open(ctx, ".", j.draft)
	if err != nil {
		return nil, err
	}
	plan := j.draft.Plans()
	text, there, err := space.BaseFile(ctx, plan, maxFile)
	if err != nil || !there {
		return nil, err
	}
	b, _, err := beforeOf(ctx, p, plan, text, j.draft.Nodes[0].Goal)
	return b, err
}

// beforeOf reads a plan before it is changed, with the policy of a project, and what is
// on record about it; brief is what it was first written for.
func beforeOf(ctx context.Context, p *project, plan string, text []byte, brief string) (*planBefore, compiler.Output, error) {
	out := compilePlan(p, plan, text)
	b := &planBefore{Was: draft.Was{Identities: identitiesOf(diag.NewFile(plan, text)), Text: string(text), Brief: brief, Implements: implementsOf(out)}}
	switch {
	case !out.Diags.HasErrors():
		b.epic, b.compiles = out.Results[0].Epic, true
	case b.Epic != "":
		epic, err := appliedBefore(ctx, b.Epic)
		if err != nil {
			return nil, out, err
		}
		b.epic = epic
	}
	if b.epic == nil {
		return b, out, nil
	}
	planned, _, err := plannedFor(ctx, b.epic)
	for _, x := range planned {
		if x.Node != executor.Integration && (x.Action == executor.ActKeep || x.Action == executor.ActDone) {
			b.Finished = append(b.Finished, draft.Named{ID: x.Node, Key: x.Key, Title: x.Title})
		}
	}
	return b, out, err
}

// implementsOf is what stands under Implements of the sprints of a plan, as far as it
// could be read.
func implementsOf(out compiler.Output) (all []string) {
	if len(out.Results) == 0 {
		return nil
	}
	epic := out.Results[0].Epic
	if epic == nil {
		epic = out.Results[0].Trace.Lowered()
	}
	for i := range epic.Nodes {
		all = append(all, epic.Nodes[i].Implements...)
	}
	return all
}

// identitiesOf are the ids that a plan says.
func identitiesOf(file *diag.File) draft.Identities {
	epic, items := compiler.Identities(file)
	out := draft.Identities{Epic: epic}
	for _, it := range items {
		out.Items = append(out.Items, draft.Named(it))
	}
	return out
}

// appliedBefore is what the last run of an epic was about, nil if there was none here.
func appliedBefore(ctx context.Context, id ir.NodeID) (*ir.Epic, error) {
	state, err := workspace.StateDir(ctx, ".", id)
	if err != nil {
		return nil, refusal(err)
	}
	return epicAt(filepath.Join(state, "epic.json"), id), nil
}

// plannedFor says what a run of an epic would do about its sprints, as they stand on
// record; ran is false if there is no record.
func plannedFor(ctx context.Context, epic *ir.Epic) (planned []executor.Planned, ran bool, err error) {
	space, err := workspace.Open(ctx, ".", epic)
	if err != nil {
		return nil, false, refusal(err)
	}
	events, err := readEvents(ctx, space.State(), epic.Epic.ID)
	if err != nil {
		return nil, false, inputErrorf("%w", err)
	}
	run, err := replayed(epic, events)
	if err != nil {
		return nil, false, err
	}
	if !run.Overview().Begun {
		for i := range epic.Nodes {
			n := &epic.Nodes[i]
			x := executor.Planned{Node: n.ID, Key: n.Key, Title: n.Title, Action: executor.ActRun}
			if n.Done {
				x.Action, x.Cause = executor.ActDone, "by the plan"
			}
			planned = append(planned, x)
		}
		return planned, false, nil
	}
	if _, held, err := journal.Holder(space.State()); err != nil {
		return nil, true, inputErrorf("%w", err)
	} else if !held {
		run.Deserted()
	}
	start, err := plannedStart(ctx, epic, space, run, nil, nil, false)
	if err != nil {
		return nil, true, err
	}
	if planned, err = run.Plan(start, time.Now()); err != nil {
		err = inputErrorf("%w", err)
	}
	return planned, true, err
}

// againWith are the sprints that would run with a changed plan, and why.
func againWith(ctx context.Context, epic *ir.Epic) (map[ir.NodeID]string, error) {
	planned, _, err := plannedFor(ctx, epic)
	out := map[ir.NodeID]string{}
	for _, x := range planned {
		if worksAction(x.Action) && x.Action != executor.ActJudge {
			out[x.Node] = x.Cause
		}
	}
	return out, err
}

// mostTold bounds what a planner is told of findings, in bytes.
const mostTold = 8 << 10

// findingLines are the findings about a plan as lines, as far as there is room.
func findingLines(found []gate.PlanFinding) (lines []string) {
	room := mostTold
	for i, f := range found {
		if room -= len(f.Text); room < 0 && i > 0 {
			return append(lines, fmt.Sprintf("and %d more: ralph validate says them", len(found)-i))
		}
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, strings.Split(f.Text, "\n")...)
	}
	return lines
}
