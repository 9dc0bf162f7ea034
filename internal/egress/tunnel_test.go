package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// recorder keeps what is written, and has nothing to read.
type recorder struct {
	net.Conn
	bytes.Buffer
}

func (r *recorder) Read([]byte) (int, error)    { return 0, io.EOF }
func (r *recorder) Write(b []byte) (int, error) { return r.Buffer.Write(b) }

// helloFor is the first record of a TLS client; "" names no host.
func helloFor(name string) []byte {
	var r recorder
	_ = tls.Client(&r, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	return r.Bytes()
}

// inRecords splits the message of one record over records of n bytes.
func inRecords(hello []byte, n int) []byte {
	var out []byte
	for message := hello[5:]; len(message) > 0; {
		part := message[:min(n, len(message))]
		out = append(append(out, 22, 3, 1, byte(len(part)>>8), byte(len(part))), part...)
		message = message[len(part):]
	}
	return out
}

// listen makes a raw server at a made-up address; each connection is answered by do.
func (w *world) listen(addr string, do func(net.Conn)) {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = l.Close() })
	w.routes[addr] = l.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); do(c) }()
		}
	}()
}

// mirror sends back what came, and ends when the client did.
func mirror(c net.Conn) { _, _ = io.Copy(c, c) }

func TestWhatATunnelStartsWith(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"allowed.example", "allowed.example:9000"}, Private: []string{"127.0.0.1:443", "127.0.0.1:9000"}})
	w.names["allowed.example"] = []string{somewhere}
	for _, addr := range []string{somewhere + ":443", somewhere + ":9000", "127.0.0.1:443", "127.0.0.1:9000"} {
		w.listen(addr, mirror)
	}
	good, bad := helloFor("allowed.example"), helloFor("evil.example")
	for _, c := range []struct {
		name, host string
		sent       []byte
		passes     bool
	}{
		{"TLS for the host", "allowed.example:443", good, true},
		{"TLS for the host, upper case", "ALLOWED.example.:443", helloFor("Allowed.EXAMPLE"), true},
		{"split over records", "allowed.example:443", inRecords(good, 7), true},
		{"split at each byte", "allowed.example:443", inRecords(good, 1), true},
		{"with bytes after it", "allowed.example:443", append(bytes.Clone(good), "more"...), true},
		{"a named port", "allowed.example:9000", good, true},
		{"a named port without TLS", "allowed.example:9000", []byte("SELECT 1"), true},
		{"a named port without a name", "allowed.example:9000", helloFor(""), true},
		{"an address, which TLS does not name", "127.0.0.1:443", helloFor(""), true},

		{"X11 fronting", "allowed.example:443", bad, false},
		{"X11 split over records", "allowed.example:443", inRecords(bad, 5), false},
		{"X11 on a named port", "allowed.example:9000", bad, false},
		{"X11 from an address", "127.0.0.1:9000", bad, false},
		{"a name below it", "allowed.example:443", helloFor("a.allowed.example"), false},
		{"no name", "allowed.example:443", helloFor(""), false},
		{"no TLS", "allowed.example:443", []byte("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), false},
		{"no TLS, later", "allowed.example:443", append([]byte{22, 3, 1, 0, 5}, "hello, this is not it"...), false},
		{"half of it", "allowed.example:443", good[:len(good)-1], false},
		{"a record without bytes, without end", "allowed.example:443", bytes.Repeat([]byte{22, 3, 1, 0, 0}, 20_000), false},
		{"a message without end", "allowed.example:443", append([]byte{22, 3, 1, 64, 0, 1, 255, 255, 255}, make([]byte, 200_000)...), false},
		{"not TLS on a named port, after its first byte", "allowed.example:9000", []byte("\x16 SELECT 1, and so on"), false},
	} {
		before := len(w.refused)
		conn, r := w.open(c.host)
		_, _ = conn.Write(c.sent)
		_ = conn.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(r)
		_, _, refused := w.seen()
		if c.passes && (!bytes.Equal(got, c.sent) || len(refused) > before) {
			t.Errorf("%s: %d of %d bytes came back; refused: %q", c.name, len(got), len(c.sent), refused[before:])
		}
		if !c.passes && (len(got) > 7 || len(refused) != before+1) {
			t.Errorf("%s: passed: %q, refused: %q", c.name, got, refused[before:])
		}
	}
}

func TestFrontingWithARealClient(t *testing.T) {
	s := httptest.NewUnstartedServer(echo)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that fails
	s.StartTLS()
	w := newWorld(t, Rules{Hosts: []string{"example.com"}})
	w.names["example.com"] = []string{somewhere}
	w.serve(somewhere+":443", s)
	conn, _ := w.open("example.com:443")
	err := tls.Client(conn, &tls.Config{ServerName: "evil.example", InsecureSkipVerify: true}).Handshake()
	if err == nil || !strings.Contains(err.Error(), "unrecognized name") {
		t.Errorf("the client is told %v", err)
	}
}

// TestTheServerMayBeginAndEnd: what is sent first, and what is ended first, is any side's choice.
func TestTheServerMayBeginAndEnd(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"mail.example:25", "day.example:13"}})
	w.names["mail.example"], w.names["day.example"] = []string{somewhere}, []string{somewhere}
	w.listen(somewhere+":25", func(c net.Conn) {
		_, _ = io.WriteString(c, "220 ready\r\n")
		all, _ := io.ReadAll(c) // until the client ends
		fmt.Fprintf(c, "221 got %s\r\n", all)
	})
	w.listen(somewhere+":13", func(c net.Conn) {
		_, _ = io.WriteString(c, "now")
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	})
	conn, r := w.open("mail.example:25")
	if line, err := r.ReadString('\n'); line != "220 ready\r\n" {
		t.Fatal(line, err)
	}
	_, _ = io.WriteString(conn, "QUIT")
	_ = conn.(*net.TCPConn).CloseWrite()
	if rest, err := io.ReadAll(r); string(rest) != "221 got QUIT\r\n" {
		t.Errorf("%q %v", rest, err)
	}
	conn, r = w.open("day.example:13")
	if all, err := io.ReadAll(r); string(all) != "now" {
		t.Errorf("%q %v", all, err)
	}
	if _, err := io.WriteString(conn, "still here"); err != nil {
		t.Error(err)
	}
}

// TestATunnelToPort80IsReadAsRequests: programs that tunnel all they send reach the host
// they asked for, and no other behind the same address.
func TestATunnelToPort80IsReadAsRequests(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"allowed.example"}})
	w.names["allowed.example"] = []string{somewhere}
	w.serve(somewhere+":80", httptest.NewServer(echo))
	conn, r := w.open("allowed.example:80")
	_, _ = io.WriteString(conn, "GET /1 HTTP/1.1\r\nHost: evil.example\r\n\r\nGET http://evil.example/2 HTTP/1.1\r\nHost: evil.example\r\n\r\n"+
		"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\nGET /4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	for i, want := range []int{200, 200, 403, 200} {
		status, body := answer(t, r)
		if status != want || status == 200 && !strings.HasPrefix(body, fmt.Sprintf("GET /%d host=allowed.example ", i+1)) {
			t.Errorf("request %d: %d %s", i+1, status, body)
		}
	}
	if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil {
		t.Errorf("the end: %q %v", rest, err)
	}
	conn, r = w.open("allowed.example:80")
	_, _ = conn.Write(helloFor("evil.example"))
	if status, _ := answer(t, r); status != 400 {
		t.Errorf("TLS: %d", status)
	}
}

// socket is a server that changes to a protocol of lines, as a WebSocket does.
var socket = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || r.Header.Get("Connection") != "Upgrade" {
		http.Error(w, "no upgrade", http.StatusBadRequest)
		return
	}
	c, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	_, _ = io.Copy(c, rw)
})

func TestWebSockets(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"allowed.example"}})
	w.names["allowed.example"] = []string{somewhere}
	w.serve(somewhere+":80", httptest.NewServer(socket))
	tunnel, fromTunnel := w.open("allowed.example:80")
	direct := w.connect()
	for _, c := range []struct {
		conn net.Conn
		r    *bufio.Reader
		url  string
	}{{direct, bufio.NewReader(direct), "http://allowed.example/"}, {tunnel, fromTunnel, "/"}} {
		fmt.Fprintf(c.conn, "GET %s HTTP/1.1\r\nHost: allowed.example\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n", c.url)
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
			t.Fatal(c.url, resp, err)
		}
		_, _ = io.WriteString(c.conn, "ping\n")
		if line, err := c.r.ReadString('\n'); line != "ping\n" {
			t.Errorf("%s: %q %v", c.url, line, err)
		}
	}
	// Both are still open when the proxy is closed.
}

func TestCloseEndsEverything(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"allowed.example:9000", "allowed.example"}})
	w.names["allowed.example"] = []string{somewhere}
	w.listen(somewhere+":9000", mirror)
	w.listen(somewhere+":80", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }) // never answers
	open, r := w.open("allowed.example:9000")
	waits := w.connect()
	_, _ = io.WriteString(waits, "GET http://allowed.example/ HTTP/1.1\r\nHost: a\r\n\r\n")
	idle := w.connect()
	_, _ = io.WriteString(open, "x")
	if _, err := r.ReadByte(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, dialed, _ := w.seen(); len(dialed) == 2 {
			break
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]net.Conn{"tunnel": open, "request": waits, "idle": idle} {
		if _, err := io.ReadAll(c); isTimeout(err) {
			t.Errorf("the %s goes on", name)
		}
	}
	if _, err := net.Dial("tcp", w.at); err == nil {
		t.Error("it still listens")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Serve(l); err != nil {
		t.Error(err)
	}
}

// upstreamFor makes the user's own proxy, which has to be asked with a password.
func upstreamFor(w *world, secure bool, asked chan<- string, to string) *url.URL {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked <- fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Header.Get("Proxy-Authorization"))
		if r.Method != http.MethodConnect {
			fmt.Fprint(rw, "from upstream")
			return
		}
		if strings.HasPrefix(r.RequestURI, "full") {
			http.Error(rw, "no", http.StatusTeapot)
			return
		}
		out, err := net.Dial("tcp", to)
		if err != nil {
			panic(err)
		}
		in, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n")
		go pour(out, in, in)
		pour(in, out, out)
		_, _ = in.Close(), out.Close()
	}))
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	w.t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	u.User = url.UserPassword("me", "secret")
	w.routes[u.Host] = u.Host
	return u
}

func TestTheUsersOwnProxy(t *testing.T) {
	var up *url.URL
	w := newWorld(t, Rules{Hosts: []string{"example.com", "full.example", "here.example"}, Upstream: func(u *url.URL) (*url.URL, error) {
		if strings.HasPrefix(u.Host, "here.example") {
			return nil, nil
		}
		return up, nil
	}})
	s := httptest.NewTLSServer(echo)
	t.Cleanup(s.Close)
	asked := make(chan string, 10)
	up = upstreamFor(w, false, asked, s.Listener.Addr().String())
	w.names["here.example"] = []string{"10.0.0.1"}
	c := w.client(s)
	for _, r := range []struct{ url, body, asked string }{
		{"https://example.com/x", "GET /x host=example.com", "CONNECT example.com:443 Basic bWU6c2VjcmV0"},
		{"http://example.com/x", "from upstream", "GET http://example.com/x Basic bWU6c2VjcmV0"},
	} {
		resp, err := c.Get(r.url)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if got := <-asked; got != r.asked || !strings.HasPrefix(string(body), r.body) {
			t.Errorf("%s: asked %q, got %s", r.url, got, body)
		}
	}
	for text, want := range map[string]string{
		"CONNECT evil.example:443": "403 ralph's sandbox does not", "GET http://evil.example/": "403 ralph's sandbox does not",
		"CONNECT 10.0.0.1:443": "403 ralph's sandbox does not", "CONNECT full.example:443": "502 ralph's proxy cannot reach this host: the proxy ",
		"CONNECT here.example:443": "403 ralph's sandbox does not", "GET http://here.example/": "403 ralph's sandbox does not",
	} {
		status, body := w.ask(text + " HTTP/1.1\r\nHost: a\r\n\r\n")
		if got := fmt.Sprint(status, " ", body); !strings.HasPrefix(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%s: %s", text, got)
		}
	}
	if looked, _, _ := w.seen(); strings.Join(looked, " ") != "here.example here.example" {
		t.Errorf("looked up %q", looked)
	}
	up = &url.URL{Scheme: "socks5", Host: up.Host}
	if status, body := w.ask("CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n"); status != 502 || !strings.Contains(body, "must be http or https") {
		t.Errorf("%d %s", status, body)
	}
}

// FuzzHello: what is passed on is what was read, and it names the same host again.
func FuzzHello(f *testing.F) {
	f.Add(helloFor("allowed.example"))
	f.Add(inRecords(helloFor("allowed.example"), 9))
	f.Add(append(helloFor(""), "more"...))
	f.Add([]byte{22, 3, 1, 0, 5, 1, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		hello, name, err := readHello(bytes.NewReader(b))
		if !bytes.HasPrefix(b, hello) || len(hello) > maxHello {
			t.Errorf("%d bytes are not the first of %d", len(hello), len(b))
		}
		if again, same, failed := readHello(bytes.NewReader(hello)); err == nil && (failed != nil || same != name || !bytes.Equal(again, hello)) {
			t.Errorf("%q is named first, then %q, %v", name, same, failed)
		}
	})
}
