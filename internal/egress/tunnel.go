package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	helloTime = 20 * time.Second // for the first message of TLS to come
	maxHello  = 64 << 10         // its bytes, and those of the records around it
	handshake = 22               // the first byte of TLS
)

// tunnel answers CONNECT to a host whose name was judged.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request, t target) {
	if !p.begin() {
		return
	}
	defer p.wg.Done()
	var out net.Conn
	var from io.Reader
	if plain := t.port == 80 && !t.named; !plain {
		var err error
		if out, from, err = p.open(r, t); err != nil {
			p.fail(w, err)
			return
		}
		defer out.Close()
	}
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client is gone
	}
	defer in.Close()
	_ = in.SetDeadline(time.Time{}) // the server's
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	if out == nil {
		p.requests(in, buffered.Reader, t)
		return
	}
	var back sync.WaitGroup
	defer back.Wait()
	back.Go(func() { pour(in, from, out) })
	hello, err := firstBytes(in, buffered.Reader, t)
	if no, ok := errors.AsType[*Refusal](err); ok {
		p.tell(no)
		_, _ = in.Write([]byte{21, 3, 3, 0, 2, 2, 112}) // an alert of TLS: unrecognized name
	}
	if err != nil {
		_, _ = in.Close(), out.Close()
		return
	}
	pour(out, io.MultiReader(bytes.NewReader(hello), buffered.Reader), in)
}

// open connects to a host, and says from where to read what it sends.
func (p *Proxy) open(r *http.Request, t target) (net.Conn, io.Reader, error) {
	proxy, err := p.upstream("https", t.String())
	if err != nil {
		return nil, nil, err
	}
	if proxy != nil {
		return p.through(r.Context(), proxy, t)
	}
	conn, err := p.dial(r.Context(), t)
	return conn, conn, err
}

// firstBytes reads what a client sends first, as far as it has to be looked at. TLS has
// to name the host; what is not TLS passes on ports that were named, other than 443.
func firstBytes(in net.Conn, from *bufio.Reader, t target) ([]byte, error) {
	strict := t.port == 443
	if strict {
		_ = in.SetReadDeadline(time.Now().Add(helloTime))
	}
	first, err := from.Peek(1)
	switch {
	case errors.Is(err, io.EOF) && !strict:
		return nil, nil // it only listens
	case err != nil:
		return nil, err
	case first[0] != handshake && strict:
		return nil, &Refusal{Host: t.String(), Why: "what was sent is not TLS"}
	case first[0] != handshake:
		return nil, nil
	}
	_ = in.SetReadDeadline(time.Now().Add(helloTime))
	hello, name, err := readHello(from)
	_ = in.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		return nil, &Refusal{Host: t.String(), Why: "its TLS cannot be read"}
	case name == "" && (!strict || t.literal()):
	case name == "":
		return nil, &Refusal{Host: t.String(), Why: "TLS does not name the host"}
	case !strings.EqualFold(name, t.host):
		return nil, &Refusal{Host: t.String(), Why: "TLS names another host: " + printable(name)}
	}
	return hello, nil
}

// readHello reads the ClientHello of TLS, over as many records as it takes. It returns
// all bytes that it read, perhaps more than those, and the host's name in it.
func readHello(from io.Reader) (hello []byte, name string, err error) {
	var read bytes.Buffer
	seen := errors.New("seen")
	conn := tls.Server(&source{from: io.TeeReader(io.LimitReader(from, maxHello), &read)}, &tls.Config{
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			name = h.ServerName
			return nil, seen
		},
	})
	if err = conn.Handshake(); errors.Is(err, seen) {
		err = nil
	}
	return read.Bytes(), name, err
}

// source is a connection that can only be read from; what is written goes nowhere.
type source struct {
	net.Conn
	from io.Reader
}

func (s *source) Read(b []byte) (int, error)     { return s.from.Read(b) }
func (*source) Write(b []byte) (int, error)      { return len(b), nil }
func (*source) SetWriteDeadline(time.Time) error { return nil }

// pour copies one direction and ends it; the other may go on. from is read in place of source.
func pour(to net.Conn, from io.Reader, source net.Conn) {
	_, err := io.Copy(to, from)
	if err == nil {
		err = closeWrite(to)
	}
	if err != nil {
		_, _ = to.Close(), source.Close()
	}
}

// requests serves the plain requests in a tunnel to port 80: the tunnel's host counts,
// whatever they name.
func (p *Proxy) requests(in net.Conn, from *bufio.Reader, t target) {
	l := &one{Conn: in, from: from, gone: make(chan struct{})}
	_ = p.newServer(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			p.fail(w, &Refusal{Host: printable(r.RequestURI), Why: "it was asked for in a tunnel to another host"})
			return
		}
		p.forward(w, r, t)
	}).Serve(l) // ends with the connection
}
