package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
)

func newReportCommand() *cobra.Command {
	var of reader
	var file string
	cmd := newCommand("report [epic.json]", "Write a page about a run: graph, attempts, gates, times, cost", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		r, err := of.open(cmd, args...)
		if err != nil {
			return err
		}
		page, err := view.Report(r)
		if err != nil {
			return err
		}
		if file == "-" {
			_, err := cmd.OutOrStdout().Write(page)
			return err
		}
		if file == "" {
			own := filepath.Join(r.Space.State(), "report.html")
			if err := errors.Join(regular.MkdirOwn(r.Space.State()), atomicfile.WriteOwn(own, page, 0o644)); err != nil {
				return err
			}
			file = fromHere(own)
		} else if err := atomicfile.Write(file, page, 0o644); err != nil {
			return err
		}
		view.Sayf(cmd.OutOrStdout(), "wrote %s\n", file)
		return nil
	})
	addEpicFlag(&of.epic, cmd)
	cmd.Flags().StringVarP(&file, "output", "o", "", "the file to write; - is standard output (default: beside the journal)")
	return cmd
}

// fromHere is the path of a file relative to the current directory, if it is below it.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
