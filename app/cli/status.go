package cli

import (
	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
)

func newStatusCommand() *cobra.Command {
	var of reader
	var attempts bool
	cmd := newCommand("status [epic.json]", "Show the state of each sprint of a run, and what waits for you", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		r, err := of.open(cmd, args...)
		if err != nil {
			return err
		}
		s := record.StatusOf(r)
		if err := printed(&of, cmd, s, func() error { return view.Status(s, cmd.OutOrStdout(), attempts) }); err != nil || of.json || !record.IsDraft(r.Epic) {
			return err
		}
		if why := draft.Of(r).NotWritten(cmd.Context()); why != "" {
			view.Sayf(cmd.OutOrStdout(), "\n%s\n", why)
		}
		return nil
	})
	of.add(cmd, "print JSON")
	cmd.Flags().BoolVar(&attempts, "attempts", false, "with a line for each attempt")
	return cmd
}
