package egress

import (
	"io"
	"net"
	"sync"
)

// listener hands out as many connections as the proxy has places for.
type listener struct {
	net.Listener
	p *Proxy
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.p.places <- struct{}{}:
	case <-l.p.life.Done():
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.p.places
		return nil, err
	}
	in := &inConn{Conn: conn, p: l.p}
	if !l.p.keep(in) {
		_ = in.Close()
		return nil, net.ErrClosed
	}
	return in, nil
}

// inConn is a connection from inside, which has a place.
type inConn struct {
	net.Conn
	p    *Proxy
	once sync.Once
}

// CloseWrite ends what is sent; more may come.
func (c *inConn) CloseWrite() error { return closeWrite(c.Conn) }

func (c *inConn) Close() error {
	c.once.Do(func() {
		c.p.drop(c)
		<-c.p.places
	})
	return c.Conn.Close()
}

// closeWrite ends what is sent on a connection: all of it, if half of it cannot be.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// one is a listener with one connection, and that connection: Accept fails when it is closed.
type one struct {
	net.Conn
	from io.Reader // what is read of it
	once sync.Once
	gone chan struct{}
	took bool
}

func (o *one) Accept() (net.Conn, error) {
	if !o.took {
		o.took = true
		return o, nil
	}
	<-o.gone
	return nil, net.ErrClosed
}

func (o *one) Read(b []byte) (int, error) { return o.from.Read(b) }

// CloseWrite ends what is sent; more may come.
func (o *one) CloseWrite() error { return closeWrite(o.Conn) }

func (o *one) Addr() net.Addr { return o.LocalAddr() }

func (o *one) Close() error {
	o.once.Do(func() { close(o.gone) })
	return o.Conn.Close()
}
