//go:build unix

package process

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// listener reads the outputs of a program.
type listener struct {
	tap     func(stderr bool, b []byte)
	begun   time.Time
	last    atomic.Int64 // when something was written last, in nanoseconds from begun
	outputs []*output
	wg      sync.WaitGroup // outputs that have not ended
}

// buffers are for programs that have something to say, while they do.
var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// open returns the end of a pipe that the program writes to.
func (l *listener) open(to *sink, stderr bool) (*os.File, error) {
	o := &output{l: l, to: to, stderr: stderr}
	w, err := o.open()
	if err != nil {
		return nil, err
	}
	l.outputs = append(l.outputs, o)
	l.wg.Add(1)
	if err := o.listen(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// heard takes what the program wrote.
func (o *output) heard(b []byte) {
	o.l.last.Store(int64(time.Since(o.l.begun)))
	_, _ = o.to.Write(b) // Close tells
	if o.l.tap != nil {
		o.l.tap(o.stderr, b)
	}
}

// drain waits for the end of all outputs, at most so long.
func (l *listener) drain(limit time.Duration) {
	ended := make(chan struct{})
	go func() { l.wg.Wait(); close(ended) }()
	within(ended, limit)
}

// within waits for a channel, at most so long, and reports whether something came.
func within[T any](c <-chan T, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// close waits for the end of all outputs, at most so long: an unknown process may hold
// a pipe open.
func (l *listener) close(limit time.Duration) {
	if limit > 0 {
		l.drain(limit)
	}
	for _, o := range l.outputs {
		o.stop()
	}
	l.wg.Wait()
}
