package cli

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/policies"
)

func newFmtCommand() *cobra.Command {
	var check bool
	cmd := newCommand("fmt [FILE...]", "Format policies; normalise the annotations in plans", nil, func(cmd *cobra.Command, args []string) error { return runFmt(cmd, args, check) })
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit 5 when a file would change")
	return cmd
}

func runFmt(cmd *cobra.Command, files []string, check bool) error {
	if slices.Equal(files, []string{"-"}) {
		return fmtStdin(cmd, check)
	}
	if len(files) == 0 {
		for _, pattern := range []string{"ralph.hcl", filepath.Join("policies", "*.hcl")} {
			found, err := filepath.Glob(pattern)
			if err != nil {
				return err
			}
			files = append(files, found...)
		}
		if len(files) == 0 {
			return exit.Inputf("there is no ralph.hcl and no policies/*.hcl here; name the files")
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	var batch atomicfile.Batch
	var changed []string
	var list diag.List
	read := map[string]*diag.File{}
	for _, f := range files {
		b, err := project.ReadFile(f)
		if err != nil {
			return err
		}
		if err := project.Confined(f); err != nil {
			return err
		}
		source := diag.NewFile(filepath.ToSlash(f), b)
		read[source.Name] = source
		now, found, err := formatted(source)
		if err != nil {
			return err
		}
		list.Add(found...)
		if !bytes.Equal(now, b) {
			changed = append(changed, f)
			batch.Add(f, now, 0o644)
		}
	}
	if list.HasErrors() {
		list.Sort()
		return diagnose(cmd, "", project.Sources{Files: read}, list)
	}
	for _, f := range changed {
		view.Sayf(cmd.OutOrStdout(), "%s\n", filepath.ToSlash(f))
	}
	if check {
		if len(changed) > 0 {
			return &exit.Error{Code: exit.Stale}
		}
		return nil
	}
	return batch.Commit()
}

// fmtStdin formats a policy on its way through.
func fmtStdin(cmd *cobra.Command, check bool) error {
	b, err := project.ReadStdin(cmd.InOrStdin())
	if err != nil {
		return err
	}
	source := diag.NewFile("stdin.hcl", b)
	now, list, err := formatted(source)
	switch {
	case err != nil:
		return err
	case list.HasErrors():
		return diagnose(cmd, "", project.Sources{Files: map[string]*diag.File{source.Name: source}}, list)
	case check && !bytes.Equal(now, b):
		return &exit.Error{Code: exit.Stale}
	case check:
		return nil
	}
	_, err = cmd.OutOrStdout().Write(now)
	return err
}

// unreadable are the diagnostics that keep a policy from being formatted. Others do not
// concern the layout.
var unreadable = map[diag.Code]bool{"policy-syntax": true, "policy-too-large": true}

// formatted returns the formatted text of a file; a file that cannot be parsed is returned
// unchanged, with diagnostics.
func formatted(f *diag.File) ([]byte, diag.List, error) {
	switch project.KindOf(f.Name) {
	case "plan":
		b, list := compiler.FormatAnnotations(f)
		return b, list, nil
	case "policy":
		if filepath.Ext(f.Name) == ".hcl" {
			_, list := policies.Decode(policies.Input{Files: []*diag.File{f}})
			list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return !unreadable[d.Code] })
			if list.HasErrors() {
				return f.Bytes, list, nil
			}
			return policies.Format(f.Bytes), nil, nil
		}
	}
	return nil, nil, exit.Inputf("%s is neither a policy (*.hcl) nor a plan (*.md)", f.Name)
}
