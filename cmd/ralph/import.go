package main

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
)

func newImportCommand() *cobra.Command {
	a := &compileArgs{}
	cmd := &cobra.Command{
		Use:   "import --as FORMAT [FILE|DIR|-]...",
		Short: "Compile work of another format into epic.json, or its policy into HCL",
		Long: `Import reads work that is kept in another format and compiles it, under the policy of the
project as compile does, into epic.json: several files make one epic. A directory stands
for its files; - is standard input. The files keep their bytes and stay where they are.
When anything is wrong, every mistake of every file is printed and nothing is written.

Formats that hold policy (shepherd) become HCL: to standard output, or to the file that
-o names. docs/formats says what becomes of each key, and what is lost.`,
		Example: `  ralph import --as bead beads.json                 write epic.json
  ralph import --as bd issues.jsonl -o epics/x.json
  ralph import --as ralph-bead                       all of .ralph/beads and .beads/active
  ralph import --as ralph-bead --check               is epic.json current? exit 5 if not
  bd export | ralph import --as bd -                 from standard input
  ralph import --as gsd .planning                    the plans of GSD
  ralph import --as shepherd config/ -o ralph.hcl    policy`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.plans = args
			return runImport(cmd, a)
		},
	}
	f := cmd.Flags()
	addAs(cmd, &a.as, isRead)
	f.StringVarP(&a.out, "output", "o", "", "file to write (default epic.json; policy: standard output); - for standard output")
	f.BoolVar(&a.check, "check", false, "compile and compare, write nothing; exit 5 when epic.json is stale")
	addSameID(cmd, a)
	addPolicyFlags(cmd, a)
	f.Lookup("strict").Usage = "hold the files to the letter of their format, and treat the warnings that docs/diagnostics marks as strict as errors"
	return cmd
}

// addAs adds the flag that names a format.
func addAs(cmd *cobra.Command, to *string, holds func(format) bool) {
	cmd.Flags().StringVar(to, "as", "", "format: "+strings.Join(formatNames(holds), ", "))
	_ = cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(formatNames(holds), cobra.ShellCompDirectiveNoFileComp))
}

func runImport(cmd *cobra.Command, a *compileArgs) error {
	f, err := findFormat(a.as, "read", isRead)
	if err != nil {
		return err
	}
	if f.policy != nil {
		if a.check {
			return usageErrorf("--check compares an epic; %s holds policy", f.name)
		}
		return importPolicy(cmd, f, a)
	}
	a.out, a.noAnnotate = cmp.Or(a.out, "epic.json"), true
	c, err := a.compiled(cmd)
	if err != nil {
		return err
	}
	defer c.project.Close()
	if len(c.Results) == 0 {
		return inputErrorf("%s: there is no work in it", c.plans[0].file)
	}
	targets, err := a.targets(c, isDirName(a.out))
	if err != nil {
		return err
	}
	if a.check {
		return a.runCheck(cmd, c, targets)
	}
	r := c.Results[0]
	replaced := replacedPlan(namesBefore(targets[0], r), r)
	if err := a.write(cmd.OutOrStdout(), c, targets); err != nil {
		return err
	}
	say := a.said(cmd)
	sayf(say, "%s (%s): ", c.plans[0].file, f.name)
	sayCompiled(say, r, targets[0], replaced, false)
	for _, name := range c.ignored {
		sayf(cmd.ErrOrStderr(), "ignored: %s is not called %s\n", name, strings.Join(f.patterns(), " or "))
	}
	return nil
}

// isDirName reports whether a name is meant as a directory.
func isDirName(name string) bool {
	return strings.HasSuffix(name, "/") || strings.HasSuffix(name, string(filepath.Separator)) || isDir(name)
}

// importPolicy writes HCL. A file that exists is a policy that somebody wrote.
func importPolicy(cmd *cobra.Command, f *format, a *compileArgs) error {
	if _, err := a.options(); err != nil {
		return err
	}
	r, err := f.read(a.plans, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer r.project.Close()
	hcl, err := f.toPolicy(r, a, cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	for _, name := range r.ignored {
		sayf(cmd.ErrOrStderr(), "ignored: %s is not called %s\n", name, strings.Join(f.patterns(), " or "))
	}
	if a.out == "" || a.out == "-" {
		if _, err := cmd.OutOrStdout().Write(hcl); err != nil {
			return inputErrorf("write standard output: %w", err)
		}
		return nil
	}
	if err := r.project.leadsOut(a.out); err != nil {
		return err
	}
	old, err := regular.ReadFile(a.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return inputErrorf("%w", err)
	case len(bytes.TrimSpace(old)) > 0:
		return inputErrorf("%s exists, so it is not replaced; name another file with -o, or delete it", a.out)
	}
	if err := atomicfile.Write(a.out, hcl, 0o644); err != nil {
		return inputErrorf("%w", err)
	}
	sayf(cmd.OutOrStdout(), "%s (%s): wrote %s\n", r.label(), f.name, filepath.ToSlash(a.out))
	return nil
}
