package cli

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

func newValidateCommand() *cobra.Command {
	a := &project.Args{}
	var dialects, asJSON bool
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check a plan, a policy, an epic, or files of another format; write nothing",
		Long: `Validate reads a plan (*.md), a policy (*.hcl, *.hcl.json) or an epic (*.json) and prints
everything that is wrong with it. A plan is compiled with its policy, as compile would.
A Ralph bead (*.json) is compiled in the same way. Several plans are checked together,
several policies as one. json and sarif are for either plans, policies or beads: one
document is printed.

With --as the files, directories or standard input (-) are of another format and are
checked together, as import would take them; --strict holds them to the letter of it.
Beads of scrum agents (bead) are held to their format's own model, and to nothing else:
what import would warn of is left to import.

With --dialects one plan is compiled with each dialect, and a table says what comes of
it: items, groups, edges, or why it is refused. The one that fits best is written into
the plan by ralph init --plan.`,
		Example: `  ralph validate plans/*.md
  ralph validate ralph.hcl policies/*.hcl
  ralph validate epic.json
  ralph validate --dialects tasks.md
  ralph validate --as ralph-bead .ralph/beads
  ralph validate --as bead beads.json
  bd export | ralph validate --as bd -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case asJSON && !dialects:
				return exit.Usagef("--json is for --dialects; diagnostics are printed as JSON by --format json")
			case dialects && (len(args) != 1 || a.As != "" || a.Dialect != "" || a.Format != project.FormatText):
				return exit.Usagef("--dialects takes one plan, and neither --as, --dialect nor --format: ralph validate --dialects PLAN [--json]")
			case dialects:
				return validateDialects(cmd, a, args[0], asJSON)
			case a.As != "":
				return validateAs(cmd, a, args)
			case len(args) == 0:
				return exit.Usagef("write: %s", cmd.Root().Name()+" validate FILE...")
			}
			return runValidate(cmd, a, args)
		},
	}
	addCompileFlags(cmd, a)
	addAs(cmd, &a.As, project.IsRead)
	cmd.Flags().BoolVar(&dialects, "dialects", false, "print what each dialect makes of a plan")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	return cmd
}

func runValidate(cmd *cobra.Command, a *project.Args, files []string) error {
	var plans, hcls, epics, beads []string
	for _, f := range files {
		if project.HoldsBead(f) {
			beads = append(beads, f)
			continue
		}
		switch project.KindOf(f) {
		case "plan":
			plans = append(plans, f)
		case "policy":
			hcls = append(hcls, f)
		case "epic":
			epics = append(epics, f)
		default:
			return exit.Inputf("%s is neither a plan (*.md), a policy (*.hcl, *.hcl.json) nor an epic (*.json)", f)
		}
	}
	if a.Format != project.FormatText && len(files) > len(plans) && len(files) > len(hcls) && len(files) > len(beads) {
		return exit.Usagef("--format %s prints one document: name plans, or policies, or beads, or leave it out", a.Format)
	}
	bad := false
	for _, validate := range []struct {
		files []string
		do    func(*cobra.Command, *project.Args, []string) (bool, error)
	}{{plans, validatePlans}, {hcls, validatePolicies}, {epics, validateEpics}, {beads, validatePlans}} {
		if len(validate.files) == 0 {
			continue
		}
		ok, err := validate.do(cmd, a, validate.files)
		if err != nil {
			return err
		}
		bad = bad || !ok
	}
	if bad {
		return &exit.Error{Code: exit.Input}
	}
	return nil
}

// validateAs checks files of another format.
func validateAs(cmd *cobra.Command, a *project.Args, args []string) error {
	f, err := project.FindFormat(a.As, "read", project.IsRead)
	if err != nil {
		return err
	}
	if f.Policy == nil && f.Model == nil {
		ok, err := validatePlans(cmd, a, args)
		if err == nil && !ok {
			err = &exit.Error{Code: exit.Input}
		}
		return err
	}
	if _, err := a.Options(); err != nil {
		return err
	}
	r, err := f.Read(args, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer r.Project.Close()
	if f.Model != nil {
		files := r.DiagFiles()
		if err := printForeign(r, a, files, f.Model(files), cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
			return err
		}
		sayValid(a, cmd, "%s: valid %s\n", r.Label(), f.Name)
		return nil
	}
	if _, err := toPolicy(f, r, a, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
		return err
	}
	sayValid(a, cmd, "%s: valid %s\n", r.Label(), f.Name)
	return nil
}

func validatePlans(cmd *cobra.Command, a *project.Args, files []string) (bool, error) {
	a.Plans, a.Recalls = files, record.RecallClone
	c, err := a.Compile(cmd.InOrStdin())
	if err != nil {
		return false, err
	}
	defer c.Project.Close()
	if err := (view.Diagnostics{Format: c.Format, Sources: c.Sources}).Print(cmd.OutOrStdout(), cmd.ErrOrStderr(), c.Diags); err != nil {
		return false, err
	}
	if c.Hint != "" {
		view.Sayf(cmd.ErrOrStderr(), "%s\n", c.Hint)
	}
	if c.Diags.HasErrors() {
		return false, nil
	}
	for i, r := range c.Results {
		s := r.Epic.Stats()
		sayValid(a, cmd, "%s: %s, %s, %s\n", c.Plans[i].File, text.Count(s.Nodes, "node"), text.Count(s.Edges, "edge"), text.Count(len(s.Waves), "wave"))
	}
	return true, nil
}

func validatePolicies(cmd *cobra.Command, a *project.Args, files []string) (bool, error) {
	opts, err := a.Options()
	if err != nil {
		return false, err
	}
	p, err := project.Open(files[0])
	if err != nil {
		return false, err
	}
	defer p.Close()
	read, err := p.ReadPolicies(files)
	if err != nil {
		return false, err
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
	view := view.Diagnostics{Format: a.Format, Sources: project.Sources{Files: byName, Root: p.Dir}}
	if err := view.Print(cmd.OutOrStdout(), cmd.ErrOrStderr(), list); err != nil {
		return false, err
	}
	if list.HasErrors() {
		return false, nil
	}
	for _, f := range files {
		sayValid(a, cmd, "%s: a valid policy\n", f)
	}
	return true, nil
}

func validateEpics(cmd *cobra.Command, a *project.Args, files []string) (bool, error) {
	ok := true
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
			ok = false
			view.Sayf(cmd.ErrOrStderr(), "ralph: %v\n", err)
			continue
		}
		s := epic.Stats()
		sayValid(a, cmd, "%s: %s, %s, %s\n", f, text.Count(s.Nodes, "node"), text.Count(s.Edges, "edge"), text.Count(len(s.Waves), "wave"))
	}
	return ok, nil
}

// sayValid prints for people, where standard output is not a machine's.
func sayValid(a *project.Args, cmd *cobra.Command, format string, args ...any) {
	w := cmd.OutOrStdout()
	if a.Format != project.FormatText {
		w = cmd.ErrOrStderr()
	}
	view.Sayf(w, format, args...)
}
