package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/web"
)

func newReportCommand() *cobra.Command {
	var of reader
	var file string
	var also []string
	cmd := newCommand("report [epic.json]", "Write the page of ralph ui about a run, as it is now, into one file", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("output") && file == "" {
			return exit.Usagef("-o names no file; - is standard output")
		}
		with, err := withOf(also)
		if err != nil {
			return err
		}
		r, err := of.open(cmd, args...)
		if err != nil {
			return err
		}
		page, omitted, err := web.Report(cmd.Context(), r, with, web.MostReport)
		if err != nil {
			return err
		}
		if file, err = writeReport(cmd, r, page, file); err != nil {
			return err
		}
		if file != "-" {
			view.Sayf(cmd.OutOrStdout(), "wrote %s\n", file)
		}
		if len(omitted) > 0 {
			view.Sayf(cmd.ErrOrStderr(), "left out to keep it below %d MB: %s\n", web.MostReport/1_000_000, strings.Join(omitted, ", "))
		}
		return nil
	})
	addEpicFlag(&of.epic, cmd)
	cmd.Flags().StringVarP(&file, "output", "o", "", "the file to write; - is standard output (default: beside the journal)")
	cmd.Flags().StringSliceVar(&also, "with", nil, "also prompts (and the plan), logs or diffs, separated by commas: only for readers who may see them")
	return cmd
}

// withOf reads --with.
func withOf(names []string) (with web.With, err error) {
	for _, name := range names {
		switch name {
		case "prompts":
			with.Prompts = true
		case "logs":
			with.Logs = true
		case "diffs":
			with.Diffs = true
		default:
			return with, exit.Usagef("--with %s: write prompts, logs or diffs, separated by commas", name)
		}
	}
	return with, nil
}

// writeReport writes a page to a file, beside the journal if none is named, and returns
// where that is.
func writeReport(cmd *cobra.Command, r *record.Record, page []byte, file string) (string, error) {
	switch file {
	case "-":
		_, err := cmd.OutOrStdout().Write(page)
		return file, err
	case "":
		own := filepath.Join(r.Space.State(), "report.html")
		return fromHere(own), errors.Join(regular.MkdirOwn(r.Space.State()), atomicfile.WriteOwn(own, page, 0o644))
	}
	return file, atomicfile.Write(file, page, 0o644)
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
