package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// isDraft reports whether an epic is one by which a plan is written.
func isDraft(epic *ir.Epic) bool { return epic.Plans() != "" && len(epic.Nodes) == 1 }

// applyDraft walks the epic of a draft. A plan that waits for a person is shown, and one
// that is approved is written into the checkout.
func applyDraft(cmd *cobra.Command, a *applyArgs, file string, epic *ir.Epic, raw []byte) error {
	ctx := background(cmd)
	out := cmd.OutOrStdout()
	if a.events != "" {
		out = cmd.ErrOrStderr()
	}
	for {
		ended := applyEpic(cmd, a, file, epic, raw)
		var exit *exitError
		if ended != nil && (!errors.As(ended, &exit) || exit.err != nil) {
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
			*a = applyArgs{grace: a.grace, events: a.events}
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
		*a = applyArgs{grace: a.grace, events: a.events}
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
	sayf(errOut, "ralph: note: %s (%s); %s.%s\n", what, statusWord(d.view), how, wrote)
}

// approvesDraft reports whether a decision lets the plan of a draft count.
func approvesDraft(d executor.Decision) bool {
	return d.Verb == executor.Approve && d.Gate == compiler.ApprovalGate
}

// asksPerson reports whether a person has to approve what a draft writes.
func asksPerson(epic *ir.Epic) bool { _, is := epic.Gates[compiler.ApprovalGate]; return is }

// draftKey is the key of a draft's only sprint, which is what there is to approve of it;
// "" of any other epic.
func draftKey(file string) string {
	if file == "-" {
		return ""
	}
	epic, _, err := loadEpic(file, nil)
	if err != nil || !isDraft(epic) { // it is said when the decision is taken
		return ""
	}
	return string(epic.Nodes[0].Key)
}

// settleDraft ends a draft whose plan was just approved, while nobody else is at work on
// it: no agent is needed for that.
func settleDraft(cmd *cobra.Command, file string, epic *ir.Epic, key string, verb executor.Verb) error {
	if verb != executor.Approve || key == "" || !isDraft(epic) {
		return nil
	}
	if file == "-" {
		file = string(epic.Epic.ID)
	}
	epic, raw, err := loadEpic(file, nil)
	if err != nil {
		return err
	}
	d, err := openDraft(background(cmd), file)
	if err != nil || d.held || len(d.view.Decisions) == 0 || !approvesDraft(d.view.Decisions[len(d.view.Decisions)-1]) {
		return err
	}
	return applyDraft(cmd, &applyArgs{grace: draftGrace}, file, epic, raw)
}

// drafted is a draft as its record has it.
type drafted struct {
	*record
	view executor.NodeView
	plan string // the path of the plan
}

func openDraft(ctx context.Context, file string) (*drafted, error) {
	r, err := openRecord(ctx, file, nil)
	if err != nil {
		return nil, err
	}
	return draftOf(r), nil
}

func draftOf(r *record) *drafted {
	view, _ := r.run.View(r.epic.Nodes[0].ID)
	return &drafted{record: r, view: view, plan: r.epic.Plans()}
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
	return "git show " + quoteArg(fmt.Sprintf("%.12s:%s", d.commit(), d.plan))
}

// text is the plan as it was written.
func (d *drafted) text(ctx context.Context) ([]byte, error) {
	b, there, err := d.space.FileAt(ctx, d.commit(), d.plan, maxFile)
	if err == nil && !there {
		err = fmt.Errorf("%s is not in commit %.12s", d.plan, d.commit())
	}
	if err != nil {
		return nil, inputErrorf("%w", err)
	}
	return b, nil
}
