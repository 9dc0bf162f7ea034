package main

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

func newValidateCommand() *cobra.Command {
	a := &compileArgs{}
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
				return usageErrorf("--json is for --dialects; diagnostics are printed as JSON by --format json")
			case dialects && (len(args) != 1 || a.as != "" || a.dialect != "" || a.format != formatText):
				return usageErrorf("--dialects takes one plan, and neither --as, --dialect nor --format: ralph validate --dialects PLAN [--json]")
			case dialects:
				return validateDialects(cmd, a, args[0], asJSON)
			case a.as != "":
				return validateAs(cmd, a, args)
			case len(args) == 0:
				return usageErrorf("write: %s", cmd.Root().Name()+" validate FILE...")
			}
			return runValidate(cmd, a, args)
		},
	}
	addCompileFlags(cmd, a)
	addAs(cmd, &a.as, isRead)
	cmd.Flags().BoolVar(&dialects, "dialects", false, "print what each dialect makes of a plan")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	return cmd
}

func runValidate(cmd *cobra.Command, a *compileArgs, files []string) error {
	var plans, hcls, epics, beads []string
	for _, f := range files {
		if holdsBead(f) {
			beads = append(beads, f)
			continue
		}
		switch kindOf(f) {
		case "plan":
			plans = append(plans, f)
		case "policy":
			hcls = append(hcls, f)
		case "epic":
			epics = append(epics, f)
		default:
			return inputErrorf("%s is neither a plan (*.md), a policy (*.hcl, *.hcl.json) nor an epic (*.json)", f)
		}
	}
	if a.format != formatText && len(files) > len(plans) && len(files) > len(hcls) && len(files) > len(beads) {
		return usageErrorf("--format %s prints one document: name plans, or policies, or beads, or leave it out", a.format)
	}
	bad := false
	for _, validate := range []struct {
		files []string
		do    func(*cobra.Command, *compileArgs, []string) (bool, error)
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
		return &exitError{code: exitInput}
	}
	return nil
}

// validateAs checks files of another format.
func validateAs(cmd *cobra.Command, a *compileArgs, args []string) error {
	f, err := findFormat(a.as, "read", isRead)
	if err != nil {
		return err
	}
	if f.policy == nil && f.model == nil {
		ok, err := validatePlans(cmd, a, args)
		if err == nil && !ok {
			err = &exitError{code: exitInput}
		}
		return err
	}
	if _, err := a.options(); err != nil {
		return err
	}
	r, err := f.read(args, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer r.project.Close()
	if f.model != nil {
		files := r.diagFiles()
		if err := r.print(a, files, f.model(files), cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
			return err
		}
		a.say(cmd, "%s: valid %s\n", r.label(), f.name)
		return nil
	}
	if _, err := f.toPolicy(r, a, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
		return err
	}
	a.say(cmd, "%s: valid %s\n", r.label(), f.name)
	return nil
}

// kindOf tells what a file is by its name.
func kindOf(file string) string {
	switch ext := strings.ToLower(filepath.Ext(file)); {
	case ext == ".md" || ext == ".markdown":
		return "plan"
	case ext == ".hcl" || strings.HasSuffix(strings.ToLower(file), ".hcl.json"):
		return "policy"
	case ext == ".json":
		return "epic"
	}
	return ""
}

func validatePlans(cmd *cobra.Command, a *compileArgs, files []string) (bool, error) {
	a.plans, a.recalls = files, recallClone
	c, err := a.compile(cmd.InOrStdin())
	if err != nil {
		return false, err
	}
	defer c.project.Close()
	if err := (diagsView{c.format, c.sources}).print(cmd.OutOrStdout(), cmd.ErrOrStderr(), c.Diags); err != nil {
		return false, err
	}
	if c.hint != "" {
		sayf(cmd.ErrOrStderr(), "%s\n", c.hint)
	}
	if c.Diags.HasErrors() {
		return false, nil
	}
	for i, r := range c.Results {
		s := r.Epic.Stats()
		a.say(cmd, "%s: %s, %s, %s\n", c.plans[i].file, text.Count(s.Nodes, "node"), text.Count(s.Edges, "edge"), text.Count(len(s.Waves), "wave"))
	}
	return true, nil
}

func validatePolicies(cmd *cobra.Command, a *compileArgs, files []string) (bool, error) {
	opts, err := a.options()
	if err != nil {
		return false, err
	}
	p, err := openProject(files[0])
	if err != nil {
		return false, err
	}
	defer p.Close()
	read, err := p.readPolicies(files)
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
	view := diagsView{a.format, sources{byName, p.dir}}
	if err := view.print(cmd.OutOrStdout(), cmd.ErrOrStderr(), list); err != nil {
		return false, err
	}
	if list.HasErrors() {
		return false, nil
	}
	for _, f := range files {
		a.say(cmd, "%s: a valid policy\n", f)
	}
	return true, nil
}

func validateEpics(cmd *cobra.Command, a *compileArgs, files []string) (bool, error) {
	ok := true
	for _, f := range files {
		epic, b, err := loadEpic(f, cmd.InOrStdin())
		if err == nil {
			if broken := epic.Verify(); len(broken) > 0 {
				err = inputErrorf("%s: %w", f, broken[0])
			}
		}
		if err == nil {
			var again []byte
			if again, err = ir.Encode(epic); err == nil && !bytes.Equal(again, b) {
				err = inputErrorf("%s is not in canonical form: recompile it", f)
			}
		}
		if err != nil {
			ok = false
			sayf(cmd.ErrOrStderr(), "ralph: %v\n", err)
			continue
		}
		s := epic.Stats()
		a.say(cmd, "%s: %s, %s, %s\n", f, text.Count(s.Nodes, "node"), text.Count(s.Edges, "edge"), text.Count(len(s.Waves), "wave"))
	}
	return ok, nil
}

// say prints for people, where standard output is not a machine's.
func (a *compileArgs) say(cmd *cobra.Command, format string, args ...any) {
	w := cmd.OutOrStdout()
	if a.format != formatText {
		w = cmd.ErrOrStderr()
	}
	sayf(w, format, args...)
}
