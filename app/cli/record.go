package cli

import (
	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/record"
)

func addEpicFlag(f *record.Flag, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.File, "epic", "", "the epic, if it is not epic.json in this directory: a file, or its id (bd-…)")
}
