package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/term"
)

func newShowCommand() *cobra.Command {
	var of reader
	var open, diff bool
	cmd := newCommand("show KEY", "Show everything about one sprint: spec, attempts, gates, commits, what to do", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		switch {
		case open && of.json:
			return exit.Usagef("--open and --json exclude each other")
		case open && diff:
			return exit.Usagef("--open and --diff exclude each other")
		}
		ctx := cmd.Context()
		r, id, err := record.OpenFor(ctx, &of.epic, args[0], cmd.InOrStdin())
		switch {
		case err != nil:
			return err
		case r == nil && diff:
			return exit.Inputf("there is no run with a sprint %s here, so there is nothing to show", args[0])
		case r == nil:
			return showBead(ctx, args[0], open, of.json, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		case open && id == executor.Integration:
			return exit.Usagef("%s is in no plan: name a sprint", id)
		case open:
			return view.OpenEditor(ctx, record.PlaceIn(r, id), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		}
		v, err := viewOf(r, args[0])
		switch {
		case err != nil:
			return err
		case diff:
			return showDiff(ctx, r, v, of.json, cmd.OutOrStdout())
		}
		s := record.ShowOf(r, v)
		return printed(&of, cmd, s, func() error { return view.Sprint(s, cmd.OutOrStdout()) })
	})
	of.add(cmd, "print JSON")
	cmd.Flags().BoolVar(&diff, "diff", false, "show what it changed, and the verdicts of its gates")
	cmd.Flags().BoolVar(&open, "open", false, "open the plan at this sprint's heading")
	return cmd
}

// showBead shows a bead that is in no epic.json here.
func showBead(ctx context.Context, id string, open, asJSON bool, in io.Reader, out, errOut io.Writer) error {
	b, sprint, at, err := record.FindBead(ctx, id)
	switch {
	case err != nil:
		return err
	case open && b.Plan == "":
		return exit.Inputf("bead %s (%s) does not say from which plan it is", id, b.Title)
	case open:
		return view.OpenEditor(ctx, at, in, out, errOut)
	case asJSON:
		return view.WriteJSON(out, b)
	}
	return view.Bead(out, b, sprint, at)
}

// showDiff prints the change that a node made, with the verdicts on it.
func showDiff(ctx context.Context, r *record.Record, v machine.NodeView, asJSON bool, out io.Writer) (err error) {
	hide, _ := redact.New(record.SecretValues(r.Epic, os.Environ()))
	said, c, err := record.ChangeOf(ctx, r, v, hide.String)
	if err != nil {
		return err
	}
	if c != nil {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	if asJSON {
		return view.WriteJSON(out, said)
	}
	paint := term.For(out)
	return view.Paged(ctx, r.Space, out, func(w io.Writer) error {
		if _, err := io.WriteString(w, view.ChangeHead(said, v)); err != nil || c == nil {
			return err
		}
		return view.Diff(ctx, c, hide, paint, w, said.Next)
	})
}
