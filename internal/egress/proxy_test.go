package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// world is a proxy whose names and addresses are made up.
type world struct {
	*Proxy
	t  *testing.T
	at string // the proxy's address

	mu      sync.Mutex
	names   map[string][]string // the answers for a name; the last one stays
	routes  map[string]string   // where a dialed address really leads
	looked  []string
	dialed  []string
	refused []string
}

func newWorld(t *testing.T, rules Rules, change ...func(*Proxy)) *world {
	t.Helper()
	before := runtime.NumGoroutine()
	w := &world{t: t, names: map[string][]string{}, routes: map[string]string{}}
	rules.Refused = func(r Refusal) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.refused = append(w.refused, r.Host+": "+r.Why)
	}
	p, err := New(rules)
	if err != nil {
		t.Fatal(err)
	}
	w.Proxy = p
	p.own = func(netip.Addr) bool { return false }
	p.lookup = w.answer
	p.dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		w.mu.Lock()
		w.dialed = append(w.dialed, addr)
		to, ok := w.routes[addr]
		w.mu.Unlock()
		if !ok {
			return nil, fmt.Errorf("no route to %s", addr)
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}
	for _, c := range change {
		c(p)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.at = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		none(t, before)
	})
	return w
}

// none waits until no more goroutines run than before.
func none(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func (w *world) answer(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = append(w.looked, host)
	all := w.names[host]
	if len(all) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(all) > 1 {
		w.names[host] = all[1:]
	}
	var out []netip.Addr
	for s := range strings.SplitSeq(all[0], " ") {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

// serve makes a server at a made-up address.
func (w *world) serve(addr string, s *httptest.Server) {
	w.t.Cleanup(s.Close)
	w.routes[addr] = s.Listener.Addr().String()
}

// seen returns what was looked up, dialed and refused.
func (w *world) seen() (looked, dialed, refused []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looked, w.dialed, w.refused
}

// dial connects to the proxy.
func (w *world) connect() net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.at)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// ask sends text and reads one answer.
func (w *world) ask(text string) (int, string) {
	w.t.Helper()
	c := w.connect()
	_, _ = io.WriteString(c, text) // the proxy may close early
	return answer(w.t, bufio.NewReader(c))
}

func answer(t *testing.T, r *bufio.Reader) (int, string) {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return 0, err.Error()
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// tunnel opens a tunnel.
func (w *world) open(host string) (net.Conn, *bufio.Reader) {
	w.t.Helper()
	c := w.connect()
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("CONNECT %s: %v, %v", host, resp, err)
	}
	return c, r
}

// client uses the proxy, and trusts s.
func (w *world) client(s *httptest.Server) *http.Client {
	tr := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: w.at})}
	if s != nil && s.TLS != nil {
		tr.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig
	}
	w.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

const somewhere = "93.184.216.34"

var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s host=%s body=%s header=%v", r.Method, r.RequestURI, r.Host, body, r.Header)
})

func TestPlainRequestsAndTunnelsPass(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"example.com"}})
	w.names["example.com"] = []string{somewhere}
	secure := httptest.NewTLSServer(echo)
	w.serve(somewhere+":443", secure)
	w.serve(somewhere+":80", httptest.NewServer(echo))
	c := w.client(secure)
	for _, u := range []string{"https://example.com/a?x=1;y", "http://example.com/a?x=1;y", "http://EXAMPLE.com.:80/a?x=1;y"} {
		resp, err := c.Post(u, "text/plain", strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 200 || !strings.HasPrefix(strings.ToLower(string(body)), "post /a?x=1;y host=example.com") || !strings.Contains(string(body), "body=hello") {
			t.Errorf("%s: %s %s", u, resp.Status, body)
		}
	}
	if _, _, refused := w.seen(); len(refused) > 0 {
		t.Errorf("refused: %q", refused)
	}
}

// TestWhatIsNotListedIsRefused: and it is neither looked up nor dialed.
func TestWhatIsNotListedIsRefused(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"allowed.example", "*.allowed.example"}})
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"X01 not listed", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", 403},
		{"X01 plain", "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403},
		{"X02 loopback", "CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X02 plain", "GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X03 NUL", "CONNECT evil.example\x00.allowed.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"X03 plain", "GET http://evil.example\x00.allowed.example/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"X04 user", "CONNECT allowed.example@evil.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X04 user, backwards", "CONNECT evil.example:443@allowed.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X04 plain", "GET http://allowed.example@evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X04 plain, backwards", "GET http://evil.example@allowed.example/ HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X05 port 22", "CONNECT allowed.example:22 HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X05 plain", "GET http://allowed.example:22/ HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X06 suffix", "CONNECT xallowed.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X08 other Host", "GET http://evil.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n", 403},
		{"X08 CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: allowed.example:443\r\n\r\n", 403},
		{"X09 decimal", "CONNECT 2130706433:443 HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X09 hex", "GET http://0x7f000001/ HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X10 mapped", "CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"X10 plain", "GET http://[::ffff:127.0.0.1]/ HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"a zone", "GET http://[fe80::1%25lo]/ HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"escapes", "GET http://evil%2eexample/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"no port", "CONNECT allowed.example HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"a path", "CONNECT /allowed.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"a URL to CONNECT to", "CONNECT http://evil.example@allowed.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", 403},
		{"no URL", "GET / HTTP/1.1\r\nHost: allowed.example\r\n\r\n", 400},
		{"https in plain", "GET https://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n", 400},
		{"a file", "GET file:///etc/passwd HTTP/1.1\r\nHost: allowed.example\r\n\r\n", 400},
		{"opaque", "GET http:allowed.example/x HTTP/1.1\r\nHost: allowed.example\r\n\r\n", 400},
		{"OPTIONS", "OPTIONS * HTTP/1.1\r\nHost: allowed.example\r\n\r\n", 400},
		{"two Hosts", "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nHost: evil.example\r\n\r\n", 400},
		{"two lengths", "POST http://allowed.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
		{"unknown coding", "POST http://allowed.example/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n", 501},
		{"a huge header", "GET http://allowed.example/ HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", 431},
	} {
		got, body := w.ask(c.text)
		if got != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, got, body, c.want)
		}
		if got == 403 && !strings.HasPrefix(body, "ralph's sandbox does not let programs reach ") {
			t.Errorf("%s: the answer does not say who refused: %s", c.name, body)
		}
	}
	looked, dialed, refused := w.seen()
	if len(looked)+len(dialed) > 0 {
		t.Errorf("looked up %q, dialed %q", looked, dialed)
	}
	if len(refused) < 20 {
		t.Errorf("told of %d refusals", len(refused))
	}
}

func TestAddressesAreJudgedOnceAndDialedAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string
		dialed  string
	}{
		{"X07 loopback", []string{"127.0.0.1"}, ""},
		{"link-local", []string{"169.254.169.254"}, ""},
		{"mapped", []string{"::ffff:10.0.0.1"}, ""},
		{"NAT64", []string{"64:ff9b::a00:1 fd00::1"}, ""},
		{"rebinding", []string{somewhere, "127.0.0.1"}, somewhere + ":443"},
		{"mixed", []string{"127.0.0.1 10.0.0.1 " + somewhere}, somewhere + ":443"},
	} {
		w := newWorld(t, Rules{Hosts: []string{"allowed.example"}})
		w.names["allowed.example"] = c.answers
		for _, ask := range []string{"CONNECT allowed.example:443", "GET http://allowed.example:443/"} {
			w.looked, w.dialed, w.names["allowed.example"] = nil, nil, c.answers
			status, body := w.ask(ask + " HTTP/1.1\r\nHost: a\r\n\r\n")
			looked, dialed, refused := w.seen()
			if len(looked) != 1 || strings.Join(dialed, " ") != c.dialed {
				t.Errorf("%s: looked up %q, dialed %q, want %q", c.name, looked, dialed, c.dialed)
			}
			if c.dialed == "" && (status != 403 || !strings.Contains(body, "no public address") || len(refused) == 0) {
				t.Errorf("%s: %d %s, refused %q", c.name, status, body, refused)
			}
			if c.dialed != "" && status != 502 { // no server is there
				t.Errorf("%s: %d %s", c.name, status, body)
			}
		}
	}
}

func TestThisMachineIsRefusedByItsPublicAddress(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"allowed.example"}}, func(p *Proxy) {
		p.own = func(a netip.Addr) bool { return a.String() == somewhere }
	})
	w.names["allowed.example"] = []string{somewhere}
	if status, body := w.ask("CONNECT allowed.example:443 HTTP/1.1\r\nHost: a\r\n\r\n"); status != 403 {
		t.Errorf("%d %s", status, body)
	}
	if !own(netip.MustParseAddr("127.0.0.1")) || own(netip.MustParseAddr(somewhere)) {
		t.Error("own does not know this machine's addresses")
	}
}

func TestPrivateHosts(t *testing.T) {
	s := httptest.NewServer(echo)
	w := newWorld(t, Rules{Private: []string{"127.0.0.1:8080", "model.lan:8000", "cloud.lan:8000"}})
	w.serve("127.0.0.1:8080", s)
	w.serve("10.0.0.7:8000", s)
	w.names["model.lan"], w.names["cloud.lan"] = []string{"10.0.0.7"}, []string{"169.254.169.254"}
	for u, want := range map[string]int{
		"http://127.0.0.1:8080/": 200, "http://model.lan:8000/": 200, "http://cloud.lan:8000/": 403,
		"http://127.0.0.1:8081/": 403, "http://model.lan/": 403, "http://[::ffff:127.0.0.1]:8080/": 403,
	} {
		resp, err := w.client(nil).Get(u)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %s, want %d", u, resp.Status, want)
		}
	}
}

// TestRequestsAreRewritten: the server sees the host that was judged, and nothing that
// was for the proxy alone.
func TestRequestsAreRewritten(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"allowed.example", "allowed.example:8080"}})
	w.names["allowed.example"] = []string{somewhere}
	s := httptest.NewServer(echo)
	w.serve(somewhere+":80", s)
	w.routes[somewhere+":8080"] = s.Listener.Addr().String()
	status, body := w.ask("POST http://Allowed.example/ HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\n" +
		"Connection: X-Hop, close, Upgrade\r\nX-Hop: 1\r\nTe: gzip\r\nUpgrade: h2c\r\nX-Forwarded-Host: evil.example\r\nX-Kept: 1\r\n" +
		"Transfer-Encoding: chunked\r\nContent-Length: 99\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
	if status != 200 || !strings.Contains(body, "host=allowed.example body=hi") || !strings.Contains(body, "X-Kept") {
		t.Errorf("%d %s", status, body)
	}
	for _, gone := range []string{"evil", "Proxy", "Hop", "Te:", "Upgrade", "h2c", "Content-Length:[99]"} {
		if strings.Contains(body, gone) {
			t.Errorf("%s passed: %s", gone, body)
		}
	}
	if status, body := w.ask("GET http://allowed.example:8080/ HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n\r\n"); status != 200 || !strings.Contains(body, "host=allowed.example:8080 ") {
		t.Errorf("%d %s", status, body)
	}
}

// TestEachRequestOfAConnectionIsJudged: pipelined ones, and what a length or a chunk hides.
func TestEachRequestOfAConnectionIsJudged(t *testing.T) {
	w := newWorld(t, Rules{Hosts: []string{"allowed.example"}})
	w.names["allowed.example"] = []string{somewhere}
	w.serve(somewhere+":80", httptest.NewServer(echo))
	c := w.connect()
	_, _ = io.WriteString(c, "GET http://allowed.example/1 HTTP/1.1\r\nHost: allowed.example\r\n\r\n"+
		"GET http://evil.example/2 HTTP/1.1\r\nHost: allowed.example\r\n\r\n"+
		"POST http://allowed.example/3 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+
		"GET http://evil.example/4 HTTP/1.1\r\nHost: allowed.example\r\n\r\n"+
		"GET http://allowed.example/5 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	r := bufio.NewReader(c)
	for i, want := range []int{200, 403, 200, 403, 200} {
		status, body := answer(t, r)
		if status != want {
			t.Fatalf("request %d: %d %s", i+1, status, body)
		}
		if want == 200 && !strings.Contains(body, fmt.Sprintf(" /%d ", i+1)) {
			t.Fatalf("request %d: %s", i+1, body)
		}
	}
}
