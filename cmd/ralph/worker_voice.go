package main

import "fmt"

// listener is told what a worker does.
type listener interface {
	line(id, text string) // about an issue, or about all if id is ""
	fail(text string)     // of which somebody has to know
}

// voice tells a listener.
type voice struct{ listener }

func (v voice) linef(id, format string, args ...any) { v.line(id, fmt.Sprintf(format, args...)) }

func (v voice) failf(format string, args ...any) { v.fail(fmt.Sprintf(format, args...)) }

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
