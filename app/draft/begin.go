package draft

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// Begin checks that the draft can be applied and decides which epic is applied: the one
// started before, if the request is the same, or this one. It sets how the run starts.
func (j *Job) Begin(ctx context.Context, w Wish, res compiler.Result, a *run.Args) (*ir.Epic, []byte, error) {
	space, err := j.checkFiles(ctx, res.Epic)
	if err != nil {
		return nil, nil, err
	}
	again := []string{string(res.Epic.Nodes[0].Key)}
	if w.Old != nil {
		goesOn := false
		if j.was != nil {
			if goesOn, err = j.goesOn(ctx, res.Epic); err != nil {
				return nil, nil, err
			}
		}
		switch {
		case goesOn && w.sameAs(j.was, res.Epic):
			return j.was, j.raw, nil
		case !goesOn:
			if a.Base, err = space.Files.Overlay(ctx, j.plan, w.Old); err != nil {
				return nil, nil, err
			}
			if j.was != nil { // even for the same words: their draft has ended
				a.Rerun = again
			}
		}
		return res.Epic, res.JSON, nil
	}
	if err := j.checkNotCommitted(ctx, space); err != nil {
		return nil, nil, err
	}
	if j.was == nil {
		return res.Epic, res.JSON, nil
	}
	d, err := Open(ctx, string(j.was.Epic.ID))
	if err != nil {
		return nil, nil, err
	}
	same := sameWish(j.was, res.Epic)
	switch {
	case d.View.Status == executor.Cancelled: // it begins anew
		a.Rebase, a.Rerun = true, again
	case same && w.sameAs(j.was, res.Epic):
		return j.was, j.raw, nil
	default:
		j.sayReplaced(d, res.Epic)
		a.Rebase = !same // a different wish starts from the present HEAD
	}
	return res.Epic, res.JSON, nil
}

// checkFiles refuses a plan that git ignores. It warns of policy files that differ from
// HEAD, whose policy judges the plan.
func (j *Job) checkFiles(ctx context.Context, epic *ir.Epic) (*workspace.Space, error) {
	space, err := workspace.Open(ctx, j.p.Dir, epic)
	if err != nil {
		return nil, err
	}
	ignored, err := space.Files.Ignored(ctx, []string{epic.Epic.Plan})
	if err != nil {
		return nil, err
	}
	if len(ignored) > 0 {
		return nil, exit.Inputf("git ignores %s, so no commit can hold the plan: name another file, or fix .gitignore", epic.Epic.Plan)
	}
	differ, err := space.Files.Differs(ctx, "HEAD", epic.Run.Policies)
	if err != nil {
		return nil, err
	}
	gone, err := policyGone(ctx, j.p.Dir, "HEAD")
	if err != nil {
		return nil, err
	}
	if differ = append(differ, gone...); len(differ) > 0 {
		j.say("warning: " + words.ListOf(differ) + ": different in the commit that the plan is written on (HEAD), by which it is judged: commit first")
	}
	return space, nil
}

// checkNotCommitted refuses a new plan at a path that HEAD has and the checkout does not:
// it would be a change of the committed plan.
func (j *Job) checkNotCommitted(ctx context.Context, space *workspace.Space) error {
	_, there, err := space.FileAt(ctx, "HEAD", j.plan, project.MaxFile)
	if err != nil {
		return err
	}
	if there {
		return exit.Inputf("%s is not in the checkout, but in HEAD.\n  To have it changed: git restore %s, then ralph draft --revise %s -m \"what to change\"\n  To have another one written: commit its deletion, or name another file with -o", j.plan, typedPath(space.Top(), j.plan), typedPath(space.Top(), j.plan))
	}
	return nil
}

// sayReplaced reports where to find the plan of a waiting draft that this one replaces
// because the brief, the policy or the flags differ.
func (j *Job) sayReplaced(d *Draft, now *ir.Epic) {
	if d.View.Status != executor.Waiting {
		return
	}
	id := string(j.was.Epic.ID)
	what, how := "another brief waits as "+id, "this one replaces it; -o PLAN keeps both"
	switch {
	case sameWish(j.was, now):
		what, how = id+" waits, and was started with other flags", "from now on these apply; -o PLAN keeps both"
	case sameBrief(j.was, now):
		what = id + " waits, and was started with another policy"
	}
	j.say(d.replacedBy(what, how))
}

// replacedBy is the note about a replaced draft, with the plan that it wrote, if any.
func (d *Draft) replacedBy(what, how string) string {
	wrote := ""
	if d.commit() != "" {
		wrote = " What it wrote: " + d.Look()
	}
	return fmt.Sprintf("note: %s (%s); %s.%s", what, words.Status(d.View), how, wrote)
}

// sameWish reports whether two drafts have the same brief and policy.
func sameWish(a, b *ir.Epic) bool {
	return sameBrief(a, b) && a.Gates[compiler.CompilesGate].Policy == b.Gates[compiler.CompilesGate].Policy
}

func sameBrief(a, b *ir.Epic) bool { return slices.Equal(a.Nodes[0].Acceptance, b.Nodes[0].Acceptance) }

// goesOn reports whether the draft that began is open and about the same change of the same
// text. If another one waits, goesOn reports where its plan is.
func (j *Job) goesOn(ctx context.Context, now *ir.Epic) (bool, error) {
	d, err := Open(ctx, string(now.Epic.ID))
	if err != nil || d.Run.Bases().Base().Commit == "" {
		return false, err
	}
	if slices.Contains([]executor.NodeStatus{executor.Done, executor.Blocked, executor.Skipped, executor.Cancelled}, d.View.Status) {
		return false, nil
	}
	_, changes, err := d.Space.FileAt(ctx, d.Run.Bases().Base().Commit, d.Plan, project.MaxFile)
	if err != nil {
		return false, err
	}
	differ, err := d.Space.Files.Differs(ctx, d.Run.Bases().Base().Commit, []string{d.Plan})
	if err != nil {
		return false, err
	}
	if changes && len(differ) == 0 && sameWish(j.was, now) {
		return true, nil
	}
	if d.commit() != "" {
		j.say(d.replacedBy("a draft of this plan is undecided", "this one replaces it"))
	}
	return false, nil
}
