package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
)

// output is one output of a program. While the program says nothing it is a number
// among those that are waited for.
type output struct {
	l      *listener
	to     *sink
	stderr bool
	fd     int
	over   atomic.Bool   // nothing more is read
	wait   atomic.Uint64 // of forget
}

// open makes the pipe.
func (o *output) open() (*os.File, error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	o.fd = fds[0]
	w := os.NewFile(uintptr(fds[1]), "|1")
	if err := syscall.SetNonblock(o.fd, true); err != nil {
		return nil, errors.Join(err, w.Close(), syscall.Close(o.fd))
	}
	return w, nil
}

// listen waits until there is something to read.
func (o *output) listen() error {
	if err := whenReadable(o.fd, &o.wait, o.read); err != nil {
		o.end()
		return err
	}
	if o.over.Load() && forget(o.wait.Load()) {
		o.end()
	}
	return nil
}

// read takes what is there.
func (o *output) read() {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	for idle := 0; !o.over.Load(); {
		n, err := syscall.Read(o.fd, *b)
		switch {
		case n > 0:
			o.heard((*b)[:n])
			idle = 0
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN) && idle < 3: // a busy writer does so at once
			idle++
			runtime.Gosched()
		case errors.Is(err, syscall.EAGAIN):
			_ = o.listen() // an error ends it
			return
		default:
			o.end()
			return
		}
	}
	o.end()
}

// stop reads nothing more. Whoever is about to wait sees it, too.
func (o *output) stop() {
	o.over.Store(true)
	if forget(o.wait.Load()) {
		o.end()
	}
}

func (o *output) end() {
	_ = syscall.Close(o.fd) // it was only read
	o.l.wg.Done()
}
