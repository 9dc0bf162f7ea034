package judge

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/draft/rules"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// PlanBefore is a plan before it is changed.
type PlanBefore struct {
	rules.Was
	Graph    *ir.Epic // what it compiles to; if it has errors, what its last run was about; nil: neither
	Compiles bool
}

// ID is the id of the plan's epic; "" if unknown.
func (b *PlanBefore) ID() ir.NodeID {
	if b.Graph != nil {
		return b.Graph.Epic.ID
	}
	return b.Epic
}

// before is the plan that a draft changes, as its base has it; nil if it writes a new
// one.
func (j Drafted) before(ctx context.Context, p *project.Project) (*PlanBefore, error) {
	space, err := workspace.Open(ctx, ".", j.Epic)
	if err != nil {
		return nil, err
	}
	plan := j.Epic.Plans()
	text, there, err := space.Bases.File(ctx, plan, project.MaxFile)
	if err != nil || !there {
		return nil, err
	}
	b, _, err := BeforeOf(ctx, p, plan, text, j.Epic.Nodes[0].Goal)
	return b, err
}

// BeforeOf reads a plan before it is changed, with a project's policy and the plan's
// record; brief is what it was first written for.
func BeforeOf(ctx context.Context, p *project.Project, plan string, text []byte, brief string) (*PlanBefore, compiler.Output, error) {
	out := compilePlan(p, plan, text)
	b := &PlanBefore{Was: rules.Was{Identities: IdentitiesOf(diag.NewFile(plan, text)), Text: string(text), Brief: brief, Implements: implementsOf(out)}}
	switch {
	case !out.Diags.HasErrors():
		b.Graph, b.Compiles = out.Results[0].Epic, true
	case b.Epic != "":
		epic, err := AppliedBefore(ctx, b.Epic)
		if err != nil {
			return nil, out, err
		}
		b.Graph = epic
	}
	if b.Graph == nil {
		return b, out, nil
	}
	planned, _, err := Planned(ctx, b.Graph)
	for _, x := range planned {
		if x.Node != executor.Integration && (x.Action == machine.ActKeep || x.Action == machine.ActDone) {
			b.Finished = append(b.Finished, rules.Named{ID: x.Node, Key: x.Key, Title: x.Title})
		}
	}
	return b, out, err
}

// implementsOf is what is under Implements of the sprints of a plan, as far as it
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

// IdentitiesOf are the ids in a plan.
func IdentitiesOf(file *diag.File) rules.Identities {
	epic, items := compiler.Identities(file)
	return rules.Identities{Epic: epic, Items: lists.Map(items, func(it compiler.Named) rules.Named { return rules.Named(it) })}
}

// AppliedBefore is the epic of the last run of an epic, nil if there was none here.
func AppliedBefore(ctx context.Context, id ir.NodeID) (*ir.Epic, error) {
	state, err := workspace.StateDir(ctx, ".", id)
	if err != nil {
		return nil, err
	}
	return project.EpicAt(filepath.Join(state, "epic.json"), id), nil
}

// Planned says what a run of an epic would do with its sprints in their recorded state;
// ran is false if there is no record.
func Planned(ctx context.Context, epic *ir.Epic) (planned []machine.Planned, ran bool, err error) {
	r, err := record.OpenAbout(ctx, ".", "", epic)
	if err != nil {
		return nil, false, err
	}
	if !r.Run.Overview().Begun {
		for n := range lists.Refs(epic.Nodes) {
			x := machine.Planned{Node: n.ID, Key: n.Key, Title: n.Title, Action: machine.ActRun}
			if n.Done {
				x.Action, x.Cause = machine.ActDone, "by the plan"
			}
			planned = append(planned, x)
		}
		return planned, false, nil
	}
	start, err := record.PlannedStart(ctx, epic, r.Space, r.Run, nil, nil, false)
	if err != nil {
		return nil, true, err
	}
	planned, err = machine.Plan(r.Run, start, time.Now())
	return planned, true, err
}

// againWith are the sprints that would run with a changed plan, and why.
func againWith(ctx context.Context, epic *ir.Epic) (map[ir.NodeID]string, error) {
	planned, _, err := Planned(ctx, epic)
	out := map[ir.NodeID]string{}
	for _, x := range planned {
		if x.Action.Works() && x.Action != machine.ActJudge {
			out[x.Node] = x.Cause
		}
	}
	return out, err
}

// mostTold bounds the findings in a planner's prompt, in bytes.
const mostTold = 8 << 10

// FindingLines are the findings about a plan as lines, as far as there is room.
func FindingLines(found []gate.PlanFinding) (lines []string) {
	room := mostTold
	for i, f := range found {
		if room -= len(f.Text); room < 0 && i > 0 {
			return append(lines, fmt.Sprintf("and %d more: ralph validate lists them", len(found)-i))
		}
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, strings.Split(f.Text, "\n")...)
	}
	return lines
}
