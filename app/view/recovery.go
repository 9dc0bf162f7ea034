package view

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/recovery"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Recovery prints what is done, what is open and why, and what to type.
func Recovery(r *recovery.Recovery, out io.Writer) error {
	var b strings.Builder
	paint := term.For(out)
	fmt.Fprintf(&b, "%s  %s\n", paint.Paint(term.Bold, reveal.Words(r.Epic.Epic.Title)), reveal.Words(string(r.Epic.Epic.ID)))
	wrote := "exists and is kept"
	if !r.There {
		wrote = "written"
	}
	fmt.Fprintf(&b, "%s %s", reveal.Words(filepath.ToSlash(r.File)), wrote)
	if r.Base.Commit != "" {
		fmt.Fprintf(&b, "; base %.12s; %s made", r.Base.Commit, text.Count(r.Refs, "ref"))
	}
	b.WriteString("\n\n")
	g := &Grid{Paint: paint}
	g.Row(term.Faint, "sprint", "status", "attempts", "commit", "title")
	for _, n := range r.Nodes {
		ink := ColourOf(executor.Pending)
		if n.Status == executor.Done.String() {
			ink = ColourOf(executor.Done)
		} else if n.Status == executor.Blocked.String() {
			ink = ColourOf(executor.Blocked)
		}
		tries := ""
		if n.Attempts > 0 {
			tries = fmt.Sprint(n.Attempts)
		}
		g.Row(ink, string(n.Key), n.Status, tries, fmt.Sprintf("%.12s", n.Commit), n.Title)
	}
	g.Write(&b)
	first := true
	for _, n := range r.Nodes {
		for _, why := range n.Notes {
			if first {
				b.WriteString("\nNot recovered, or changed:\n")
				first = false
			}
			fmt.Fprintf(&b, "  %s  %s\n", reveal.Words(string(n.Key)), reveal.Words(why))
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "%s %s\n", paint.Paint(term.Warn, "warning:"), reveal.Words(w))
	}
	if r.Known.Run == nil {
		b.WriteString("\nThe beads record no run: there was nothing to recover.\n")
	}
	if r.Known.Issue {
		b.WriteString(r.IssueGoesOn())
	} else {
		fmt.Fprintf(&b, "\nWhat apply would do now: ralph plan%s\nTo continue:             ralph apply%s\n", record.Applies(r.File), record.Applies(r.File))
	}
	return write(out, b.String())
}
