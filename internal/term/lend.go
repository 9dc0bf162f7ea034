package term

import (
	"io"
	"os"
	"time"

	xterm "golang.org/x/term"
)

// Seat is a person's terminal that a program's terminal is joined with.
type Seat struct {
	in, out *os.File
	was     *xterm.State
	stop    func()        // no longer follows the size of the window
	ended   chan struct{} // closed when the program's output has ended
}

// Sit takes a person's terminal: what is typed is no longer echoed nor read by lines, and
// Ctrl-C interrupts nothing. Leave gives it back.
func Sit(in, out *os.File) (*Seat, error) {
	was, err := xterm.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	return &Seat{in: in, out: out, was: was, stop: func() {}}, nil
}

// Size is that of the window, in characters; 0, 0 if it is unknown.
func (s *Seat) Size() (columns, rows uint16) {
	c, r, err := xterm.GetSize(int(s.out.Fd()))
	if err != nil {
		return 0, 0
	}
	return uint16(c), uint16(r)
}

// Join joins it with the leading end of a program's terminal, which is closed in the end:
// what is typed goes there, what the program writes comes from there, and the program's
// window is as large as the person's. It returns at once. What is typed later is read even
// when the program has ended, until the next key: the process should end, too.
func (s *Seat) Join(leader *os.File) {
	s.ended = make(chan struct{})
	s.stop = s.follow(leader)
	go func() { _, _ = io.Copy(struct{ io.Writer }{leader}, struct{ io.Reader }{s.in}) }() // until the program has gone
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(struct{ io.Writer }{s.out}, struct{ io.Reader }{leader}) // the same
		s.stop()
		_ = leader.Close()
	}()
}

// lastWords is how long the rest of a program's output may take to be shown.
const lastWords = 2 * time.Second

// Leave waits for the rest of the program's output, which has ended, and puts the terminal
// back as it was.
func (s *Seat) Leave() error {
	if s.ended != nil {
		select {
		case <-s.ended:
		case <-time.After(lastWords):
		}
	}
	return xterm.Restore(int(s.in.Fd()), s.was)
}
