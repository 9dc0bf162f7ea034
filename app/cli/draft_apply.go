package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// applyDraft walks the epic of a draft. A plan that waits for a person is shown, and one
// that is approved is written into the checkout.
func applyDraft(cmd *cobra.Command, a *run.Args, file string, epic *ir.Epic, raw []byte) error {
	ctx := background(cmd)
	out := cmd.OutOrStdout()
	if a.Events != "" {
		out = cmd.ErrOrStderr()
	}
	for {
		ended := applyEpic(cmd, a, file, epic, raw)
		var exit *exit.Error
		if ended != nil && (!errors.As(ended, &exit) || exit.Err != nil) {
			return ended
		}
		d, err := openDraft(ctx, file)
		if err != nil {
			return err
		}
		switch {
		case d.view.Status == executor.Done && ended == nil:
			return d.deliver(ctx, out, cmd.ErrOrStderr(), false)
		case d.view.Status == executor.Waiting && d.view.Cause == executor.CauseQuestion:
			if said, err := d.answer(ctx, cmd, out); err != nil || !said {
				return cmp.Or(err, ended)
			}
			*a = run.Args{Grace: a.Grace, Events: a.Events}
			continue
		case d.view.Status != executor.Waiting || d.view.Cause != executor.CauseApproval:
			return ended
		}
		if err := d.show(ctx, out); err != nil {
			return err
		}
		switch said, err := d.ask(ctx, cmd, out); {
		case err != nil:
			return err
		case !said:
			return ended
		}
		*a = run.Args{Grace: a.Grace, Events: a.Events}
	}
}

// sayReplaced says where the plan is of a draft that waits and that another takes the
// place of: one for another brief, by another policy, or with other flags.
func sayReplaced(ctx context.Context, errOut io.Writer, was, now *ir.Epic) error {
	id := string(was.Epic.ID)
	d, err := openDraft(ctx, id)
	if err != nil || d.view.Status != executor.Waiting {
		return err
	}
	what, how := "another brief waits as "+id, "this one takes its place, and -o PLAN keeps both"
	switch {
	case sameWish(was, now):
		what, how = id+" waits, and was begun with other flags", "from now on these count, and -o PLAN keeps both"
	case sameBrief(was, now):
		what = id + " waits, and was begun with another policy"
	}
	d.sayReplacedBy(errOut, what, how)
	return nil
}

// sayReplacedBy says where the plan is that a draft wrote before, if it wrote one.
func (d *drafted) sayReplacedBy(errOut io.Writer, what, how string) {
	wrote := ""
	if d.commit() != "" {
		wrote = " What it wrote: " + d.look()
	}
	view.Sayf(errOut, "ralph: note: %s (%s); %s.%s\n", what, words.Status(d.view), how, wrote)
}

// draftKey is the key of a draft's only sprint, which is what there is to approve of it;
// "" of any other epic.
func draftKey(file string) string {
	if file == "-" {
		return ""
	}
	epic, _, err := record.Load(file, nil)
	if err != nil || !record.IsDraft(epic) { // it is said when the decision is taken
		return ""
	}
	return string(epic.Nodes[0].Key)
}

// settleDraft ends a draft whose plan was just approved, while nobody else is at work on
// it: no agent is needed for that.
func settleDraft(cmd *cobra.Command, file string, epic *ir.Epic, key string, verb executor.Verb) error {
	if verb != executor.Approve || key == "" || !record.IsDraft(epic) {
		return nil
	}
	if file == "-" {
		file = string(epic.Epic.ID)
	}
	epic, raw, err := record.Load(file, nil)
	if err != nil {
		return err
	}
	d, err := openDraft(background(cmd), file)
	if err != nil || d.Held || len(d.view.Decisions) == 0 || !record.ApprovesDraft(d.view.Decisions[len(d.view.Decisions)-1]) {
		return err
	}
	return applyDraft(cmd, &run.Args{Grace: draftGrace}, file, epic, raw)
}

// drafted is a draft as its record has it.
type drafted struct {
	*record.Record
	view machine.NodeView
	plan string // the path of the plan
}

func openDraft(ctx context.Context, file string) (*drafted, error) {
	r, err := record.Open(ctx, file, nil)
	if err != nil {
		return nil, err
	}
	return draftOf(r), nil
}

func draftOf(r *record.Record) *drafted {
	view, _ := r.Run.View(r.Epic.Nodes[0].ID)
	return &drafted{Record: r, view: view, plan: r.Epic.Plans()}
}

// commit is the one that holds the plan: the result, or what a person has to look at.
func (d *drafted) commit() string {
	if d.view.Result.Commit != "" {
		return d.view.Result.Commit
	}
	for _, x := range slices.Backward(d.view.Attempts) {
		if x.Step == compiler.PlanStep && x.Commit != "" {
			return x.Commit
		}
	}
	return ""
}

// look is the command that prints the plan as it was written.
func (d *drafted) look() string {
	return "git show " + words.QuoteArg(fmt.Sprintf("%.12s:%s", d.commit(), d.plan))
}

// text is the plan as it was written.
func (d *drafted) text(ctx context.Context) ([]byte, error) {
	b, there, err := d.Space.FileAt(ctx, d.commit(), d.plan, project.MaxFile)
	if err == nil && !there {
		err = fmt.Errorf("%s is not in commit %.12s", d.plan, d.commit())
	}
	if err != nil {
		return nil, exit.Inputf("%w", err)
	}
	return b, nil
}
