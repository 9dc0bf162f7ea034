// Package term is what ralph knows about terminals: colour, width, and text
// from strangers made harmless. It is the only user of the colour library.
// app calls it.
package term

import (
	"io"
	"os"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
)

// Style colours text, or does not.
type Style struct{ on bool }

// For returns the style that fits w: colour only on a terminal, never with
// NO_COLOR set or TERM=dumb.
func For(w io.Writer) Style {
	return Style{on: IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Colour is the role that text plays on a screen.
type Colour uint8

// Roles.
const (
	Plain Colour = iota
	Bold
	Bad   // errors
	Warn  // warnings
	Good  // what passed, what was added
	Gone  // what was taken out
	Info  // notes, line numbers
	Faint // hints, what may be passed over
)

var attributes = [...][]color.Attribute{
	Plain: nil,
	Bold:  {color.Bold},
	Bad:   {color.FgRed, color.Bold},
	Warn:  {color.FgYellow, color.Bold},
	Good:  {color.FgGreen},
	Gone:  {color.FgRed},
	Info:  {color.FgCyan},
	Faint: {color.Faint},
}

// Paint returns text in the colour of its role.
func (s Style) Paint(c Colour, text string) string {
	if !s.on || c == Plain || text == "" {
		return text
	}
	p := color.New(attributes[c]...)
	p.EnableColor()
	return p.Sprint(text)
}
