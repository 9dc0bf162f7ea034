package sandbox

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/ralph-compiler/ralph/internal/egress"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// ProxyAt is the address of the proxy inside.
const ProxyAt = "127.0.0.1:3128"

// startTime is how long a sandbox may take to start its program.
const startTime = time.Minute

// Sandbox is a process.Wall made of a Spec. It may be started more than once, and
// concurrently: each start is a sandbox of its own on the same directories.
type Sandbox struct {
	spec     wall.Spec
	terminal *Terminal // nil: none
}

var _ process.Wall = (*Sandbox)(nil)

// New returns the sandbox of a Spec. Nothing is checked before Start.
func New(s wall.Spec) *Sandbox { return &Sandbox{spec: s} }

// Of is the process.Wall of a Spec; nil for nil and for the kind none.
func Of(s *wall.Spec) process.Wall {
	if s == nil || s.Kind == wall.None {
		return nil
	}
	return New(*s)
}

// Unavailable is the error of a sandbox that cannot be made on this machine.
type Unavailable struct {
	Kind wall.Kind
	Why  string // "user namespaces are off here (user.max_user_namespaces = 0)"
	Mend string // "sysctl -w user.max_user_namespaces=10000"; "" if nothing mends it
}

func (u *Unavailable) Error() string {
	s := fmt.Sprintf("%s: %s", u.Kind, u.Why)
	if u.Mend != "" {
		s += ": " + u.Mend
	}
	return s
}

// ports are the addresses on which the sandbox listens: first Forward's, then the proxy's.
func (s *Sandbox) ports() ([]string, error) {
	var out []string
	for _, f := range s.spec.Forward {
		at, err := netip.ParseAddrPort(f.At)
		if err != nil || !at.Addr().IsLoopback() || at.Port() == 0 {
			return nil, fmt.Errorf("sandbox %q: %s is not an address of its loopback interface", s.spec.Name, f.At)
		}
		out = append(out, f.At)
	}
	if s.spec.Egress != nil {
		out = append(out, ProxyAt)
	}
	return out, nil
}

// serving answers from outside what listens inside.
type serving struct {
	relays []*relay
	proxy  *egress.Proxy
}

// serve takes the sandbox's listening sockets, in the order of ports.
func (s *Sandbox) serve(listeners []net.Listener) (*serving, error) {
	v := &serving{}
	for i, f := range s.spec.Forward {
		r := newRelay(listeners[i], f.To)
		v.relays = append(v.relays, r)
	}
	if e := s.spec.Egress; e != nil {
		rules := egress.Rules{Hosts: e.Hosts, Private: e.Private, Upstream: upstream}
		if e.Refused != nil {
			rules.Refused = func(r egress.Refusal) { e.Refused(wall.Denial(r)) }
		}
		p, err := egress.New(rules)
		if err != nil {
			v.close()
			return nil, fmt.Errorf("sandbox %q: network: %w", s.spec.Name, err)
		}
		v.proxy = p
		go func() { _ = p.Serve(listeners[len(listeners)-1]) }() // until it is closed
	}
	return v, nil
}

func (v *serving) close() {
	for _, r := range v.relays {
		r.close()
	}
	if v.proxy != nil {
		_ = v.proxy.Close() // its connections are cut
	}
}

// upstream is the user's own proxy, by ralph's environment.
func upstream(u *url.URL) (*url.URL, error) { return http.ProxyFromEnvironment(&http.Request{URL: u}) }
