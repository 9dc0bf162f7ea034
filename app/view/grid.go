package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// Grid writes rows in columns. Control characters in texts are escaped; the first cell has
// the row's colour.
type Grid struct {
	Paint term.Style
	rows  [][]string
	inks  []term.Colour
}

// Row adds a row; ink is the colour of its first cell. It changes cells in place: invisible
// characters are escaped, line feeds become spaces, and cells are cut to 100 columns.
func (g *Grid) Row(ink term.Colour, cells ...string) {
	for i, c := range cells {
		cells[i] = columns.Truncate(strings.ReplaceAll(reveal.Words(c), "\n", " "), 100)
	}
	g.rows = append(g.rows, cells)
	g.inks = append(g.inks, ink)
}

// Write prints the rows, without columns that are empty below the heading.
func (g *Grid) Write(w io.Writer) {
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
				cell = words.PadTo(columns.Truncate(c, wide[i]), wide[i])
			}
			if r == 0 || i < 2 {
				cell = g.Paint.Paint(g.inks[r], cell)
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

// preflightLine is what an event of a preflight says to people while it is at work.
func (v *Run) preflightLine(body executor.Body) string {
	say := func(colour term.Colour, mark, text string) string {
		return executor.Preflight + "  " + v.paint.Paint(colour, mark) + " " + reveal.Words(text)
	}
	switch b := body.(type) {
	case executor.PreflightStarted:
		return say(term.Plain, "·", words.Trying(b))
	case executor.BaselineJudged:
		text := words.Base(b, words.LogOf(v.State, b.Log))
		switch {
		case b.Verdict == executor.Pass:
			return say(term.Good, "✓", text)
		case !b.Red():
			return say(term.Warn, "!", text)
		}
		if who := v.run.Bases().LetRed(b); who != "" {
			text += "; approved by " + who
		}
		return say(term.Bad, "✗", text+"\n"+strings.Repeat(" ", len(executor.Preflight)+4)+words.MendBase(v.Applies))
	case executor.PreflightEnded:
		if b.Detail != "" {
			return say(term.Warn, "!", "not all gates were tried on the base: "+words.First(b.Detail))
		}
	}
	return ""
}

// WriteIndented is WriteSteps, indented by six more columns.
func WriteIndented(w io.Writer, steps []record.NextStep) {
	var b strings.Builder
	WriteSteps(&b, steps)
	for line := range strings.Lines(b.String()) {
		fmt.Fprintf(w, "      %s", line)
	}
}

// ColourOf is the colour of a node status; term.Plain for all others.
func ColourOf(s executor.NodeStatus) term.Colour {
	switch s {
	case executor.Done, executor.Skipped:
		return term.Good
	case executor.Blocked, executor.Cancelled:
		return term.Bad
	case executor.Waiting:
		return term.Warn
	case executor.Running:
		return term.Info
	}
	return term.Plain
}

// WriteSteps writes one line per step: the command, and what it does in a column of its
// own. Commands wider than 60 columns do not widen the column.
func WriteSteps(w io.Writer, steps []record.NextStep) {
	wide := 0
	for _, s := range steps {
		if n := columns.Of(s.Command); n <= 60 {
			wide = max(wide, n)
		}
	}
	for _, s := range steps {
		fmt.Fprintf(w, "  %s%s   %s\n", reveal.Words(s.Command), strings.Repeat(" ", max(wide-columns.Of(s.Command), 0)), reveal.Words(s.What))
	}
}
