package cli

import (
	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/version"
)

func newVersionCommand() *cobra.Command {
	of := reader{}
	cmd := newCommand("version", "Print the version of ralph", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		this := struct {
			Ralph string `json:"ralph"`
		}{version.Ralph()}
		return printed(&of, cmd, this, func() error {
			view.Sayf(cmd.OutOrStdout(), "ralph %s\n", this.Ralph)
			return nil
		})
	})
	cmd.Flags().BoolVar(&of.json, "json", false, "print JSON")
	return cmd
}
