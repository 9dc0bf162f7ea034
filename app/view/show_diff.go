package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
)

// ChangeHead is the heading above the diff.
func ChangeHead(c record.ChangeJSON, v machine.NodeView) string {
	w := &sheet{}
	w.line("%s  %s", c.Key, c.Title)
	w.field("status", words.Asks(v))
	if c.Attempt > 0 {
		w.field("attempt", fmt.Sprintf("%s #%d", c.Step, c.Attempt))
	}
	w.field("from", treeWords(c.From))
	w.field("to", cmp.Or(treeWords(c.To), "nothing yet"))
	for _, g := range c.Gates {
		w.field("gate", fmt.Sprintf("%s: %s%s%s%s", g.Gate, g.Verdict, testsNote(g), words.With(" by ", g.By, ""), gateNote(g)))
	}
	for _, n := range c.Notes {
		w.field("note", n)
	}
	if treeWords(c.To) == "" {
		return w.b.String()
	}
	added, removed := 0, 0
	for _, f := range c.Files {
		added, removed = added+max(f.Added, 0), removed+max(f.Removed, 0)
	}
	w.field("files", fmt.Sprintf("%s, +%d −%d", text.Count(len(c.Files), "file"), added, removed))
	for _, f := range c.Files {
		lines := fmt.Sprintf("+%d −%d", f.Added, f.Removed)
		if f.Added < 0 {
			lines = "binary"
		}
		name := f.Path
		if f.From != "" {
			name = f.From + " → " + f.Path
		}
		name, _ = reveal.Text(strings.ReplaceAll(name, "\n", `\n`))
		w.line("  %-10s %s%s", lines, name, map[string]string{"created": "  (new)", "deleted": "  (deleted)", "renamed": "  (renamed)"}[f.Type])
	}
	return w.b.String() + "\n"
}

// treeWords names a commit and its files.
func treeWords(t executor.Tree) string {
	switch {
	case t == (executor.Tree{}):
		return ""
	case t.Commit == "":
		return "tree " + t.Tree
	case t.Tree == "":
		return t.Commit
	}
	return fmt.Sprintf("%s  (tree %.12s)", t.Commit, t.Tree)
}

func gateNote(g record.GateJSON) string {
	switch {
	case g.Doubt != "":
		return "\n! " + g.Doubt
	case g.Verdict == string(executor.Pass):
		return ""
	}
	return words.Because(g.Message)
}

// testsNote counts the tests of a gate, "" if it counted none.
func testsNote(g record.GateJSON) string {
	if g.Counts == nil {
		return ""
	}
	return fmt.Sprintf(" [tests:%d/%d/%d]", g.Counts.Passed, g.Counts.Failed, g.Counts.Skipped)
}

// Diff prints the diff without secrets and harmless, and then what to type.
func Diff(ctx context.Context, c *workspace.Comparison, hide *redact.Redactor, paint term.Style, w io.Writer, next []record.NextStep) error {
	print := &diffPrinter{w: w, paint: paint}
	lines := &reveal.Lines{Each: print.line}
	filter := hide.Filter(lines)
	if err := c.Diff(ctx, filter); err != nil {
		return err
	}
	if err := errors.Join(filter.Close(), lines.Close()); err != nil {
		return err
	}
	var b strings.Builder
	if len(print.notes) > 0 {
		b.WriteString(paint.Paint(term.Warn, "\nCharacters that do not show, or change how others do, are written as \\u202e or \\x1b in:\n"))
		for _, n := range print.notes {
			b.WriteString("  " + n + "\n")
		}
	}
	if len(next) > 0 {
		b.WriteString("\nNext\n")
		WriteSteps(&b, next)
	}
	return write(w, b.String())
}

// diffPrinter prints a unified diff line by line: harmless, and painted.
type diffPrinter struct {
	w     io.Writer
	paint term.Style
	hunk  bool        // what begins with - or + is a line of a file
	mid   bool        // in a line
	last  term.Colour // of that
	name  string      // of the file
	notes []string    // names of files in which something does not show
}

func (d *diffPrinter) line(text string, hidden int, goesOn bool) error {
	if strings.HasPrefix(text, "diff --git ") && !d.mid {
		d.name = strings.TrimPrefix(text, "diff --git ")
	}
	if hidden > 0 && (len(d.notes) == 0 || d.notes[len(d.notes)-1] != d.name) {
		d.notes = append(d.notes, d.name)
	}
	text = d.painted(text)
	if d.mid = goesOn; !goesOn {
		text += "\n"
	}
	return write(d.w, text)
}

// painted is a line in its colour; one that goes on keeps it.
func (d *diffPrinter) painted(text string) string {
	switch {
	case d.mid:
	case strings.HasPrefix(text, "diff --git "):
		d.hunk, d.last = false, term.Bold
	case strings.HasPrefix(text, "@@ "):
		d.hunk, d.last = true, term.Plain
		if i := strings.Index(text[2:], "@@"); i >= 0 { // the text behind it is the file's
			return d.paint.Paint(term.Info, text[:i+4]) + text[i+4:]
		}
	case d.hunk && strings.HasPrefix(text, "+"):
		d.last = term.Good
	case d.hunk && strings.HasPrefix(text, "-"):
		d.last = term.Gone
	case d.hunk && strings.HasPrefix(text, `\`):
		d.last = term.Warn
	case d.hunk:
		d.last = term.Plain
	default:
		d.last = term.Bold
	}
	return d.paint.Paint(d.last, text)
}
