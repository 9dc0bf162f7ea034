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

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/term"
)

// ask asks what becomes of the plan, where a person can be asked, and puts it on record.
// said is false if nothing was decided.
func (d *drafted) ask(ctx context.Context, cmd *cobra.Command, out io.Writer) (said bool, err error) {
	at := personAt(cmd, out)
	if at == nil || !machine.MayApprove(project.UserName(), d.view.Approvers) {
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
			decision.Message, err = heard(in, out, "What should be different? An empty line ends it: ")
			if err != nil {
				return false, err
			}
			if decision.Message == "" {
				fmt.Fprintln(out, "Nothing was decided: the planner needs to be told what to do better.")
				continue
			}
		case "l", "later", "":
			return false, nil
		default:
			continue
		}
		return d.say(ctx, out, at, decision)
	}
}

// answer asks for what the planner wants to know, where a person can be asked.
func (d *drafted) answer(ctx context.Context, cmd *cobra.Command, out io.Writer) (said bool, err error) {
	at := personAt(cmd, out)
	if at == nil {
		return false, nil
	}
	in := term.NewInput(at)
	in.Forget()
	fmt.Fprintln(out)
	text, err := heard(in, out, "Your answer; an empty line ends it (nothing: later): ")
	if err != nil || text == "" {
		return false, err
	}
	return d.say(ctx, out, at, executor.Decision{Verb: executor.RetryNode, Message: text})
}

// heard asks until what is typed is no longer than what is kept; "" is no answer.
func heard(in *term.Input, out io.Writer, question string) (string, error) {
	for {
		fmt.Fprint(out, question)
		text, err := in.Text()
		if err != nil || len(text) <= executor.MaxNote {
			return text, atEnd(err)
		}
		fmt.Fprintf(out, "That has %d bytes, and %d are kept. Say it shorter, or name a file that says it.\n", len(text), executor.MaxNote)
	}
}

// atEnd takes the end of what a person types for saying nothing.
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

// say puts on record what a person decided about what they were shown.
func (d *drafted) say(ctx context.Context, out io.Writer, in *os.File, decision executor.Decision) (bool, error) {
	key := string(d.view.Key)
	decision.By, decision.User, decision.ID, decision.At = project.UserName(), project.UserName(), run.NewID(), time.Now().UTC().Truncate(time.Millisecond)
	decision, err := d.Run.Bind(d.Epic.Nodes[0].ID, decision)
	if err != nil {
		said, err := run.NotTaken(d.File, key, err)
		view.Sayf(out, "%s", said)
		return false, err
	}
	_, said, err := run.Decide(ctx, d.File, in, key, decision)
	view.Sayf(out, "%s", said)
	return err == nil, err
}
