package cli

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/view"
)

func newImportCommand() *cobra.Command {
	a := &project.Args{Brief: true}
	cmd := newCommand("import --as FORMAT [FILE|DIR|-]...", "Compile work of another format into epic.json, or its policy into HCL", nil, func(cmd *cobra.Command, args []string) error {
		a.Plans = args
		return runImport(cmd, a)
	})
	f := cmd.Flags()
	addAs(cmd, &a.As, project.IsRead)
	f.StringVarP(&a.Out, "output", "o", "", "file to write (default epic.json; policy: standard output); - for standard output")
	f.BoolVar(&a.Check, "check", false, "compile and compare, write nothing; exit 5 when epic.json is stale")
	addSameID(cmd, a)
	addPolicyFlags(cmd, a)
	f.Lookup("strict").Usage = "check the files strictly against their format, and treat the warnings that docs/diagnostics marks as strict as errors"
	return cmd
}

// addAs adds the flag that names a format.
func addAs(cmd *cobra.Command, to *string, holds func(project.Format) bool) {
	cmd.Flags().StringVar(to, "as", "", "format: "+strings.Join(project.FormatNames(holds), ", "))
	_ = cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(project.FormatNames(holds), cobra.ShellCompDirectiveNoFileComp))
}

func runImport(cmd *cobra.Command, a *project.Args) error {
	f, err := project.FindFormat(a.As, "read", project.IsRead)
	if err != nil {
		return err
	}
	if f.Policy != nil {
		if a.Check {
			return exit.Usagef("--check compares an epic; %s holds policy", f.Name)
		}
		return importPolicy(cmd, f, a)
	}
	a.Out, a.NoAnnotate = cmp.Or(a.Out, "epic.json"), true
	c, err := compilePlans(a, cmd)
	if err != nil {
		return err
	}
	defer c.Project.Close()
	if len(c.Results) == 0 {
		return exit.Inputf("%s: it contains no work", c.Plans[0].File)
	}
	targets, err := targets(a, c)
	if err != nil {
		return err
	}
	if a.Check {
		return runCheck(cmd, a, c, targets)
	}
	r := c.Results[0]
	replaced := replacedPlan(namesBefore(targets[0], r), r)
	if err := c.WriteEpics(a, cmd.OutOrStdout(), targets); err != nil {
		return err
	}
	say := sayTo(a, cmd)
	view.Sayf(say, "%s (%s): ", c.Plans[0].File, f.Name)
	sayCompiled(say, r, targets[0], replaced, false)
	for _, name := range c.Ignored {
		view.Sayf(cmd.ErrOrStderr(), "ignored: %s is not called %s\n", name, strings.Join(f.Patterns(), " or "))
	}
	return nil
}

// importPolicy writes HCL. An existing file is a person's policy.
func importPolicy(cmd *cobra.Command, f *project.Format, a *project.Args) error {
	if _, err := a.Options(); err != nil {
		return err
	}
	r, err := f.Read(a.Plans, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer r.Project.Close()
	hcl, err := toPolicy(cmd, f, r, a)
	if err != nil {
		return err
	}
	for _, name := range r.Ignored {
		view.Sayf(cmd.ErrOrStderr(), "ignored: %s is not called %s\n", name, strings.Join(f.Patterns(), " or "))
	}
	if a.Out == "" || a.Out == "-" {
		if _, err := cmd.OutOrStdout().Write(hcl); err != nil {
			return exit.Inputf("write standard output: %w", err)
		}
		return nil
	}
	if err := r.Project.LeadsOut(a.Out); err != nil {
		return err
	}
	if err := project.WriteOver(a.Out, hcl, "", func([]byte) bool { return false }); err != nil {
		return err
	}
	view.Sayf(cmd.OutOrStdout(), "%s (%s): wrote %s\n", r.Label(), f.Name, filepath.ToSlash(a.Out))
	return nil
}
