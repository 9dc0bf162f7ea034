package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
)

// dialectsOf compiles a plan with each dialect. Before an error of the policy, which
// decides what dialects there are, it is printed.
func dialectsOf(a *project.Args, cmd *cobra.Command, file string) (table compiler.DialectTable, plan *diag.File, err error) {
	opts, err := a.Options()
	if err != nil {
		return table, nil, err
	}
	if project.KindOf(file) != "plan" {
		return table, nil, exit.Inputf("%s is no plan (*.md): only plans are written in dialects", file)
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
	view := view.Diagnostics{Format: a.Format, Sources: project.Sources{Files: table.Files, Root: c.Project.Dir}}
	if table.Diags.HasErrors() {
		if err := view.Print(cmd.OutOrStdout(), cmd.ErrOrStderr(), table.Diags); err != nil {
			return table, nil, err
		}
		return table, nil, &exit.Error{Code: exit.Input}
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
		err = view.WriteJSON(cmd.OutOrStdout(), dialectsJSON(file, plan, table))
	} else {
		err = printDialects(cmd.OutOrStdout(), file, plan, table)
	}
	if err == nil && table.Best == "" {
		err = &exit.Error{Code: exit.Input}
	}
	return err
}

func printDialects(w io.Writer, file string, plan *diag.File, t compiler.DialectTable) error {
	var b strings.Builder
	g := &view.Grid{Paint: term.For(w)}
	g.Row(term.Faint, "dialect", "items", "groups", "edges", "")
	for i := range t.Readings {
		r := &t.Readings[i]
		var notes []string
		if r.Dialect == t.Best {
			notes = append(notes, "fits best")
		}
		if r.Dialect == t.Chosen {
			notes = append(notes, "the plan's own")
		}
		if r.Tool != nil {
			notes = append(notes, "the dialect of "+r.Tool.Title)
		}
		ink := term.Info
		switch {
		case r.Refused != nil:
			ink = term.Bad
			notes = append(notes, fmt.Sprintf("refused: %s%s", refusedAt(plan, r), more(r.Errors-1)))
		case r.Items == 0:
			ink = term.Faint
		case r.Dialect == t.Best:
			ink = term.Good
		}
		if r.Items == 0 {
			g.Row(ink, r.Dialect, "none", "", "", strings.Join(notes, "; "))
			continue
		}
		g.Row(ink, r.Dialect, fmt.Sprint(r.Items), fmt.Sprint(r.Groups), fmt.Sprint(r.Edges), strings.Join(notes, "; "))
	}
	g.Write(&b)
	for _, name := range t.Untried {
		fmt.Fprintf(&b, "%s was not tried: the plan is too large for so many dialects\n", reveal.Words(name))
	}
	if t.Hidden != nil {
		fmt.Fprintf(&b, "\nNone fits before this is mended: line %d: %s\n", plan.Position(t.Hidden.Range.Start).Line, t.Hidden.Summary)
	}
	if t.Better != "" {
		fmt.Fprintf(&b, "\nTo choose %s: ralph init --plan %s\n", reveal.Words(t.Better), words.QuotePath(file))
	}
	if said := fuller(plan, &t, t.Best); said != "" {
		fmt.Fprintf(&b, "\nT%s\n", reveal.Words(said[1:]))
	}
	if r := t.Placed(); r != nil && r.Refused != nil {
		fmt.Fprintf(&b, "\nIt lies where %s keeps its plans. What is wrong in it: ralph validate --dialect %s %s\n", r.Tool.Title, words.QuoteArg(r.Dialect), words.QuotePath(file))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fuller names the dialect that finds more than the one that is taken, and why it is
// not: it is refused, or of no tool that keeps its plans here. "" if there is none.
func fuller(plan *diag.File, t *compiler.DialectTable, taken string) string {
	r := t.Fuller(taken)
	if r == nil {
		return ""
	}
	if r.Refused == nil {
		return fmt.Sprintf("the dialect %s finds %s; %s is taken because %s keeps its plans here", r.Dialect, text.Count(r.Items, "item"), taken, t.Of(taken).Tool.Title)
	}
	return fmt.Sprintf("the dialect %s finds %s, and refuses the plan: %s", r.Dialect, text.Count(r.Items, "item"), refusedAt(plan, r))
}

// refusedAt is the first error, with its line if it is the plan's.
func refusedAt(plan *diag.File, r *compiler.Reading) string {
	if r.Refused.Range.File == plan.Name && !r.Refused.Range.IsZero() {
		return fmt.Sprintf("line %d: %s", plan.Position(r.Refused.Range.Start).Line, r.Refused.Summary)
	}
	return r.Refused.Summary
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}

type dialectsOutput struct {
	Plan     string        `json:"plan"`
	Chosen   string        `json:"chosen"`
	Best     string        `json:"best"` // "" if none compiles
	Dialects []dialectLine `json:"dialects"`
	Untried  []string      `json:"untried"`
}

type dialectLine struct {
	Dialect string          `json:"dialect"`
	Items   int             `json:"items"`
	Groups  int             `json:"groups"`
	Edges   int             `json:"edges"`
	Errors  int             `json:"errors"`
	Refused *dialectRefusal `json:"refused"` // null if it has none
}

type dialectRefusal struct {
	Code    string `json:"code"`
	Line    int    `json:"line"` // 0: not in the plan
	Message string `json:"message"`
}

func dialectsJSON(file string, plan *diag.File, t compiler.DialectTable) dialectsOutput {
	out := dialectsOutput{Plan: file, Chosen: t.Chosen, Best: t.Best, Dialects: []dialectLine{}, Untried: append([]string{}, t.Untried...)}
	for i := range t.Readings {
		r := &t.Readings[i]
		line := dialectLine{Dialect: r.Dialect, Items: r.Items, Groups: r.Groups, Edges: r.Edges, Errors: r.Errors}
		if d := r.Refused; d != nil {
			line.Refused = &dialectRefusal{Code: string(d.Code), Message: d.Summary}
			if d.Range.File == plan.Name && !d.Range.IsZero() {
				line.Refused.Line = plan.Position(d.Range.Start).Line
			}
		}
		out.Dialects = append(out.Dialects, line)
	}
	return out
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
		return exit.Inputf("%s lies where %s keeps its plans, and the dialect %s refuses it; nothing was written. %s%s\n  All that is wrong: ralph validate --dialect %s %s",
			file, r.Tool.Title, r.Dialect, refusedAt(plan, r), more(r.Errors-1), words.QuoteArg(r.Dialect), words.QuotePath(file))
	case table.Nearest != "":
		return exit.Inputf("no dialect compiles %s; nothing was written. The nearest is %s, refused: %s\n  All of them: ralph validate --dialects %s",
			file, table.Nearest, refusedAt(plan, table.Of(table.Nearest)), words.QuotePath(file))
	default:
		return exit.Inputf("no dialect finds an item in %s; nothing was written", file)
	}
	changed, ok := compiler.SetDialect(plan, table.Better)
	if !ok {
		return exit.Inputf("the front matter of %s takes no further line as it is; nothing was written. Write into it: dialect: %s", file, table.Better)
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
	if said := fuller(plan, &table, table.Better); said != "" {
		view.Sayf(cmd.OutOrStdout(), "note: %s\n", said)
	}
	return nil
}
