package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/term"
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
		case d.view.Status != executor.Waiting || d.view.Cause != executor.CauseApproval:
			return ended
		}
		if err := d.show(ctx, out); err != nil {
			return err
		}
		if said, err := d.ask(ctx, cmd, out); err != nil || !said {
			return errors.Join(ended, err)
		}
		*a = applyArgs{grace: a.grace, events: a.events}
	}
}

// sayReplaced says where the plan is of a draft that waits and that another takes the
// place of.
func sayReplaced(ctx context.Context, errOut io.Writer, id string) error {
	d, err := openDraft(ctx, id)
	if err != nil {
		return err
	}
	if c := d.commit(); c != "" && d.view.Status == executor.Waiting {
		sayf(errOut, "ralph: note: another brief waits as %s (%s); this one takes its place, and -o PLAN keeps both. What it wrote: git show %.12s:%s\n", id, statusWord(d.view), c, d.plan)
	}
	return nil
}

// approvesDraft reports whether a decision lets the plan of a draft count.
func approvesDraft(d executor.Decision) bool {
	return d.Verb == executor.Approve && d.Gate == compiler.ApprovalGate
}

// settleDraft ends a draft whose plan was just approved, while nobody else is at work on
// it: no agent is needed for that.
func settleDraft(cmd *cobra.Command, file, key string, verb executor.Verb) error {
	if verb != executor.Approve || key == "" {
		return nil
	}
	epic, raw, err := loadEpic(file, cmd.InOrStdin())
	if err != nil || !isDraft(epic) {
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
	view, _ := r.run.View(r.epic.Nodes[0].ID)
	return &drafted{record: r, view: view, plan: r.epic.Plans()}, nil
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

// ask asks what becomes of the plan, where a person can be asked, and puts it on record.
// said is false if nothing was decided.
func (d *drafted) ask(ctx context.Context, cmd *cobra.Command, out io.Writer) (said bool, err error) {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(in) || !term.IsTerminal(out) || !executor.MayApprove(userName(), d.view.Approvers) {
		return false, nil
	}
	lines := bufio.NewScanner(in)
	for {
		fmt.Fprint(out, "\nApprove this plan? [a]pprove, [r]eject with a comment, [l]ater: ")
		if !lines.Scan() {
			fmt.Fprintln(out)
			return false, lines.Err()
		}
		decision := executor.Decision{Verb: executor.Approve}
		switch strings.ToLower(strings.TrimSpace(lines.Text())) {
		case "a", "approve", "y", "yes":
		case "r", "reject", "n", "no":
			fmt.Fprint(out, "What should be different? ")
			if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
				fmt.Fprintln(out, "Nothing was decided: the planner needs to be told what to do better.")
				continue
			}
			decision.Verb, decision.Message = executor.Reject, strings.TrimSpace(lines.Text())
		case "l", "later", "":
			return false, nil
		default:
			continue
		}
		decision.By, decision.User, decision.ID, decision.At = userName(), userName(), newID(), time.Now().UTC().Truncate(time.Millisecond)
		return true, decide(ctx, out, d.file, in, string(d.view.Key), decision)
	}
}
