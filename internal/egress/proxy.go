package egress

import (
	"context"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	maxClients = 256              // connections from inside at once; more have to wait
	maxHeader  = 64 << 10         // bytes of a request's header
	headerTime = 20 * time.Second // for a request's header to come
	quietTime  = 2 * time.Minute  // until a connection without a request is closed
)

// Proxy is an HTTP proxy with rules: it takes CONNECT, plain requests and WebSockets.
// It is safe for concurrent use.
type Proxy struct {
	rules  Rules
	list   list
	server *http.Server
	plain  *httputil.ReverseProxy
	direct *http.Transport // to hosts that were judged
	byWay  *http.Transport // to the user's own proxy
	places chan struct{}   // one for each connection from inside

	// For tests.
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	dialer func(ctx context.Context, network, addr string) (net.Conn, error)
	own    func(netip.Addr) bool

	life context.Context // the proxy's own, not a call's: it ends with Close
	end  context.CancelFunc

	wg     sync.WaitGroup // of handlers; it grows only under mu, and before closed is set
	mu     sync.Mutex     // guards the rest
	closed bool
	conns  map[io.Closer]bool
}

// New returns a proxy that does nothing until Serve. The error says which rule is malformed.
func New(rules Rules) (*Proxy, error) {
	l, err := readRules(rules)
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		rules: rules, list: l, places: make(chan struct{}, maxClients),
		lookup: lookup, dialer: (&net.Dialer{}).DialContext, own: own,
		conns: map[io.Closer]bool{},
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.direct = p.transport(nil, func(ctx context.Context, _, addr string) (net.Conn, error) {
		t, err := p.list.judge(addr, 0)
		if err != nil {
			return nil, err
		}
		return p.dial(ctx, t)
	})
	p.byWay = p.transport(p.again, func(ctx context.Context, _, addr string) (net.Conn, error) {
		ctx, done := p.bound(ctx)
		defer done()
		return p.connect(ctx, addr)
	})
	p.plain = &httputil.ReverseProxy{
		Rewrite:       rewrite,
		Transport:     roundTripper(p.roundTrip),
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { p.fail(w, err) },
	}
	p.server = p.newServer(p.handle)
	return p, nil
}

func (p *Proxy) newServer(handle http.HandlerFunc) *http.Server {
	return &http.Server{
		Handler:                      handle,
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            headerTime,
		IdleTimeout:                  quietTime,
		MaxHeaderBytes:               maxHeader,
		ErrorLog:                     log.New(io.Discard, "", 0),
		BaseContext:                  func(net.Listener) context.Context { return p.life },
	}
}

func (p *Proxy) transport(proxy func(*http.Request) (*url.URL, error), dial func(context.Context, string, string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		Proxy: proxy, DialContext: dial,
		DisableCompression:     true,
		IdleConnTimeout:        quietTime,
		TLSHandshakeTimeout:    headerTime,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// Serve answers connections until Close, or until l is closed; that is no error. More
// than one listener may be served.
func (p *Proxy) Serve(l net.Listener) error {
	err := p.server.Serve(&listener{Listener: l, p: p})
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Close closes the listeners, ends all connections, and returns when no request is
// worked on any more. Serve fails afterwards at once, without an error.
func (p *Proxy) Close() error {
	p.end()
	err := p.server.Close()
	p.mu.Lock()
	p.closed = true
	all := maps.Clone(p.conns)
	p.mu.Unlock()
	for c := range all {
		_ = c.Close() // it calls drop
	}
	p.wg.Wait()
	return err
}

// begin notes a request that Close waits for; false: it is the end.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wg.Add(1)
	}
	return !p.closed
}

// keep notes a connection that Close ends; false: it is the end.
func (p *Proxy) keep(c io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.conns[c] = true
	}
	return !p.closed
}

func (p *Proxy) drop(c io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// handle answers what a program asks of the proxy.
func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		t, err := p.list.judge(r.RequestURI, 0)
		if err != nil {
			p.fail(w, err)
			return
		}
		p.tunnel(w, r, t)
		return
	}
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w, "this is ralph's proxy: it takes CONNECT, and requests for a whole URL that begins with http://", http.StatusBadRequest)
		return
	}
	if r.URL.User != nil {
		p.fail(w, &Refusal{Host: printable(r.URL.Host), Why: "a name stands before it (@)"})
		return
	}
	t, err := p.list.judge(r.URL.Host, 80)
	if err != nil {
		p.fail(w, err)
		return
	}
	p.forward(w, r, t)
}

// forward sends a plain request to a host that was judged, whatever its Host says.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, t target) {
	if !p.begin() {
		return
	}
	defer p.wg.Done()
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		r.Header.Del("Upgrade") // in HTTP/2, requests could name other hosts
	}
	r.URL.Scheme, r.URL.Host = "http", strings.TrimSuffix(t.String(), ":80")
	p.plain.ServeHTTP(w, r)
}

// rewrite: the rest is what a ReverseProxy does, which drops what is between two of a
// chain only: Connection and what it names, Proxy-Authorization.
func rewrite(r *httputil.ProxyRequest) {
	r.Out.Host = "" // the URL's
	r.Out.URL.RawQuery = r.In.URL.RawQuery
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (p *Proxy) roundTrip(r *http.Request) (*http.Response, error) {
	proxy, err := p.upstream("http", r.URL.Host)
	switch {
	case err != nil:
		return nil, err
	case proxy != nil:
		return p.byWay.RoundTrip(r)
	}
	return p.direct.RoundTrip(r)
}

// again is the user's own proxy for a request that goes through it. There must be one:
// without, no address would be judged.
func (p *Proxy) again(r *http.Request) (*url.URL, error) {
	u, err := p.upstream("http", r.URL.Host)
	if err == nil && u == nil {
		err = errors.New("the user's own proxy is gone")
	}
	return u, err
}

// fail answers with what went wrong, and tells of refusals.
func (p *Proxy) fail(w http.ResponseWriter, err error) {
	if no, ok := errors.AsType[*Refusal](err); ok {
		p.tell(no)
		http.Error(w, no.Error(), http.StatusForbidden)
		return
	}
	http.Error(w, "ralph's proxy cannot reach this host: "+err.Error(), http.StatusBadGateway)
}

func (p *Proxy) tell(r *Refusal) {
	if p.rules.Refused != nil {
		p.rules.Refused(*r)
	}
}
