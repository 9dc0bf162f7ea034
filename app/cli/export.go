package cli

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

func newExportCommand() *cobra.Command {
	var of reader
	var as, out string
	var strict bool
	cmd := newCommand("export --as FORMAT [epic.json]", "Write an epic and the record of its runs in another format", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		f, err := project.FindFormat(as, "write", project.IsWritten)
		if err != nil {
			return err
		}
		return runExport(cmd, f, &of, args, out, strict)
	})
	addAs(cmd, &as, project.IsWritten)
	addEpicFlag(&of.epic, cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default: standard output); a directory (DIR/) for a file for each sprint, where the format has one")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit code 1 when the epic does not meet the format's requirements")
	return cmd
}

func runExport(cmd *cobra.Command, f *project.Format, of *reader, args []string, out string, strict bool) error {
	toDir := out != "" && out != "-" && project.IsDirName(out)
	if toDir && !f.Split {
		return exit.Usagef("-o %s: %s is one file for all sprints; name it", out, f.Name)
	}
	file, epic, _, err := of.load(cmd, args...)
	if err != nil {
		return err
	}
	history, note, err := record.HistoryOf(cmd.Context(), file, epic, f.Need)
	if err != nil {
		return err
	}
	if note != "" {
		view.Sayf(cmd.ErrOrStderr(), "note: %s\n", note)
	}
	var breaches []foreign.Breach
	wrote := ""
	if toDir {
		breaches, err = f.ExportEach(epic, history, out)
		wrote = fmt.Sprintf("%s to %s", text.Count(len(epic.Nodes), "file"), filepath.ToSlash(out))
	} else {
		var b bytes.Buffer
		if breaches, err = f.Encode(&b, epic, history); err != nil {
			return err
		}
		if out == "" || out == "-" {
			err = printExport(cmd, b.Bytes())
		} else {
			err = project.WriteExport(epic, out, b.Bytes())
			wrote = fmt.Sprintf("%s (%s)", filepath.ToSlash(out), text.Count(len(epic.Nodes), "sprint"))
		}
	}
	if err != nil {
		return err
	}
	if wrote != "" {
		view.Sayf(cmd.OutOrStdout(), "wrote %s\n", wrote)
	}
	if f.Note != "" {
		view.Sayf(cmd.ErrOrStderr(), "note: %s\n", f.Note)
	}
	for _, x := range breaches {
		view.Sayf(cmd.ErrOrStderr(), "%s: %s\n", f.Name, x)
	}
	if strict && len(breaches) > 0 {
		return &exit.Error{Code: exit.Input}
	}
	return nil
}

func printExport(cmd *cobra.Command, b []byte) error {
	if len(b) > 0 && (b[0] == '{' || b[0] == '[') {
		b = reveal.JSON(b)
	}
	if _, err := cmd.OutOrStdout().Write(b); err != nil {
		return exit.Inputf("write standard output: %w", err)
	}
	return nil
}
