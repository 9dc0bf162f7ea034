package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
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
	return append(refs, r.savedOf(v.ID)...)
}

// savedOf lists the refs under which work of a node was saved before it was cleared away. It
// reads only the events that are new since it was asked last.
func (r *Record) savedOf(id ir.NodeID) []string {
	if r.saved == nil {
		r.saved = map[ir.NodeID][]string{}
	}
	for _, e := range r.Events[r.looked:] {
		if p, ok := e.Body.(executor.Prepared); ok && p.Saved != "" {
			r.saved[e.Node] = append(r.saved[e.Node], p.Saved)
		}
	}
	r.looked = len(r.Events)
	return r.saved[id]
}

// Change is the change that a node made, before git was asked about it.
type Change struct {
	ChangeJSON
	space  *workspace.Space
	person bool // To is where a person's work is
}

// ChangeIn is the change that a node made, with the verdicts on it. It asks git nothing.
func ChangeIn(r *Record, v machine.NodeView) Change {
	change := r.Run.Node(v.ID).Change()
	out := Change{space: r.Space, person: change.Person, ChangeJSON: ChangeJSON{
		Version: ChangeVersion,
		Key:     v.Key, ID: v.ID, Title: v.Title, Status: v.Status.String(), Cause: string(v.Cause),
		Step: change.Step, Attempt: change.Attempt, From: change.From, To: change.To, Files: []executor.FileChange{}, Gates: []GateJSON{},
		Next: slices.DeleteFunc(r.NextSteps(v), func(s NextStep) bool { return strings.Contains(s.Command, " --diff") }), // this is it
	}}
	if b := change.Bound; b.Gate != "" {
		out.Approval = &ApprovalJSON{Gate: b.Gate, Digest: b.Digest, Result: b.Result, Base: b.Base, Approvers: v.Approvers}
	}
	for _, a := range v.Attempts {
		if a.Step == change.Step && a.Number == change.Attempt {
			out.Gates = AttemptOf(r, v.ID, a).Gates
		}
	}
	if change.Person {
		out.Notes = append(out.Notes, "uncommitted work in its worktree is not shown, but ralph approve includes it")
	}
	return out
}

// AttemptChangeIn is the change that one attempt of a node made, since the worktree that it
// began in. It asks git nothing.
func AttemptChangeIn(r *Record, v machine.NodeView, a machine.AttemptLog) Change {
	out := Change{space: r.Space, ChangeJSON: ChangeJSON{
		Version: ChangeVersion,
		Key:     v.Key, ID: v.ID, Title: v.Title, Status: v.Status.String(), Step: a.Step, Attempt: a.Number,
		From: executor.Tree{Commit: cmp.Or(a.From, a.Start)}, To: leftBy(a), Files: []executor.FileChange{}, Gates: AttemptOf(r, v.ID, a).Gates,
	}}
	if out.To.ID() == "" {
		out.Notes = append(out.Notes, lacks(a))
	}
	return out
}

// Since makes the change of an attempt one since its step began.
func (c *Change) Since(a machine.AttemptLog) { c.From = executor.Tree{Commit: a.Start} }

// Against makes the change of an attempt the difference between what another one of its step
// has left and what it has. An error says which of them has left nothing.
func (c *Change) Against(other machine.AttemptLog) error {
	if c.To.ID() == "" {
		return errors.New(c.Notes[0])
	}
	if c.From = leftBy(other); c.From.ID() == "" {
		return errors.New(lacks(other))
	}
	return nil
}

// leftBy is what an attempt has left: its commit; "" of one that came to none.
func leftBy(a machine.AttemptLog) executor.Tree {
	if a.Collected.Result.ID() != "" {
		return a.Collected.Result
	}
	return executor.Tree{Commit: a.Commit}
}

func lacks(a machine.AttemptLog) string {
	if a.Status == executor.AttemptRunning {
		return fmt.Sprintf("%s #%d has left no commit yet", a.Step, a.Number)
	}
	return fmt.Sprintf("%s #%d has left no commit", a.Step, a.Number)
}

// Ends asks git where the change ends, if that is where a person's work is.
func (c *Change) Ends(ctx context.Context) (err error) {
	if c.person {
		c.To, err = c.space.Trees.Work(ctx, c.ID)
	}
	return err
}

// Compare compares the two ends and lists the files; hide redacts their names. The comparison
// is nil while there is nothing to compare; the caller closes it.
func (c *Change) Compare(ctx context.Context, hide func(string) string) (*workspace.Comparison, error) {
	if c.From.ID() == "" || c.To.ID() == "" {
		return nil, nil
	}
	two, err := c.space.Trees.Compare(ctx, c.From.ID(), c.To.ID())
	if err != nil {
		return nil, err
	}
	files, err := two.Files(ctx)
	if err != nil {
		return nil, errors.Join(err, two.Close())
	}
	for _, f := range files {
		f.Path, f.From = hide(f.Path), hide(f.From)
		c.Files = append(c.Files, f)
	}
	return two, nil
}

// ChangeOf is the change that a node made, with the verdicts on it. hide redacts the names of
// files. The comparison of the two commits is nil while there is nothing to compare; the
// caller closes it.
func ChangeOf(ctx context.Context, r *Record, v machine.NodeView, hide func(string) string) (said ChangeJSON, c *workspace.Comparison, err error) {
	change := ChangeIn(r, v)
	if err := change.Ends(ctx); err != nil {
		return change.ChangeJSON, nil, err
	}
	c, err = change.Compare(ctx, hide)
	return change.ChangeJSON, c, err
}
