package egress

import (
	"bufio"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

func TestASlowHeaderEnds(t *testing.T) {
	w := newWorld(t, Rules{}, func(p *Proxy) { p.server.ReadHeaderTimeout = 50 * time.Millisecond })
	c := w.connect()
	_, _ = io.WriteString(c, "GET http://allowed.example/ HTTP/1.1\r\nHo")
	begun := time.Now()
	_, _ = io.ReadAll(c)
	if d := time.Since(begun); d > 5*time.Second {
		t.Errorf("closed after %v", d)
	}
}

func TestMoreConnectionsHaveToWait(t *testing.T) {
	w := newWorld(t, Rules{})
	var idle []net.Conn
	for range maxClients {
		idle = append(idle, w.connect())
	}
	late := w.connect()
	_, _ = io.WriteString(late, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	_ = late.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := late.Read(make([]byte, 1)); !isTimeout(err) {
		t.Fatalf("answered beside %d connections: %v", maxClients, err)
	}
	_ = idle[0].Close()
	_ = late.SetReadDeadline(time.Now().Add(5 * time.Second))
	if status, body := answer(t, bufio.NewReader(late)); status != 400 {
		t.Errorf("%d %s", status, body)
	}
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
