package sandboxtest

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"
)

// serve starts the host's servers, and the caller of World.Open. All of them end with the test.
func (s *Site) serve() {
	s.TCP = s.answering("tcp", "127.0.0.1:0")
	s.answering("unix", s.Unix)
	s.ok(os.Chmod(s.Unix, 0o777))
	s.Abstract = s.answering("unix", "@"+s.Mark)

	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	s.ok(err)
	s.UDP = u.LocalAddr().String()
	go func() {
		b := make([]byte, 16)
		for {
			_, from, err := u.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = u.WriteTo([]byte(s.Secret), from)
		}
	}()
	s.t.Cleanup(func() { _ = u.Close() })

	model := httptest.NewUnstartedServer(http.NotFoundHandler())
	model.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that say nothing
	model.StartTLS()
	s.t.Cleanup(model.Close)
	s.Model = model.Listener.Addr().String()
	s.Local = "localhost:" + port(s.TCP)

	free, err := net.Listen("tcp", "127.0.0.1:0")
	s.ok(err)
	s.Open = free.Addr().(*net.TCPAddr).Port
	s.ok(free.Close())
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); s.call(stop) }()
	s.t.Cleanup(func() { close(stop); <-ended })
}

// answering starts a server that answers everything with the secret.
func (s *Site) answering(network, address string) string {
	l, err := net.Listen(network, address)
	s.ok(err)
	s.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(patience))
				if _, err := c.Read(make([]byte, 1)); err == nil {
					_, _ = io.WriteString(c, s.Secret)
				}
			}()
		}
	}()
	return l.Addr().String()
}

// call calls World.Open until somebody answers there.
func (s *Site) call(stop <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Open))
		if err != nil {
			continue
		}
		_, _ = io.WriteString(c, s.Mark)
		_ = c.Close()
		close(s.came)
		return
	}
}

// OpenProxy gives the world a proxy that refuses nothing: every host is the model's server.
func (s *Site) OpenProxy() {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.ok(err)
	s.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go relay(c, s.Model)
		}
	}()
	s.Proxy = "http://" + l.Addr().String()
	s.tell()
}

// relay answers a client of the open proxy.
func relay(c net.Conn, to string) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * patience))
	r := bufio.NewReader(c)
	var connect bool
	for first := true; ; first = false {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		connect = connect || first && strings.HasPrefix(line, "CONNECT ")
		if line == "\r\n" {
			break
		}
	}
	if !connect {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		return
	}
	up, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer up.Close()
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(up, r); _ = up.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(c, up)
}
