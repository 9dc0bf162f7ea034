package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

// Why prints the reasons of a node's values; whole says that long values are not cut.
func Why(c *project.Compilation, w io.Writer, n *ir.Node, reasons []compiler.Reason, whole bool) error {
	style := term.For(w)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", style.Paint(term.Bold, string(n.Key)), reveal.Words(n.Title))
	list := make(diag.List, len(reasons))
	width := 0
	for i, x := range reasons {
		list[i].Range = x.Range
		width = max(width, columns.Of(x.Field))
	}
	shown, files := c.Sources.FromHere(list)
	for i, x := range reasons {
		value := cmp.Or(reveal.Words(strings.ReplaceAll(x.Value, "\n", " ")), "–")
		if !whole {
			value = columns.Truncate(value, 90)
		}
		fmt.Fprintf(&b, "  %s%s  %s\n", style.Paint(term.Info, reveal.Words(x.Field)), strings.Repeat(" ", width-columns.Of(x.Field)), value)
		where := x.Origin
		if p := shown[i].Range; !p.IsZero() {
			if f := files[p.File]; f != nil {
				where += "  " + p.File + ":" + f.Position(p.Start).String()
			}
		}
		fmt.Fprintf(&b, "  %s  %s\n", strings.Repeat(" ", width), style.Paint(term.Faint, reveal.Words(where)))
	}
	return write(w, b.String())
}
