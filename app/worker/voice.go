package worker

import (
	"fmt"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
)

// Listener receives a worker's messages.
type Listener interface {
	Line(id, text string) // about an issue, or about all if id is ""
	Fail(text string)     // that a person has to know
}

// Voice reports to a listener.
type Voice struct{ Listener }

func (v Voice) linef(id, format string, args ...any) { v.Line(id, fmt.Sprintf(format, args...)) }

func (v Voice) failf(format string, args ...any) { v.Fail(fmt.Sprintf(format, args...)) }

// end says what became of everything, as exit code too.
func (w *Worker) end() error {
	counts := map[string]int{}
	for _, kind := range w.Left {
		counts[kind]++
	}
	code := exit.Done
	switch {
	case counts[record.IssueBlocked] > 0 || w.failed >= mostFailed:
		code = exit.NotDone
	case counts[record.IssueWaiting] > 0:
		code = exit.Waiting
	case w.drain > 0:
		code = exit.Interrupted
	}
	text := ""
	for _, kind := range []string{record.IssueClosed, record.IssueBlocked, record.IssueWaiting, record.IssueOpen} {
		if n := counts[kind]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, kind)
		}
	}
	if text == "" {
		text = ", nothing was done"
	}
	w.Say.linef("", "ended: %s", text[2:])
	if code != exit.Done {
		return &exit.Error{Code: code}
	}
	return nil
}
