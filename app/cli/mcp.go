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
		Use:   "mcp --attempt NAME",
		Short: "Report to a running ralph over stdio: agents start this, people need not",
		Long: `Offers the tools of one turn of an agent (report_outcome, get_context, propose_work) as an MCP
server over standard input and output, and hands each call to the ralph that runs the agent.

ralph registers this with agents that take no MCP server over HTTP. The address and the token
come from the environment (` + mcp.URLVar + `, ` + mcp.TokenVar + `) and are good for one turn.`,
		Example: `  ralph mcp --attempt ralph_1_2a_implement_1_agent_1`,
		Args:    countArgs(cobra.NoArgs),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if attempt == "" {
				return exit.Usagef("write: ralph mcp --attempt NAME")
			}
			if err := mcp.Proxy(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), attempt, os.Getenv(mcp.URLVar), os.Getenv(mcp.TokenVar)); err != nil {
				return exit.Inputf("%w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&attempt, "attempt", "", "name of the turn")
	return cmd
}
