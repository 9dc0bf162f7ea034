//go:build unix && !linux

package process

import (
	"os"
	"time"
)

// output is one output of a program.
type output struct {
	l      *listener
	to     *sink
	stderr bool
	r      *os.File
}

// open makes the pipe.
func (o *output) open() (w *os.File, err error) {
	o.r, w, err = os.Pipe()
	return w, err
}

// listen reads until the end.
func (o *output) listen() error {
	go func() {
		defer o.l.wg.Done()
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		for {
			n, err := o.r.Read(*b)
			if n > 0 {
				o.heard((*b)[:n])
			}
			if err != nil {
				_ = o.r.Close() // it was only read
				return
			}
		}
	}()
	return nil
}

// stop reads nothing more.
func (o *output) stop() { _ = o.r.SetReadDeadline(time.Now()) } // a pipe always can
