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
func dialectsOf(a *project.Args, cmd *cobra.Command, file string) (dialects compiler.DialectTable, plan *diag.File, err error) {
	opts, err := a.Options()
	if err != nil {
		return dialects, nil, err
	}
	if project.KindOf(file) != "plan" {
		return dialects, nil, exit.Inputf("%s is not a plan (*.md): only plans have dialects", file)
	}
	b, err := project.ReadFile(file)
	if err != nil {
		return dialects, nil, err
	}
	c := &project.Compilation{}
	path, err := c.Inside(file)
	if c.Project != nil {
		defer c.Project.Close()
	}
	if err != nil {
		return dialects, nil, err
	}
	in := compiler.Input{Plans: []compiler.Source{{Path: path, Bytes: b}}, Project: c.Project.FS(), Dir: filepath.ToSlash(c.Project.Dir), Options: opts}
	if in.Policy, err = c.Project.ReadPolicies(a.Policies); err != nil {
		return dialects, nil, err
	}
	dialects = compiler.Dialects(in)
	if dialects.Diags.HasErrors() {
		return dialects, nil, diagnose(cmd, a.Format, project.Sources{Files: dialects.Files, Root: c.Project.Dir}, dialects.Diags)
	}
	return dialects, dialects.Files[path], nil
}

// validateDialects prints what each dialect makes of a plan.
func validateDialects(cmd *cobra.Command, a *project.Args, file string, asJSON bool) error {
	dialects, plan, err := dialectsOf(a, cmd, file)
	if err != nil {
		return err
	}
	if asJSON {
		err = view.WriteJSON(cmd.OutOrStdout(), view.DialectsJSON(file, plan, dialects))
	} else {
		err = view.Dialects(cmd.OutOrStdout(), file, plan, dialects)
	}
	if err == nil && dialects.Best == "" {
		err = &exit.Error{Code: exit.Input}
	}
	return err
}

// initPlan writes the dialect that fits best into a plan.
func initPlan(cmd *cobra.Command, file string) error {
	dialects, plan, err := dialectsOf(&project.Args{Format: project.FormatText}, cmd, file)
	if err != nil {
		return err
	}
	own := dialects.Of(dialects.Chosen)
	switch {
	case dialects.Hidden != nil:
		d := dialects.Hidden
		return exit.Inputf("%s: line %d: %s; nothing was written. %s", file, plan.Position(d.Range.Start).Line, d.Summary, d.Detail)
	case dialects.Better != "":
	case own != nil && own.Refused != nil && own.Items > 0:
		return exit.Inputf("the dialect %s finds %s in %s, so it is not changed; the plan has errors: ralph validate %s", dialects.Chosen, text.Count(own.Items, "item"), file, words.QuotePath(file))
	case own != nil && own.Items > 0:
		view.Sayf(cmd.OutOrStdout(), "kept   %s: it needs no other dialect, %s reads %s; next: ralph compile %s\n", file, dialects.Chosen, text.Count(own.Items, "item"), words.QuotePath(file))
		return nil
	case dialects.Placed() != nil:
		r := dialects.Placed()
		return exit.Inputf("%s is where %s keeps its plans, and the dialect %s rejects it; nothing was written. %s%s\n  All that is wrong: ralph validate --dialect %s %s",
			file, r.Tool.Title, r.Dialect, view.RefusedAt(plan, r), view.More(r.Errors-1), words.QuoteArg(r.Dialect), words.QuotePath(file))
	case dialects.Nearest != "":
		return exit.Inputf("no dialect compiles %s; nothing was written. The nearest is %s, refused: %s\n  All of them: ralph validate --dialects %s",
			file, dialects.Nearest, view.RefusedAt(plan, dialects.Of(dialects.Nearest)), words.QuotePath(file))
	default:
		return exit.Inputf("no dialect finds an item in %s; nothing was written", file)
	}
	changed, ok := compiler.SetDialect(plan, dialects.Better)
	if !ok {
		return exit.Inputf("the front matter of %s cannot be extended automatically; nothing was written. Add this line to it: dialect: %s", file, dialects.Better)
	}
	now, err := regular.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, plan.Bytes) {
		return exit.Inputf("%s changed meanwhile; nothing was written: try again", file)
	}
	if err := atomicfile.Write(file, changed, 0o644); err != nil {
		return err
	}
	r, was := dialects.Of(dialects.Better), ""
	if !dialects.Said.IsZero() {
		was = fmt.Sprintf(" instead of %s", dialects.Chosen)
	}
	view.Sayf(cmd.OutOrStdout(), "wrote  %s: dialect: %s%s, in the front matter\n       it reads %s in %s, %s; next: ralph compile %s\n",
		file, dialects.Better, was, text.Count(r.Items, "item"), text.Count(r.Groups, "group"), text.Count(r.Edges, "edge"), words.QuotePath(file))
	if said := view.Fuller(plan, &dialects, dialects.Better); said != "" {
		view.Sayf(cmd.OutOrStdout(), "note: %s\n", said)
	}
	return nil
}
