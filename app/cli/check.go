package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/ir"
)

// fromEpic takes the plan that epic.json names when --check has none.
func fromEpic(a *project.Args) error {
	if len(a.Plans) > 0 {
		return nil
	}
	if !a.Check || a.Out == "-" {
		return exit.Usagef("compile which plan? ralph compile plans/x.md")
	}
	if project.IsDir(a.Out) {
		return exit.Usagef("name the plans whose epics are in %s", a.Out)
	}
	b, err := project.ReadFile(a.Out)
	if err != nil {
		return err
	}
	epic, err := ir.Decode(b)
	var edited *ir.DigestError
	if err != nil && !errors.As(err, &edited) { // an edited epic is reported as stale
		return project.LoadError(a.Out, err)
	}
	p, err := project.Open(a.Out)
	if err != nil {
		return err
	}
	defer p.Close()
	if !filepath.IsLocal(filepath.FromSlash(epic.Epic.Plan)) {
		return exit.Inputf("%s names the plan %s, which leaves the project; name the plan: ralph compile PLAN", a.Out, epic.Epic.Plan)
	}
	plan := filepath.Join(p.Dir, filepath.FromSlash(epic.Epic.Plan))
	if epic.Run.Dialect == "" && (len(epic.Nodes) != 1 || !project.HoldsBead(plan)) {
		return exit.Inputf("%s was made by ralph import; compare it with its files: ralph import --as FORMAT FILE... --check", a.Out)
	}
	a.Plans, a.Recorded = []string{plan}, epic.Run.Dialect
	if _, err := os.Stat(a.Plans[0]); err != nil && project.GitRoot(p.Dir) == "" {
		return exit.Inputf("there is no plan %s beside %s, and no git repository to look in; name the plan: ralph compile PLAN",
			epic.Epic.Plan, a.Out)
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, a.Plans[0]); err == nil {
			a.Plans[0] = rel
		}
	}
	return nil
}

// runCheck compares instead of writing.
func runCheck(cmd *cobra.Command, a *project.Args, c *project.Compilation, targets []string) error {
	w := cmd.OutOrStdout()
	if a.Format != project.FormatText {
		w = cmd.ErrOrStderr()
	}
	stale, err := view.Check(w, a, c, targets)
	if err == nil && stale {
		err = &exit.Error{Code: exit.Stale}
	}
	return err
}
