package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Dialects prints each dialect's reading of a plan.
func Dialects(w io.Writer, file string, plan *diag.File, t compiler.DialectTable) error {
	var b strings.Builder
	g := &Grid{Paint: term.For(w)}
	g.Row(term.Faint, "dialect", "items", "groups", "edges", "")
	for r := range lists.Refs(t.Readings) {
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
			notes = append(notes, fmt.Sprintf("refused: %s%s", RefusedAt(plan, r), More(r.Errors-1)))
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
		fmt.Fprintf(&b, "\nNone fits until this is fixed: line %d: %s\n", plan.Position(t.Hidden.Range.Start).Line, t.Hidden.Summary)
	}
	if t.Better != "" {
		fmt.Fprintf(&b, "\nTo choose %s: ralph init --plan %s\n", reveal.Words(t.Better), words.QuotePath(file))
	}
	if said := Fuller(plan, &t, t.Best); said != "" {
		fmt.Fprintf(&b, "\nT%s\n", reveal.Words(said[1:]))
	}
	if r := t.Placed(); r != nil && r.Refused != nil {
		fmt.Fprintf(&b, "\nIt is where %s keeps its plans. What is wrong in it: ralph validate --dialect %s %s\n", r.Tool.Title, words.QuoteArg(r.Dialect), words.QuotePath(file))
	}
	return write(w, b.String())
}

// Fitted names the dialect used for a plan that names none.
func Fitted(c *project.Compilation, t *compiler.DialectTable, r *compiler.Reading) string {
	file := c.Plans[0].File
	if r.Refused != nil {
		return fmt.Sprintf("note: read with the dialect %s: %s is where %s keeps its plans\n", r.Dialect, file, r.Tool.Title)
	}
	said := fmt.Sprintf("note: read with the dialect %s: %s, %s; ralph init --plan %s writes it into the plan\n",
		r.Dialect, text.Count(r.Items, "item"), text.Count(r.Edges, "edge"), words.QuotePath(file))
	return said + words.With("note: ", Fuller(t.Files[c.Input.Plans[0].Path], t, r.Dialect), "\n")
}

// Fuller names the dialect that finds more than the chosen one, and why it was not chosen:
// it is refused, or of no tool that keeps its plans here. "" if there is none.
func Fuller(plan *diag.File, t *compiler.DialectTable, taken string) string {
	r := t.Fuller(taken)
	if r == nil {
		return ""
	}
	if r.Refused == nil {
		return fmt.Sprintf("the dialect %s finds %s; %s is taken because %s keeps its plans here", r.Dialect, text.Count(r.Items, "item"), taken, t.Of(taken).Tool.Title)
	}
	return fmt.Sprintf("the dialect %s finds %s, and refuses the plan: %s", r.Dialect, text.Count(r.Items, "item"), RefusedAt(plan, r))
}

// RefusedAt is the first error, with its line if it is the plan's.
func RefusedAt(plan *diag.File, r *compiler.Reading) string {
	if r.Refused.Range.File == plan.Name && !r.Refused.Range.IsZero() {
		return fmt.Sprintf("line %d: %s", plan.Position(r.Refused.Range.Start).Line, r.Refused.Summary)
	}
	return r.Refused.Summary
}

// More says that there are n further ones.
func More(n int) string {
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

// DialectsJSON is the same for programs.
func DialectsJSON(file string, plan *diag.File, t compiler.DialectTable) dialectsOutput {
	out := dialectsOutput{Plan: file, Chosen: t.Chosen, Best: t.Best, Dialects: []dialectLine{}, Untried: append([]string{}, t.Untried...)}
	for r := range lists.Refs(t.Readings) {
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
