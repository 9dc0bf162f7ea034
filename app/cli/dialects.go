package cli

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
)

// dialectsOf compiles a plan with each dialect. Errors of the policy, which defines the
// dialects, are printed.
func dialectsOf(a *project.Args, cmd *cobra.Command, file string) (table compiler.DialectTable, plan *diag.File, err error) {
	opts, err := a.Options()
	if err != nil {
		return table, nil, err
	}
	if project.KindOf(file) != "plan" {
		return table, nil, exit.Inputf("%s is not a plan (*.md): only plans have dialects", file)
	}
	b, err := project.ReadFile(file)
	if err != nil {
		return table, nil, err
	}
	c := &project.Compilation{}
	path, err := c.Inside(file)
	if c.Project != nil {
		defer c.Project.Close()
	}
	if err != nil {
		return table, nil, err
	}
	in := compiler.Input{Plans: []compiler.Source{{Path: path, Bytes: b}}, Project: c.Project.FS(), Dir: filepath.ToSlash(c.Project.Dir), Options: opts}
	if in.Policy, err = c.Project.ReadPolicies(a.Policies); err != nil {
		return table, nil, err
	}
	table = compiler.Dialects(in)
	if table.Diags.HasErrors() {
		return table, nil, diagnose(cmd, a.Format, project.Sources{Files: table.Files, Root: c.Project.Dir}, table.Diags)
	}
	return table, table.Files[path], nil
}

// validateDialects prints what each dialect makes of a plan.
func validateDialects(cmd *cobra.Command, a *project.Args, file string, asJSON bool) error {
	table, plan, err := dialectsOf(a, cmd, file)
	if err != nil {
		return err
	}
	if asJSON {
		err = view.WriteJSON(cmd.OutOrStdout(), view.DialectsJSON(file, plan, table))
	} else {
		err = view.Dialects(cmd.OutOrStdout(), file, plan, table)
	}
	if err == nil && table.Best == "" {
		err = &exit.Error{Code: exit.Input}
	}
	return err
}

// initPlan writes the dialect that fits best into a plan.
func initPlan(cmd *cobra.Command, file string) error {
	a := &project.Args{Format: project.FormatText}
	table, plan, err := dialectsOf(a, cmd, file)
	if err != nil {
		return err
	}
	own := table.Of(table.Chosen)
	switch {
	case table.Hidden != nil:
		d := table.Hidden
		return exit.Inputf("%s: line %d: %s; nothing was written. %s", file, plan.Position(d.Range.Start).Line, d.Summary, d.Detail)
	case table.Better != "":
	case own != nil && own.Refused != nil && own.Items > 0:
		return exit.Inputf("the dialect %s finds %s in %s, so it is not changed; the plan has errors: ralph validate %s", table.Chosen, text.Count(own.Items, "item"), file, words.QuotePath(file))
	case own != nil && own.Items > 0:
		view.Sayf(cmd.OutOrStdout(), "kept   %s: it needs no other dialect, %s reads %s; next: ralph compile %s\n", file, table.Chosen, text.Count(own.Items, "item"), words.QuotePath(file))
		return nil
	case table.Placed() != nil:
		r := table.Placed()
		return exit.Inputf("%s is where %s keeps its plans, and the dialect %s rejects it; nothing was written. %s%s\n  All that is wrong: ralph validate --dialect %s %s",
			file, r.Tool.Title, r.Dialect, view.RefusedAt(plan, r), view.More(r.Errors-1), words.QuoteArg(r.Dialect), words.QuotePath(file))
	case table.Nearest != "":
		return exit.Inputf("no dialect compiles %s; nothing was written. The nearest is %s, refused: %s\n  All of them: ralph validate --dialects %s",
			file, table.Nearest, view.RefusedAt(plan, table.Of(table.Nearest)), words.QuotePath(file))
	default:
		return exit.Inputf("no dialect finds an item in %s; nothing was written", file)
	}
	changed, ok := compiler.SetDialect(plan, table.Better)
	if !ok {
		return exit.Inputf("the front matter of %s cannot be extended automatically; nothing was written. Add this line to it: dialect: %s", file, table.Better)
	}
	now, err := regular.ReadFile(file)
	if err != nil {
		return exit.Inputf("%w", err)
	}
	if !bytes.Equal(now, plan.Bytes) {
		return exit.Inputf("%s changed meanwhile; nothing was written: try again", file)
	}
	if err := atomicfile.Write(file, changed, 0o644); err != nil {
		return exit.Inputf("%w", err)
	}
	r, was := table.Of(table.Better), ""
	if !table.Said.IsZero() {
		was = fmt.Sprintf(" instead of %s", table.Chosen)
	}
	view.Sayf(cmd.OutOrStdout(), "wrote  %s: dialect: %s%s, in the front matter\n       it reads %s in %s, %s; next: ralph compile %s\n",
		file, table.Better, was, text.Count(r.Items, "item"), text.Count(r.Groups, "group"), text.Count(r.Edges, "edge"), words.QuotePath(file))
	if said := view.Fuller(plan, &table, table.Better); said != "" {
		view.Sayf(cmd.OutOrStdout(), "note: %s\n", said)
	}
	return nil
}
