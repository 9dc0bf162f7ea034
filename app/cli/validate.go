package cli

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

func newValidateCommand() *cobra.Command {
	a := &project.Args{Brief: true}
	var dialects, asJSON bool
	cmd := newCommand("validate FILE...", "Check a plan, a policy, an epic, or files of another format; write nothing", nil, func(cmd *cobra.Command, args []string) error {
		switch {
		case asJSON && !dialects:
			return exit.Usagef("--json is for --dialects; diagnostics are printed as JSON by --format json")
		case dialects && (len(args) != 1 || a.As != "" || a.Dialect != "" || a.Format != project.FormatText):
			return exit.Usagef("--dialects takes one plan, without --as, --dialect or --format: ralph validate --dialects PLAN [--json]")
		case dialects:
			return validateDialects(cmd, a, args[0], asJSON)
		case a.As != "":
			return validateAs(cmd, a, args)
		case len(args) == 0:
			return exit.Usagef("write: %s", cmd.Root().Name()+" validate FILE...")
		}
		return runValidate(cmd, a, args)
	})
	addCompileFlags(cmd, a)
	addAs(cmd, &a.As, project.IsRead)
	cmd.Flags().BoolVar(&dialects, "dialects", false, "print how each dialect reads a plan")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	return cmd
}

func runValidate(cmd *cobra.Command, a *project.Args, files []string) error {
	of := map[string][]string{} // by kind
	for _, f := range files {
		kind := project.KindOf(f)
		switch {
		case f == "-":
			kind = "epic"
		case project.HoldsBead(f):
			kind = "bead"
		case kind == "":
			return exit.Inputf("%s is neither a plan (*.md), a policy (*.hcl, *.hcl.json) nor an epic (*.json)", f)
		}
		of[kind] = append(of[kind], f)
	}
	if a.Format != project.FormatText && len(files) > max(len(of["plan"]), len(of["policy"]), len(of["bead"])) {
		return exit.Usagef("--format %s prints one document: name plans, or policies, or beads, or leave it out", a.Format)
	}
	var failed error
	for _, validate := range []struct {
		files []string
		do    func(*cobra.Command, *project.Args, []string) error
	}{{of["plan"], validatePlans}, {of["policy"], validatePolicies}, {of["epic"], validateEpics}, {of["bead"], validatePlans}} {
		if len(validate.files) == 0 {
			continue
		}
		err := validate.do(cmd, a, validate.files)
		if said := (*exit.Error)(nil); err != nil && (!errors.As(err, &said) || said.Err != nil) {
			return err
		}
		failed = cmp.Or(err, failed) // already printed; the other files are still checked
	}
	return failed
}

// validateAs checks files of another format.
func validateAs(cmd *cobra.Command, a *project.Args, args []string) error {
	f, err := project.FindFormat(a.As, "read", project.IsRead)
	if err != nil {
		return err
	}
	if f.Policy == nil && f.Model == nil {
		return validatePlans(cmd, a, args)
	}
	if _, err := a.Options(); err != nil {
		return err
	}
	r, err := f.Read(args, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer r.Project.Close()
	if files := r.DiagFiles(); f.Model != nil {
		err = printForeign(cmd, r, a, files, f.Model(files))
	} else {
		_, err = toPolicy(cmd, f, r, a)
	}
	if err == nil {
		sayValid(a, cmd, "%s: valid %s\n", r.Label(), f.Name)
	}
	return err
}

func validatePlans(cmd *cobra.Command, a *project.Args, files []string) error {
	a.Plans, a.Recalls = files, record.RecallClone
	c, err := a.Compile(cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer c.Project.Close()
	if err := printCompile(c, cmd); err != nil {
		return err
	}
	for i, r := range c.Results {
		sayValid(a, cmd, "%s: %s\n", c.Plans[i].File, shapeOf(r.Epic))
	}
	return nil
}

func validatePolicies(cmd *cobra.Command, a *project.Args, files []string) error {
	opts, err := a.Options()
	if err != nil {
		return err
	}
	p, err := project.Open(files[0])
	if err != nil {
		return err
	}
	defer p.Close()
	read, err := p.ReadPolicies(files)
	if err != nil {
		return err
	}
	in := policies.Input{Project: p.FS(), Vars: opts.Vars, Version: opts.Version}
	byName := map[string]*diag.File{}
	for _, s := range read {
		f := diag.NewFile(s.Path, s.Bytes)
		in.Files = append(in.Files, f)
		byName[f.Name] = f
	}
	_, list := policies.Decode(in)
	if opts.Strict {
		list = list.Strict()
	}
	list.Sort()
	if err := diagnose(cmd, a.Format, project.Sources{Files: byName, Root: p.Dir}, list); err != nil {
		return err
	}
	for _, f := range files {
		sayValid(a, cmd, "%s: a valid policy\n", f)
	}
	return nil
}

func validateEpics(cmd *cobra.Command, a *project.Args, files []string) error {
	var failed error
	for _, f := range files {
		epic, b, err := record.Load(f, cmd.InOrStdin())
		if err == nil {
			if broken := epic.Verify(); len(broken) > 0 {
				err = exit.Inputf("%s: %w", f, broken[0])
			}
		}
		if err == nil {
			var again []byte
			if again, err = ir.Encode(epic); err == nil && !bytes.Equal(again, b) {
				err = exit.Inputf("%s is not in canonical form: recompile it", f)
			}
		}
		if err != nil {
			failed = &exit.Error{Code: exit.Input}
			view.Sayf(cmd.ErrOrStderr(), "ralph: %v\n", err)
			continue
		}
		sayValid(a, cmd, "%s: %s\n", f, shapeOf(epic))
	}
	return failed
}

// sayValid prints a line for people.
func sayValid(a *project.Args, cmd *cobra.Command, format string, args ...any) {
	view.Sayf(sayTo(a, cmd), format, args...)
}
