package sandbox

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// relay carries connections that are accepted inside to an address outside.
type relay struct {
	l      net.Listener
	to     string
	places chan struct{} // one for each connection
	wg     sync.WaitGroup

	mu    sync.Mutex // guards the rest
	ended bool
	conns map[net.Conn]bool
}

const (
	dialTime   = 5 * time.Second       // for an address outside to accept
	shortTime  = 50 * time.Millisecond // until it is tried again, where descriptors are short
	maxRelayed = 256                   // connections at once; more have to wait
)

func newRelay(l net.Listener, to string) *relay {
	r := &relay{l: l, to: to, places: make(chan struct{}, maxRelayed), conns: map[net.Conn]bool{}}
	r.wg.Go(r.accept)
	return r
}

// accept carries connections until the listener is closed. Each takes descriptors of ralph's,
// which all sandboxes share.
func (r *relay) accept() {
	for {
		r.places <- struct{}{} // close frees them all
		c, err := r.l.Accept()
		switch {
		case err == nil:
			r.wg.Go(func() { r.carry(c); <-r.places })
			continue
		case errors.Is(err, net.ErrClosed):
			return
		}
		<-r.places
		time.Sleep(shortTime)
	}
}

// carry joins a connection with one to the address outside, until both are done.
func (r *relay) carry(in net.Conn) {
	out, err := net.DialTimeout("tcp", r.to, dialTime)
	if err != nil {
		_ = in.Close()
		return
	}
	if !r.keep(in, out) {
		return
	}
	defer r.drop(in, out)
	var both sync.WaitGroup
	both.Go(func() { pour(out, in) })
	both.Go(func() { pour(in, out) })
	both.Wait()
}

// pour copies one direction and ends it; the other may go on.
func pour(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite() // the other side may be gone
		return
	}
	_, _ = to.Close(), from.Close()
}

// keep notes connections to be cut at the end; false: it is the end.
func (r *relay) keep(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		if r.ended {
			_ = c.Close()
		} else {
			r.conns[c] = true
		}
	}
	return !r.ended
}

func (r *relay) drop(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.conns, c)
		_ = c.Close()
	}
}

// close cuts everything, and returns when nothing runs any more.
func (r *relay) close() {
	_ = r.l.Close()
	r.mu.Lock()
	r.ended = true
	for c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}
