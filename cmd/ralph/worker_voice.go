package main

import (
	"fmt"
	"io"
	"time"

	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// workerVoice prints a line for each thing that happens.
type workerVoice struct {
	out, err io.Writer
	paint    term.Style
}

func (v *workerVoice) linef(id, format string, args ...any) {
	at := v.paint.Paint(term.Faint, time.Now().Format(time.TimeOnly))
	if id != "" {
		id = v.paint.Paint(term.Bold, reveal.Words(id)) + "  "
	}
	_, _ = fmt.Fprintf(v.out, "%s  %s%s\n", at, id, reveal.Words(fmt.Sprintf(format, args...)))
}

func (v *workerVoice) failf(format string, args ...any) { sayf(v.err, "ralph: "+format+"\n", args...) }

// end says what became of everything, as exit code too.
func (w *issueWorker) end() error {
	counts := map[string]int{}
	for _, kind := range w.left {
		counts[kind]++
	}
	code := exitDone
	switch {
	case counts[issueBlocked] > 0 || w.failed >= mostFailed:
		code = exitNotDone
	case counts[issueWaiting] > 0:
		code = exitWaiting
	case w.drain > 0:
		code = exitInterrupted
	}
	text := ""
	for _, kind := range []string{issueClosed, issueBlocked, issueWaiting, issueOpen} {
		if n := counts[kind]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, kind)
		}
	}
	if text == "" {
		text = ", nothing was done"
	}
	w.say.linef("", "ended: %s", text[2:])
	if code != exitDone {
		return &exitError{code: code}
	}
	return nil
}
