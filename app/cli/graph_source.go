package cli

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// epic returns the epic to draw, from epic.json, a plan, or files of another format.
func (a *graphArgs) epic(cmd *cobra.Command, args []string) (*ir.Epic, error) {
	if a.from.As != "" {
		if a.from.Dialect != "" {
			return nil, exit.Usagef("--dialect is for plans; leave it out with --as")
		}
		return a.compiled(cmd, args)
	}
	switch {
	case len(args) > 1 && project.KindOf(args[1]) == "policy":
		return nil, exit.Usagef("--policy draws steps and agents; the policy that a plan is compiled with: --policies %s", words.QuotePath(args[1]))
	case len(args) > 1:
		return nil, exit.Usagef("graph draws one plan or epic.json, not %d", len(args))
	case len(args) == 1 && project.KindOf(args[0]) == "plan":
		return a.compiled(cmd, args)
	case a.from.Dialect != "" || len(a.from.Policies) > 0 || len(a.from.Vars) > 0:
		return nil, exit.Usagef("--dialect, --policies and --var are for a plan, and an epic.json is compiled: ralph graph PLAN")
	}
	project.ShortLived()
	file, err := project.EpicPath(args)
	if err != nil {
		return nil, err
	}
	if project.IsDir(file) {
		return nil, drawsDirectory(file)
	}
	epic, b, err := record.Load(file, cmd.InOrStdin())
	if err != nil {
		if format := project.OtherFormat(b); format != "" {
			return nil, project.OtherError(file, "not an epic.json, which ralph compile and ralph import write", "graph", format)
		}
	}
	return epic, err
}

// compiled compiles in memory.
func (a *graphArgs) compiled(cmd *cobra.Command, files []string) (*ir.Epic, error) {
	a.from.Plans, a.from.Format, a.from.Brief = files, project.FormatText, true
	c, err := a.from.Compile(cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	defer c.Project.Close()
	c.Hint = strings.Replace(c.Hint, "--policy ", "--policies ", 1)
	fits := ""
	if t, r := c.Fit(); r != nil {
		fits = view.Fitted(c, t, r)
	}
	err = printCompile(c, cmd)
	if fits != "" {
		view.Sayf(cmd.ErrOrStderr(), "%s", fits)
	}
	switch {
	case err != nil && a.from.As == "":
		note := project.ImportedNote(files[0], "graph")
		if note == "" && fits == "" && c.Found("no-items") {
			note = importHint(files[0])
		}
		view.Sayf(cmd.ErrOrStderr(), "%s", note)
		return nil, err
	case err != nil:
		return nil, err
	case len(c.Results) == 0:
		return nil, exit.Inputf("%s: it contains no work", c.Plans[0].File)
	}
	return c.Results[0].Epic, nil
}

// importHint suggests the format whose markdown files have the name of a plan without items.
func importHint(file string) string {
	for f := range lists.Refs(project.Formats) {
		for _, p := range f.Files {
			if is, _ := path.Match(strings.ToLower(p), strings.ToLower(filepath.Base(file))); is && f.Decode != nil && project.KindOf(p) == "plan" {
				return fmt.Sprintf("note: its name is that of a file of the format %s; if it is one: ralph graph --as %s %s\n", f.Name, f.Name, words.QuotePath(file))
			}
		}
	}
	return ""
}

// drawsDirectory is the error for a directory, with the command that draws it.
func drawsDirectory(dir string) error {
	for f := range lists.Refs(project.Formats) {
		if f.Decode == nil || !slices.ContainsFunc(f.Dirs, func(d string) bool { return filepath.Base(d) == filepath.Base(dir) }) {
			continue
		}
		return exit.Inputf("%s is a directory. If it holds files of the format %s: ralph graph --as %s %s", dir, f.Name, f.Name, words.QuotePath(dir))
	}
	return exit.Inputf("%s is a directory; name one plan or epic.json%s", dir, project.WhatIsIn(dir, "graph"))
}
