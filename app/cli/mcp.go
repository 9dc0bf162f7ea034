package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/mcp"
)

func newMCPCommand() *cobra.Command {
	var attempt string
	cmd := &cobra.Command{
		Use:    "mcp --attempt NAME",
		Short:  "Report to a running ralph over stdio (started by agents, not by people)",
		Args:   countArgs(cobra.NoArgs),
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if attempt == "" {
				return exit.Usagef("write: ralph mcp --attempt NAME")
			}
			return mcp.Proxy(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), attempt, os.Getenv(mcp.URLVar), os.Getenv(mcp.TokenVar))
		},
	}
	cmd.Flags().StringVar(&attempt, "attempt", "", "name of the turn")
	return cmd
}
