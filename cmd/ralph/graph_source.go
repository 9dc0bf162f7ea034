package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// epic is what graph draws: a compiled one, a plan, or files of another format.
func (a *graphArgs) epic(cmd *cobra.Command, args []string) (*ir.Epic, error) {
	if a.from.as != "" {
		if a.from.dialect != "" {
			return nil, usageErrorf("--dialect is for plans; leave it out with --as")
		}
		return a.compiled(cmd, args)
	}
	switch {
	case len(args) > 1 && kindOf(args[1]) == "policy":
		return nil, usageErrorf("--policy draws steps and agents; the policy that a plan is compiled with: --policies %s", quotePath(args[1]))
	case len(args) > 1:
		return nil, usageErrorf("one drawing has one plan or epic.json, not %d", len(args))
	case len(args) == 1 && kindOf(args[0]) == "plan":
		return a.compiled(cmd, args)
	case a.from.dialect != "" || len(a.from.policies) > 0 || len(a.from.vars) > 0:
		return nil, usageErrorf("--dialect, --policies and --var are for a plan, and an epic.json is compiled: ralph graph PLAN")
	}
	shortLived()
	file, err := epicPath(args)
	if err != nil {
		return nil, err
	}
	if isDir(file) {
		return nil, drawsDirectory(file)
	}
	epic, b, err := loadEpic(file, cmd.InOrStdin())
	if err != nil {
		if format := otherFormat(b); format != "" {
			return nil, otherError(file, "no epic.json, which ralph compile and ralph import write", "graph", format)
		}
	}
	return epic, err
}

// compiled compiles in memory.
func (a *graphArgs) compiled(cmd *cobra.Command, files []string) (*ir.Epic, error) {
	a.from.plans, a.from.format = files, formatText
	c, err := a.from.compile(cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	defer c.project.Close()
	c.hint = strings.Replace(c.hint, "--policy ", "--policies ", 1)
	fits := c.fit()
	err = c.print(cmd)
	if fits != "" {
		sayf(cmd.ErrOrStderr(), "%s", fits)
	}
	switch {
	case err != nil && a.from.as == "":
		note := importedNote(files[0], "graph")
		if note == "" && fits == "" && c.finds("no-items") {
			note = importHint(files[0])
		}
		sayf(cmd.ErrOrStderr(), "%s", note)
		return nil, err
	case err != nil:
		return nil, err
	case len(c.Results) == 0:
		return nil, inputErrorf("%s: there is no work in it", c.plans[0].file)
	}
	return c.Results[0].Epic, nil
}

// fit compiles a plan again that names no dialect, and in which the default finds no
// items, with the one that fits best, and says so; "" if there is nothing to choose.
func (c *compilation) fit() (said string) {
	if len(c.input.Plans) != 1 || c.input.Options.Dialect != "" || !c.finds("no-items") {
		return ""
	}
	t, file := compiler.Dialects(c.input), c.plans[0].file
	plan := t.Files[c.input.Plans[0].Path]
	r := t.Of(t.Better)
	if r == nil {
		r = t.Placed()
	}
	if r == nil || !t.Said.IsZero() {
		return ""
	}
	c.input.Options.Dialect = r.Dialect
	c.Output = compiler.Compile(c.input)
	c.sources.files = c.Files
	if r.Refused != nil {
		return fmt.Sprintf("note: read with the dialect %s: %s lies where %s keeps its plans\n", r.Dialect, file, r.Tool.Title)
	}
	said = fmt.Sprintf("note: read with the dialect %s: %s, %s; ralph init --plan %s writes it into the plan\n",
		r.Dialect, text.Count(r.Items, "item"), text.Count(r.Edges, "edge"), quotePath(file))
	if more := fuller(plan, &t, r.Dialect); more != "" {
		said += "note: " + more + "\n"
	}
	return said
}

// finds reports whether a diagnostic is among those of the compile.
func (c *compilation) finds(code diag.Code) bool {
	return slices.ContainsFunc(c.Diags, func(d diag.Diagnostic) bool { return d.Code == code })
}

// importHint names the format whose markdown files are called like one that has no items.
func importHint(file string) string {
	for i := range formats {
		f := &formats[i]
		for _, p := range f.files {
			if is, _ := path.Match(strings.ToLower(p), strings.ToLower(filepath.Base(file))); is && f.decode != nil && kindOf(p) == "plan" {
				return fmt.Sprintf("note: it is called as files of the format %s are; if it is one: ralph graph --as %s %s\n", f.name, f.name, quotePath(file))
			}
		}
	}
	return ""
}

// drawsDirectory says how a directory is drawn, if it is one of a format.
func drawsDirectory(dir string) error {
	for i := range formats {
		f := &formats[i]
		if f.decode == nil || !slices.ContainsFunc(f.dirs, func(d string) bool { return filepath.Base(d) == filepath.Base(dir) }) {
			continue
		}
		return inputErrorf("%s is a directory. If it holds files of the format %s: ralph graph --as %s %s", dir, f.name, f.name, quotePath(dir))
	}
	return inputErrorf("%s is a directory, and one plan or epic.json is drawn%s", dir, whatIsIn(dir, "graph"))
}
