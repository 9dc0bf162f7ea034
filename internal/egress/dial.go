package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

const (
	dialTime = 20 * time.Second // to look a host up and connect
	tryTime  = 5 * time.Second  // for one of its addresses
	idleTime = 15 * time.Minute // nothing was sent or came for so long: the connection is cut
)

// dial connects to a host: it is looked up once, its addresses are judged, and those
// that pass are dialed as they are.
func (p *Proxy) dial(ctx context.Context, t target) (net.Conn, error) {
	ctx, done := p.bound(ctx)
	defer done()
	addrs, err := p.addresses(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		var conn net.Conn
		if conn, err = p.connect(ctx, netip.AddrPortFrom(a, t.port).String()); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// bound ends a dial in time, and with the proxy.
func (p *Proxy) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	stop := context.AfterFunc(p.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// addresses are those of a host that may be dialed, IPv4 first; there is one at least.
func (p *Proxy) addresses(ctx context.Context, t target) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(t.host); err == nil {
		if !t.private {
			return nil, &Refusal{Host: t.String(), Why: "it is an address"}
		}
		return []netip.Addr{a}, nil
	}
	all, err := p.lookup(ctx, t.host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", t.host, err)
	}
	ok := slices.DeleteFunc(slices.Clone(all), func(a netip.Addr) bool {
		return !(t.private && private(a)) && (!public(a) || !t.private && p.own(a))
	})
	if len(ok) == 0 {
		return nil, &Refusal{Host: t.String(), Why: fmt.Sprintf("it has no public address %v", all), Private: true}
	}
	slices.SortStableFunc(ok, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() })
	return ok, nil
}

// lookup asks the system's resolver, which also knows the names of the machine's own table:
// with a dot at the end of the name it would not.
func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// own reports whether an address is one of this machine's.
func own(a netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(all, func(i net.Addr) bool {
		n, ok := i.(*net.IPNet)
		return ok && n.IP.Equal(a.AsSlice())
	})
}

// connect dials an address.
func (p *Proxy) connect(ctx context.Context, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	conn, err := p.dialer(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	out := &outConn{Conn: conn, p: p}
	out.idle = time.AfterFunc(idleTime, func() { _ = out.Close() })
	if !p.keep(out) {
		_ = out.Close()
		return nil, net.ErrClosed
	}
	return out, nil
}

// outConn is a connection to the network, cut when it is idle.
type outConn struct {
	net.Conn
	p    *Proxy
	idle *time.Timer
}

func (c *outConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.idle.Reset(idleTime)
	}
	return n, err
}

func (c *outConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if n > 0 {
		c.idle.Reset(idleTime)
	}
	return n, err
}

// CloseWrite ends what is sent; more may come.
func (c *outConn) CloseWrite() error { return closeWrite(c.Conn) }

func (c *outConn) Close() error {
	c.idle.Stop()
	c.p.drop(c)
	return c.Conn.Close()
}

// through connects to a host by way of the user's own proxy.
func (p *Proxy) through(ctx context.Context, proxy *url.URL, t target) (net.Conn, *bufio.Reader, error) {
	ctx, done := p.bound(ctx)
	defer done()
	conn, err := p.connect(ctx, proxyAddr(proxy))
	if err != nil {
		return nil, nil, fmt.Errorf("the proxy %s: %w", proxy.Host, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if proxy.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{ServerName: proxy.Hostname(), NextProtos: []string{"http/1.1"}})
	}
	ask := "CONNECT " + t.String() + " HTTP/1.1\r\nHost: " + t.String() + "\r\n"
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		ask += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)) + "\r\n"
	}
	_, err = io.WriteString(conn, ask+"\r\n")
	from := bufio.NewReader(conn)
	if err == nil {
		var answer *http.Response
		if answer, err = http.ReadResponse(from, &http.Request{Method: http.MethodConnect}); err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("it answers %s", answer.Status)
		}
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, fmt.Errorf("the proxy %s: %w", proxy.Host, err)
	}
	return conn, from, nil
}

func proxyAddr(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// upstream is the user's own proxy for a host; nil: there is none.
func (p *Proxy) upstream(scheme, host string) (*url.URL, error) {
	if p.rules.Upstream == nil {
		return nil, nil
	}
	u, err := p.rules.Upstream(&url.URL{Scheme: scheme, Host: host})
	if err == nil && u != nil && u.Scheme != "http" && u.Scheme != "https" {
		err = fmt.Errorf("the proxy %s: its scheme is %q, and must be http or https", u.Host, u.Scheme)
	}
	return u, err
}
