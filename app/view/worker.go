package view

import (
	"fmt"
	"io"
	"time"

	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// WorkerLines prints a line for each action of a worker.
type WorkerLines struct {
	Out, Err io.Writer
	Paint    term.Style
}

func (w *WorkerLines) Line(id, text string) {
	at := w.Paint.Paint(term.Faint, time.Now().Format(time.TimeOnly))
	if id != "" {
		id = w.Paint.Paint(term.Bold, reveal.Words(id)) + "  "
	}
	_, _ = fmt.Fprintf(w.Out, "%s  %s%s\n", at, id, reveal.Words(text))
}

func (w *WorkerLines) Fail(text string) { Sayf(w.Err, "ralph: %s\n", text) }
