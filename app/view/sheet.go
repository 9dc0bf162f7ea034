package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/internal/reveal"
)

// sheet gathers lines; all text in them is made harmless.
type sheet struct{ b strings.Builder }

func (w *sheet) line(format string, args ...any) {
	w.b.WriteString(reveal.Words(fmt.Sprintf(format, args...)) + "\n")
}

func (w *sheet) head(format string, args ...any) {
	w.b.WriteByte('\n')
	w.line(format, args...)
}

// field writes a name and a value; nothing for an empty value.
func (w *sheet) field(name, value string) {
	if value != "" {
		w.line("%-9s %s", name+":", strings.ReplaceAll(strings.TrimSpace(value), "\n", "\n            "))
	}
}

func (w *sheet) text(s string) { w.b.WriteString(reveal.Words(strings.TrimRight(s, "\n")) + "\n") }

// write writes a whole text.
func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}
