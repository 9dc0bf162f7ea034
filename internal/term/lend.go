package term

import (
	"io"
	"os"
	"time"

	xterm "golang.org/x/term"
)

// lastWords is how long the rest of a program's output may take to be shown.
const lastWords = 2 * time.Second

// Lend joins a person's terminal with the leading end of a program's, which it closes: what
// is typed goes there unread, Ctrl-C too, what the program writes comes from there, and the
// program's window is as large as the person's. It returns at once; back, called when the
// program has ended, waits for the rest of its output and puts the terminal back. The
// process should end then: the next key that is typed is lost.
func Lend(in, out, leader *os.File) (back func() error, err error) {
	was, err := xterm.MakeRaw(int(in.Fd()))
	if err != nil {
		_ = leader.Close()
		return nil, err
	}
	stop, ended := follow(out, leader), make(chan struct{})
	go func() { _, _ = io.Copy(struct{ io.Writer }{leader}, struct{ io.Reader }{in}) }() // until the program has gone
	go func() {
		defer close(ended)
		_, _ = io.Copy(struct{ io.Writer }{out}, struct{ io.Reader }{leader}) // the same
		stop()
		_ = leader.Close()
	}()
	return func() error {
		select {
		case <-ended:
		case <-time.After(lastWords):
		}
		return xterm.Restore(int(in.Fd()), was)
	}, nil
}
