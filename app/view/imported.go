package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/policies"
)

// Imported prints what changes in a policy, like a diff, and files that are new.
func Imported(out io.Writer, done []policies.Imported, files []string, check bool) {
	paint := term.For(out)
	same, added, set := 0, 0, 0
	for _, f := range files {
		fmt.Fprintln(out, paint.Paint(term.Good, "+")+" "+f)
	}
	for _, d := range done {
		head := ""
		switch {
		case d.New:
			added++
			head = paint.Paint(term.Good, "+") + " agent " + reveal.Words(d.Agent)
		case len(d.Lines) > 0:
			set++
			head = paint.Paint(term.Warn, "~") + " agent " + reveal.Words(d.Agent)
		case d.Left != "":
			head = "  agent " + reveal.Words(d.Agent)
		default:
			same++
			continue
		}
		if d.File != "" {
			head += "  " + paint.Paint(term.Faint, reveal.Words(d.File))
		}
		fmt.Fprintln(out, head)
		for _, l := range d.Lines {
			colour := term.Good
			if strings.HasPrefix(l, "-") {
				colour = term.Bad
			}
			fmt.Fprintf(out, "    %s\n", paint.Paint(colour, reveal.Words(l)))
		}
		if d.Left != "" {
			fmt.Fprintf(out, "    left: %s\n", reveal.Words(d.Left))
		}
	}
	verb := "agents found: "
	if check {
		verb = "agents found, nothing written: "
	}
	fmt.Fprintf(out, "%d %s%d new, %d changed, %d as they were\n", len(done), verb, added, set, same)
}
