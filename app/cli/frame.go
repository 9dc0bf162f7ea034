package cli

import (
	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

func addEpicFlag(f *record.Flag, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.File, "epic", "", "the epic, if it is not epic.json in this directory: a file, or its id (bd-…)")
}

// reader holds the flags of commands that read the record of an epic.
type reader struct {
	epic record.Flag
	json bool
}

// add adds --epic, and --json with the given usage.
func (r *reader) add(cmd *cobra.Command, json string) {
	addEpicFlag(&r.epic, cmd)
	cmd.Flags().BoolVar(&r.json, "json", false, json)
}

// open reads the record of the epic that --epic names, or an argument.
func (r *reader) open(cmd *cobra.Command, arg ...string) (*record.Record, error) {
	file, err := r.epic.Path(arg...)
	if err != nil {
		return nil, err
	}
	return record.Open(cmd.Context(), file, cmd.InOrStdin())
}

// load reads only the epic.
func (r *reader) load(cmd *cobra.Command, arg ...string) (file string, epic *ir.Epic, raw []byte, err error) {
	if file, err = r.epic.Path(arg...); err == nil {
		epic, raw, err = record.Load(file, cmd.InOrStdin())
	}
	return file, epic, raw, err
}

// printed prints value as JSON with --json, otherwise calls text.
func printed[V any](r *reader, cmd *cobra.Command, value V, text func() error) error {
	if r.json {
		return view.WriteJSON(cmd.OutOrStdout(), value)
	}
	return text()
}

// diagnose prints diagnostics in a format; "" is text. If there is an error among them it
// returns one that ends the command and has nothing more to say.
func diagnose(cmd *cobra.Command, format string, sources project.Sources, list diag.List) error {
	err := view.Diagnostics{Format: format, Sources: sources}.Print(cmd.OutOrStdout(), cmd.ErrOrStderr(), list)
	if err == nil && list.HasErrors() {
		err = &exit.Error{Code: exit.Input}
	}
	return err
}
