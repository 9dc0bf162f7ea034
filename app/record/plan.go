package record

import (
	"context"
	"slices"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// NodeIDs translates the keys and ids of sprints that people type.
func NodeIDs(epic *ir.Epic, keys []string) ([]ir.NodeID, error) {
	var out []ir.NodeID
	for _, k := range keys {
		id, err := Find(epic, k)
		if err != nil {
			return nil, err
		}
		if id == executor.Integration {
			return nil, exit.Usagef("%s is not a sprint: it runs whenever its sprints are done; name sprints", k)
		}
		out = append(out, id)
	}
	return out, nil
}

// Onto are the arguments that make ralph compile write this epic.json.
func Onto(file string) string {
	if file == "epic.json" {
		return ""
	}
	return " -o " + words.QuotePath(file)
}

// PlannedStart is the start of a run that has not begun.
func PlannedStart(ctx context.Context, epic *ir.Epic, space *workspace.Space, run *machine.Run, only, rerun []string, rebase bool) (executor.RunStarted, error) {
	start := executor.RunStarted{
		Epic: epic.Epic.ID, Plan: epic.Epic.Plan, Digest: epic.Digest, Slots: max(epic.Run.Concurrency.Nodes, 1), By: project.UserName(),
		Base: run.Bases().Base(), Bases: run.Bases().Named(), Ticked: run.Summary().Ticked(),
	}
	var err error
	if start.Only, err = NodeIDs(epic, only); err != nil {
		return start, err
	}
	if start.Rerun, err = NodeIDs(epic, rerun); err != nil {
		return start, err
	}
	if run.Bases().Base().Commit == "" || rebase {
		if start.Base, start.Bases, err = space.Bases.Heads(ctx); err != nil {
			return start, err
		}
	}
	if rebase {
		if start.Merged, start.Theirs, err = MergedInto(ctx, space, run, start.Base.Commit); err != nil {
			return start, err
		}
	}
	if start.Preflight, err = space.Checkout.SetupDigest(); err != nil {
		return start, err
	}
	if start.Head, err = HeadOf(ctx, epic, space); err != nil {
		return start, err
	}
	return start, nil
}

// WillRun are the nodes that a run would work on.
func WillRun(planned []machine.Planned) map[ir.NodeID]bool {
	return lists.Table(planned, func(p machine.Planned) (ir.NodeID, bool) { return p.Node, p.Action.Works() })
}

// MergedInto lists the nodes whose results a new base already holds. It also asks about
// the integration result: squashing the integration branch takes all its parts. theirs
// are the accepted commits of others on that branch that the base holds.
func MergedInto(ctx context.Context, space *workspace.Space, run *machine.Run, base string) (nodes []ir.NodeID, theirs []string, err error) {
	for _, c := range run.Integration().Others() {
		in, err := space.Results.Merged(ctx, base, []executor.Result{{Node: executor.Integration, Tree: executor.Tree{Commit: c}}})
		if err != nil {
			return nil, nil, err
		}
		if len(in) > 0 {
			theirs = append(theirs, c)
		}
	}
	have := lists.Keep(run.Views(), func(v machine.NodeView) bool { return v.Result.Commit != "" })
	results := lists.Map(have, func(v machine.NodeView) executor.Result { return executor.Result{Node: v.ID, Tree: v.Result} })
	in, err := space.Results.Merged(ctx, base, results)
	return slices.DeleteFunc(in, func(id ir.NodeID) bool { return id == executor.Integration }), theirs, err
}

func Baselines(checks []machine.BaseCheck) []BaselineJSON {
	var out []BaselineJSON
	for _, c := range checks {
		j := BaselineJSON{Gate: c.Gate, Also: c.Also, Base: c.Base.Commit, Green: c.Green, Approved: c.Approved, Held: c.Held()}
		if c.Known != nil {
			j.Verdict, j.Message, j.Sandbox = c.Known.Verdict, c.Known.Message, c.Known.Sandbox
		}
		out = append(out, j)
	}
	return out
}

// PlannedNodes are planned actions in the form printed by plan.
func PlannedNodes(epic *ir.Epic, planned []machine.Planned) []PlannedJSON {
	byHand := map[ir.NodeID]bool{} // sprints whose work a person does
	for n := range lists.Refs(epic.Nodes) {
		byHand[n.ID] = n.Kind == ir.Manual || len(n.Steps) > 0 && !slices.ContainsFunc(n.Steps, func(s ir.Step) bool { return !epic.Agents[s.Agent].Human })
	}
	return lists.Map(planned, func(x machine.Planned) PlannedJSON {
		return PlannedJSON{Key: x.Key, ID: x.Node, Title: x.Title, ByHand: byHand[x.Node], Action: x.Action, Needs: x.Needs, Cause: x.Cause}
	})
}
