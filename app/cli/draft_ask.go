package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/term"
)

// askDraft asks the person at the terminal, if there is one, to approve or reject the plan
// and records the decision. said is false if nothing was decided.
func askDraft(ctx context.Context, d *draft.Draft, cmd *cobra.Command, out io.Writer) (said bool, err error) {
	at := personAt(cmd, out)
	if at == nil || !machine.MayApprove(project.UserName(), d.View.Approvers) {
		return false, nil
	}
	in := term.NewInput(at)
	for {
		in.Forget()
		fmt.Fprint(out, "\nApprove this plan? [a]pprove, [r]eject with a comment, [l]ater: ")
		line, err := in.Line()
		if err != nil {
			fmt.Fprintln(out)
			return false, atEnd(err)
		}
		decision := executor.Decision{Verb: executor.Approve}
		switch strings.ToLower(line) {
		case "a", "approve", "y", "yes":
		case "r", "reject", "n", "no":
			decision.Verb = executor.Reject
			decision.Message, err = heard(in, out, "What should change? End with an empty line: ")
			if err != nil {
				return false, err
			}
			if decision.Message == "" {
				fmt.Fprintln(out, "Nothing was decided: tell the planner what to change.")
				continue
			}
		case "l", "later", "":
			return false, nil
		default:
			continue
		}
		return decideDraft(ctx, d, out, at, decision)
	}
}

// answerDraft asks the person at the terminal, if there is one, to answer the planner.
func answerDraft(ctx context.Context, d *draft.Draft, cmd *cobra.Command, out io.Writer) (said bool, err error) {
	at := personAt(cmd, out)
	if at == nil {
		return false, nil
	}
	in := term.NewInput(at)
	in.Forget()
	fmt.Fprintln(out)
	text, err := heard(in, out, "Your answer; end with an empty line (no text: later): ")
	if err != nil || text == "" {
		return false, err
	}
	return decideDraft(ctx, d, out, at, executor.Decision{Verb: executor.RetryNode, Message: text})
}

// heard asks until the text fits into a note; "" is no answer.
func heard(in *term.Input, out io.Writer, question string) (string, error) {
	for {
		fmt.Fprint(out, question)
		text, err := in.Text()
		if err != nil || len(text) <= executor.MaxNote {
			return text, atEnd(err)
		}
		fmt.Fprintf(out, "That has %d bytes; at most %d are kept. Shorten it, or name a file that contains it.\n", len(text), executor.MaxNote)
	}
}

// atEnd treats the end of input as an empty answer.
func atEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// personAt is the terminal at which a person can be asked; nil if there is none.
func personAt(cmd *cobra.Command, out io.Writer) *os.File {
	if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(in) && term.IsTerminal(out) {
		return in
	}
	return nil
}

// decideDraft records a decision, bound to what the person was shown.
func decideDraft(ctx context.Context, d *draft.Draft, out io.Writer, in *os.File, decision executor.Decision) (bool, error) {
	key := string(d.View.Key)
	decision.By, decision.User, decision.ID, decision.At = project.UserName(), project.UserName(), run.NewID(), time.Now().UTC().Truncate(time.Millisecond)
	decision, err := d.Run.Decisions().Bind(d.Epic.Nodes[0].ID, decision)
	if err != nil {
		said, err := run.NotTaken(d.File, key, err)
		view.Sayf(out, "%s", said)
		return false, err
	}
	_, said, err := run.Decide(ctx, d.File, in, key, decision)
	view.Sayf(out, "%s", said)
	return err == nil, err
}
