package cli

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// applyDraft runs the epic of a draft. A plan that waits for approval is shown; an approved
// one is written into the checkout.
func applyDraft(cmd *cobra.Command, a *run.Args, file string, epic *ir.Epic, raw []byte) error {
	ctx := cmd.Context()
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
		d, err := draft.Open(ctx, file)
		if err != nil {
			return err
		}
		switch {
		case d.View.Status == executor.Done && ended == nil:
			return deliver(ctx, d, false, out, cmd.ErrOrStderr())
		case d.View.Status == executor.Waiting && d.View.Cause == executor.CauseQuestion:
			if said, err := answerDraft(ctx, d, cmd, out); err != nil || !said {
				return cmp.Or(err, ended)
			}
			*a = run.Args{Grace: a.Grace, Events: a.Events, Sandbox: a.Sandbox}
			continue
		case d.View.Status != executor.Waiting || d.View.Cause != executor.CauseApproval:
			return ended
		}
		s, err := d.Shown(ctx)
		if err != nil {
			return err
		}
		if err := view.Draft(out, d, s); err != nil {
			return err
		}
		switch said, err := askDraft(ctx, d, cmd, out); {
		case err != nil:
			return err
		case !said:
			return ended
		}
		*a = run.Args{Grace: a.Grace, Events: a.Events, Sandbox: a.Sandbox}
	}
}

// deliver writes an approved plan, and says so.
func deliver(ctx context.Context, d *draft.Draft, again bool, out, errOut io.Writer) error {
	done, err := d.Deliver(ctx, again)
	if err != nil {
		return err
	}
	said := "wrote"
	if !done.Wrote {
		said = "already there:"
	}
	view.Sayf(out, "\n%s %s: %s, %s\n", said, done.Plan, text.Count(done.Sprints, "sprint"), text.Count(done.Waves, "wave"))
	if done.Note != "" {
		view.Sayf(errOut, "ralph: note: %s\n", done.Note)
	}
	view.Sayf(out, "  next: ralph compile %s -o epic.json && ralph apply epic.json\n", done.Typed)
	return nil
}

// draftKey is the key of a draft's only sprint, which is what there is to approve of it;
// "" of any other epic.
func draftKey(file string) string {
	if file == "-" {
		return ""
	}
	epic, _, err := record.Load(file, nil)
	if err != nil || !record.IsDraft(epic) { // the decision reports the error
		return ""
	}
	return string(epic.Nodes[0].Key)
}

// settleDraft ends a draft whose plan was just approved, while no one else is at work on
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
	d, err := draft.Open(cmd.Context(), file)
	if err != nil || d.Held || len(d.View.Decisions) == 0 || !record.ApprovesDraft(d.View.Decisions[len(d.View.Decisions)-1]) {
		return err
	}
	return applyDraft(cmd, &run.Args{Grace: draftGrace}, file, epic, raw)
}
