package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
)

// ShowOf is everything about one node: the content of `ralph show`, with --json or as text.
func ShowOf(r *Record, v machine.NodeView) ShowJSON {
	out := r.Show(NodeOf(r, v))
	if out.Spec != nil {
		out.Place = PlaceIn(r, v.ID)
		out.Plan, out.PlanLine = out.Place.File, out.Place.Line
	} else {
		out.Holds, out.LeftOut = r.branch().json()
	}
	return out
}

// Show is the same without data from git and the plan's file.
func (r *Record) Show(n NodeJSON) ShowJSON {
	v := n.View
	out := ShowJSON{
		Version: ShowVersion, NodeJSON: n, Feedback: r.Run.Node(v.ID).Feedback(), Decisions: v.Decisions, Refs: refsOf(r, v), MovedOut: r.movedOf(v.ID),
		Now: r.Now, Draft: IsDraft(r.Epic),
	}
	for i, a := range v.Attempts {
		out.Attempts[i].Feedback, out.Attempts[i].Changes = a.Feedback, a.Collected.Changes
	}
	if v.ID != executor.Integration {
		spec := *r.Node(v.ID)
		spec.Steps = slices.Clone(spec.Steps)
		for i := range spec.Steps {
			if !r.Epic.UsesModel(spec.Steps[i].Agent) {
				spec.Steps[i].Model = ""
			}
		}
		out.Spec = &spec
	}
	return out
}

// refsOf lists the refs under which the commits of a node are kept.
func refsOf(r *Record, v machine.NodeView) []string {
	prefix := "refs/ralph/" + string(r.Epic.Epic.ID) + "/"
	refs := []string{}
	if v.ID == executor.Integration {
		return append(refs, "refs/heads/"+r.Epic.Epic.Integration.Branch)
	}
	prefix += "nodes/" + string(v.ID) + "/"
	for _, a := range v.Attempts {
		if a.Commit != "" {
			refs = append(refs, fmt.Sprintf("%sattempts/%s/%d", prefix, a.Step, a.Number))
		}
	}
	if v.Result.Commit != "" {
		refs = append(refs, prefix+"result")
	}
	for _, e := range r.Events {
		if p, ok := e.Body.(executor.Prepared); ok && e.Node == v.ID && p.Saved != "" {
			refs = append(refs, p.Saved)
		}
	}
	return refs
}

// ChangeOf is the change that a node made, with the verdicts on it. hide redacts the names of
// files. The comparison of the two commits is nil while there is nothing to compare; the
// caller closes it.
func ChangeOf(ctx context.Context, r *Record, v machine.NodeView, hide func(string) string) (said ChangeJSON, c *workspace.Comparison, err error) {
	change := r.Run.Node(v.ID).Change()
	said = ChangeJSON{
		Version: ChangeVersion,
		Key:     v.Key, ID: v.ID, Title: v.Title, Status: v.Status.String(), Cause: string(v.Cause),
		Step: change.Step, Attempt: change.Attempt, Files: []executor.FileChange{}, Gates: []GateJSON{},
		Next: slices.DeleteFunc(r.NextSteps(v), func(s NextStep) bool { return strings.Contains(s.Command, " --diff") }), // this is it
	}
	if b := change.Bound; b.Gate != "" {
		said.Approval = &ApprovalJSON{Gate: b.Gate, Digest: b.Digest, Result: b.Result, Base: b.Base, Approvers: v.Approvers}
	}
	for _, a := range v.Attempts {
		if a.Step == change.Step && a.Number == change.Attempt {
			said.Gates = AttemptOf(r, v.ID, a).Gates
		}
	}
	if change.Person {
		if change.To, err = r.Space.Trees.Work(ctx, v.ID); err != nil {
			return said, nil, err
		}
		said.Notes = append(said.Notes, "uncommitted work in its worktree is not shown, but ralph approve includes it")
	}
	said.From, said.To = change.From, change.To
	if change.From.ID() == "" || change.To.ID() == "" {
		return said, nil, nil
	}
	if c, err = r.Space.Trees.Compare(ctx, change.From.ID(), change.To.ID()); err != nil {
		return said, nil, err
	}
	files, err := c.Files(ctx)
	if err != nil {
		return said, nil, errors.Join(err, c.Close())
	}
	for _, f := range files {
		f.Path, f.From = hide(f.Path), hide(f.From)
		said.Files = append(said.Files, f)
	}
	return said, c, nil
}
