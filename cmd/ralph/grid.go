package main

import (
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// grid writes rows in columns. Text from plans is made harmless; the first cell
// carries the row's colour.
type grid struct {
	paint term.Style
	rows  [][]string
	inks  []term.Colour
}

func (g *grid) row(ink term.Colour, cells ...string) {
	for i, c := range cells {
		cells[i] = columns.Truncate(strings.ReplaceAll(reveal.Words(c), "\n", " "), 100)
	}
	g.rows = append(g.rows, cells)
	g.inks = append(g.inks, ink)
}

// write leaves out columns that hold nothing below the heading.
func (g *grid) write(w io.Writer) {
	if len(g.rows) == 0 {
		return
	}
	wide := make([]int, len(g.rows[0]))
	used := make([]bool, len(wide))
	for r, row := range g.rows {
		for i, c := range row {
			wide[i] = max(wide[i], min(columns.Of(c), 40))
			used[i] = used[i] || r > 0 && c != ""
		}
	}
	last := 0
	for i := range used {
		if used[i] {
			last = i
		}
	}
	var b strings.Builder
	for r, row := range g.rows {
		for i, c := range row {
			if !used[i] {
				continue
			}
			cell := c
			if i < last {
				cell = padTo(columns.Truncate(c, wide[i]), wide[i])
			}
			if r == 0 || i < 2 {
				cell = g.paint.Paint(g.inks[r], cell)
			}
			b.WriteString(cell)
			if i < last {
				b.WriteString("  ")
			}
		}
		line := strings.TrimRight(b.String(), " ")
		b.Reset()
		_, _ = io.WriteString(w, line+"\n") // w is a buffer
	}
}
