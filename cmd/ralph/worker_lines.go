package main

import (
	"fmt"
	"io"
	"time"

	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// workerLines prints a line for each thing that a worker does.
type workerLines struct {
	out, err io.Writer
	paint    term.Style
}

func (w *workerLines) line(id, text string) {
	at := w.paint.Paint(term.Faint, time.Now().Format(time.TimeOnly))
	if id != "" {
		id = w.paint.Paint(term.Bold, reveal.Words(id)) + "  "
	}
	_, _ = fmt.Fprintf(w.out, "%s  %s%s\n", at, id, reveal.Words(text))
}

func (w *workerLines) fail(text string) { sayf(w.err, "ralph: %s\n", text) }
