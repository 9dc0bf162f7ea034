package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

// changeJSON is `ralph show --diff --json`.
type changeJSON struct {
	Key      ir.Key                `json:"key"`
	ID       ir.NodeID             `json:"id"`
	Title    string                `json:"title"`
	Status   string                `json:"status"`
	Cause    string                `json:"cause,omitempty"`
	Step     string                `json:"step,omitempty"`
	Attempt  int                   `json:"attempt,omitempty"`
	From     executor.Tree         `json:"from"` // a commit or tree that is "" is not known
	To       executor.Tree         `json:"to"`   // both are "": there is nothing yet
	Approval *approvalJSON         `json:"approval,omitempty"`
	Files    []executor.FileChange `json:"files"`
	Gates    []gateJSON            `json:"gates"`
	Notes    []string              `json:"notes,omitempty"`
	Next     []nextStep            `json:"next,omitempty"`
}

// approvalJSON is what an approval would be bound to.
type approvalJSON struct {
	Gate      string   `json:"gate"`
	Digest    string   `json:"gate_digest"`
	Result    string   `json:"result"` // tree
	Base      string   `json:"base"`   // tree
	Approvers []string `json:"approvers,omitempty"`
}

// showDiff shows what a node came to, and how that was judged.
func (r *record) showDiff(ctx context.Context, v executor.NodeView, asJSON bool, out io.Writer) (err error) {
	change := r.run.Change(v.ID)
	hide, _ := redact.New(secretValues(r.epic, os.Environ()))
	said := changeJSON{
		Key: v.Key, ID: v.ID, Title: v.Title, Status: v.Status.String(), Cause: string(v.Cause),
		Step: change.Step, Attempt: change.Attempt, Files: []executor.FileChange{}, Gates: []gateJSON{},
		Next: slices.DeleteFunc(r.nextSteps(v), func(s nextStep) bool { return strings.Contains(s.Command, " --diff") }), // this is it
	}
	if b := change.Bound; b.Gate != "" {
		said.Approval = &approvalJSON{b.Gate, b.Digest, b.Result, b.Base, v.Approvers}
	}
	for _, a := range v.Attempts {
		if a.Step == change.Step && a.Number == change.Attempt {
			said.Gates = r.attemptJSON(v.ID, a).Gates
		}
	}
	if change.Person {
		if change.To, err = r.space.Work(ctx, v.ID); err != nil {
			return inputErrorf("%w", err)
		}
		said.Notes = append(said.Notes, "what is not committed in its worktree is not shown; ralph approve takes it, too")
	}
	said.From, said.To = change.From, change.To
	var c *workspace.Comparison
	if change.From.ID() != "" && change.To.ID() != "" {
		if c, err = r.space.Compare(ctx, change.From.ID(), change.To.ID()); err != nil {
			return inputErrorf("%w", err)
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		files, err := c.Files(ctx)
		if err != nil {
			return inputErrorf("%w", err)
		}
		for _, f := range files {
			f.Path, f.From = hide.String(f.Path), hide.String(f.From)
			said.Files = append(said.Files, f)
		}
	}
	if asJSON {
		return writeJSON(out, said)
	}
	paint := term.For(out)
	return paged(ctx, r.space, out, func(w io.Writer) error {
		if _, err := io.WriteString(w, said.head(v)); err != nil || c == nil {
			return err
		}
		return writeDiff(ctx, c, hide, paint, w, said.Next)
	})
}

// head is what stands above the diff.
func (c changeJSON) head(v executor.NodeView) string {
	w := &sheet{}
	w.line("%s  %s", c.Key, c.Title)
	w.field("status", asks(v))
	if c.Attempt > 0 {
		w.field("attempt", fmt.Sprintf("%s #%d", c.Step, c.Attempt))
	}
	w.field("from", treeWords(c.From))
	w.field("to", cmp.Or(treeWords(c.To), "nothing yet"))
	for _, g := range c.Gates {
		w.field("gate", fmt.Sprintf("%s: %s%s%s", g.Gate, g.Verdict, byWhom(g.By), gateNote(g)))
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
	w.field("files", fmt.Sprintf("%s, +%d −%d", count(len(c.Files), "file"), added, removed))
	for _, f := range c.Files {
		lines := fmt.Sprintf("+%d −%d", f.Added, f.Removed)
		if f.Added < 0 {
			lines = "binary"
		}
		name := f.Path
		if f.From != "" {
			name = f.From + " → " + f.Path
		}
		w.line("  %-10s %s%s", lines, strings.ReplaceAll(name, "\n", `\n`), map[string]string{"created": "  (new)", "deleted": "  (deleted)", "renamed": "  (renamed)"}[f.Type])
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

func gateNote(g gateJSON) string {
	if g.Verdict == string(executor.Pass) {
		return ""
	}
	return because(g.Message)
}

// writeDiff prints the diff without secrets and harmless, and then what to type.
func writeDiff(ctx context.Context, c *workspace.Comparison, hide *redact.Redactor, paint term.Style, w io.Writer, next []nextStep) error {
	print := &diffPrinter{w: w, paint: paint}
	filter := hide.Filter(print)
	if err := c.Diff(ctx, filter); err != nil {
		return inputErrorf("%w", err)
	}
	if err := errors.Join(filter.Close(), print.Close()); err != nil || len(next) == 0 {
		return err
	}
	var b strings.Builder
	b.WriteString("\nNext\n")
	writeSteps(&b, next)
	_, err := io.WriteString(w, b.String())
	return err
}

// diffPrinter prints a unified diff line by line: harmless, and painted.
type diffPrinter struct {
	w     io.Writer
	paint term.Style
	rest  []byte // the beginning of a line
	hunk  bool   // what begins with - or + is a line of a file
}

// mostLine is how much of a line without an end is held back.
const mostLine = 64 << 10

func (d *diffPrinter) Write(p []byte) (int, error) {
	d.rest = append(d.rest, p...)
	var b strings.Builder
	for {
		i := bytes.IndexByte(d.rest, '\n')
		if i < 0 {
			break
		}
		b.WriteString(d.line(string(d.rest[:i])) + "\n")
		d.rest = d.rest[i+1:]
	}
	if len(d.rest) > mostLine {
		b.WriteString(d.line(string(d.rest)))
		d.rest = nil
	}
	_, err := io.WriteString(d.w, b.String())
	return len(p), err
}

// Close prints the last line, if it has no end.
func (d *diffPrinter) Close() error {
	if len(d.rest) == 0 {
		return nil
	}
	_, err := io.WriteString(d.w, d.line(string(d.rest))+"\n")
	return err
}

func (d *diffPrinter) line(text string) string {
	text = term.Clean(text)
	switch {
	case strings.HasPrefix(text, "diff --git "):
		d.hunk = false
	case strings.HasPrefix(text, "@@ "):
		d.hunk = true
		if i := strings.Index(text[2:], "@@"); i >= 0 { // the text behind it is the file's
			return d.paint.Paint(term.Info, text[:i+4]) + text[i+4:]
		}
	case d.hunk && strings.HasPrefix(text, "+"):
		return d.paint.Paint(term.Good, text)
	case d.hunk && strings.HasPrefix(text, "-"):
		return d.paint.Paint(term.Gone, text)
	case d.hunk:
		return text
	}
	return d.paint.Paint(term.Bold, text)
}
