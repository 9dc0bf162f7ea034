package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Rules say what passes. The zero value lets nothing through.
type Rules struct {
	// Hosts are "example.com" (ports 80 and 443), "example.com:8443", "*.example.com" for
	// all names below it, but not itself, and "*" for any public host; each of them may
	// name a port. Case and a dot at the end do not count. Addresses cannot be listed.
	Hosts []string
	// Private are "host:port" that may have an address which is not public; they need not
	// be in Hosts. Here an address may stand for the host: "127.0.0.1:8080", "[::1]:8080".
	Private []string
	// Upstream is the user's own proxy for a URL (http or https, no path), as
	// http.ProxyFromEnvironment finds it; a nil URL is none. That proxy looks names up, so
	// only names can be judged then, not addresses. nil: there is no such proxy.
	Upstream func(*url.URL) (*url.URL, error)
	// Refused is told of each refusal. It may be called from any goroutine. nil: nobody is
	// told.
	Refused func(Refusal)
}

// list is Rules, read.
type list struct {
	hosts   []pattern
	private map[string]bool // by target.String
}

// pattern is an entry of Rules.Hosts.
type pattern struct {
	name string // "example.com", ".example.com" for what is below it, "" for everything
	port uint16 // 0: 80 and 443
}

// target is a host that may be reached, as far as its name says.
type target struct {
	host    string // normalized name, or an address of Rules.Private
	port    uint16
	private bool // it may have a private address
	named   bool // the port was named
}

// String is "example.com:443".
func (t target) String() string { return net.JoinHostPort(t.host, strconv.Itoa(int(t.port))) }

// literal reports whether the host is an address.
func (t target) literal() bool {
	_, err := netip.ParseAddr(t.host)
	return err == nil
}

// Refusal is what the rules do not let through. It comes from programs that are not
// trusted, in printable form and bounded.
type Refusal struct {
	Host    string // "example.com:443"
	Why     string
	Entry   string // of Rules.Hosts that would let it through; "": none is missing
	Private bool   // it has no public address
}

func (r Refusal) Error() string {
	return fmt.Sprintf("ralph's sandbox does not let programs reach %s: %s", r.Host, r.Why)
}

// readRules says what is malformed.
func readRules(r Rules) (list, error) {
	l := list{private: map[string]bool{}}
	for _, s := range r.Private {
		host, port, err := split(s, 0)
		if err == nil {
			if a, bad := netip.ParseAddr(host); bad != nil || a.String() != host || a.Zone() != "" {
				host, err = name(host)
			}
		}
		if err != nil {
			return list{}, fmt.Errorf("private host %q: %w", s, err)
		}
		l.private[target{host: host, port: port}.String()] = true
	}
	for _, s := range r.Hosts {
		if l.private[s] {
			continue // an address may stand in both
		}
		p, err := readPattern(s)
		if err != nil {
			return list{}, fmt.Errorf("host %q: %w", s, err)
		}
		l.hosts = append(l.hosts, p)
	}
	return l, nil
}

func readPattern(s string) (pattern, error) {
	host, port := s, uint16(0)
	var err error
	if strings.Contains(s, ":") {
		if host, port, err = split(s, 0); err != nil {
			return pattern{}, err
		}
	}
	if host == "*" {
		return pattern{port: port}, nil
	}
	below, all := strings.CutPrefix(host, "*.")
	if host, err = name(below); err != nil {
		return pattern{}, err
	}
	if all {
		host = "." + host
	}
	return pattern{host, port}, nil
}

func (p pattern) fits(t target) bool {
	if p.port != t.port && (p.port != 0 || t.port != 80 && t.port != 443) {
		return false
	}
	switch {
	case p.name == "":
		return strings.Contains(t.host, ".") && !slices.ContainsFunc(insiders, func(s string) bool { return strings.HasSuffix(t.host, s) })
	case p.name[0] == '.':
		return strings.HasSuffix(t.host, p.name)
	}
	return t.host == p.name
}

// insiders end names that lead to no public host: behind the user's own proxy, nothing
// but the name is judged.
var insiders = []string{".localhost", ".local", ".internal", ".home.arpa"}

// judge reads what a program asked for, "host" or "host:port"; port is the one that
// counts if it names none, 0 for none. The error is a *Refusal.
func (l list) judge(asked string, port uint16) (target, error) {
	no := func(why string) (target, error) { return target{}, &Refusal{Host: printable(asked), Why: why} }
	host, port, err := split(asked, port)
	if err != nil {
		return no(err.Error())
	}
	t := target{host: host, port: port, private: true, named: true}
	if l.private[t.String()] {
		return t, nil // an address, or a name as it was listed
	}
	if t.host, err = name(host); err != nil {
		return no(err.Error())
	}
	if l.private[t.String()] {
		return t, nil
	}
	t.private, t.named = false, false
	listed := false
	for _, p := range l.hosts {
		if p.fits(t) {
			listed, t.named = true, t.named || p.port != 0
		}
	}
	if !listed {
		hint := t.entry()
		return target{}, &Refusal{Host: t.String(), Why: fmt.Sprintf("it is not in the list (network = [%q])", hint), Entry: hint}
	}
	if t.isHere() {
		return target{}, &Refusal{Host: t.String(), Why: "it is this machine"}
	}
	return t, nil
}

// isHere reports whether a name is this machine's.
func (t target) isHere() bool {
	return t.host == "localhost" || strings.HasSuffix(t.host, ".localhost")
}

// entry is what a list names to let it through.
func (t target) entry() string {
	if t.port == 80 || t.port == 443 {
		return t.host
	}
	return t.String()
}

// Entry is what a network list would have to name for a refused "host:port"; "" if nothing
// that it can name lets it through, as for an address.
func Entry(refused string) string {
	host, port, err := split(refused, 0)
	if err != nil {
		return ""
	}
	t := target{port: port}
	if t.host, err = name(host); err != nil || t.isHere() {
		return ""
	}
	return t.entry()
}

// split is "host:port"; without a port it is the one given, if that is not 0.
func split(s string, port uint16) (string, uint16, error) {
	host := s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		n, err := strconv.ParseUint(s[i+1:], 10, 16)
		if err != nil || n == 0 {
			return "", 0, errors.New("its port is not a number from 1 to 65535")
		}
		host, port = s[:i], uint16(n)
	}
	if port == 0 {
		return "", 0, errors.New("it names no port")
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host, ok = strings.CutSuffix(inner, "]")
		if !ok || !strings.Contains(host, ":") {
			return "", 0, errors.New("a bracket has no match")
		}
	} else if strings.Contains(host, ":") {
		return "", 0, errors.New("an IPv6 address needs brackets")
	}
	return host, port, nil
}

// name is a host's name in its one spelling. Addresses, in whatever spelling a resolver
// knows, are no names.
func name(s string) (string, error) {
	s = strings.TrimSuffix(strings.ToLower(s), ".")
	if s == "" || len(s) > 253 {
		return "", errors.New("it is not a host's name")
	}
	if strings.ContainsAny(s, ":%") {
		return "", errors.New("it is an address, and only names can be listed")
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return "", errors.New("it is not a host's name")
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return "", errors.New("it is not a host's name")
			}
		}
	}
	// As browsers have it: what ends in a number is an address ("127.1", "0x7f000001").
	last := s[strings.LastIndexByte(s, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); strings.Trim(last, "0123456789") == "" || ok && strings.Trim(hex, "0123456789abcdef") == "" {
		return "", errors.New("it is an address, and only names can be listed")
	}
	return s, nil
}

// printable is what a program wrote, for people.
func printable(s string) string {
	const most = 300
	if len(s) > most {
		s = s[:most] + "…"
	}
	q := strconv.QuoteToASCII(s)
	if q == `"`+s+`"` && !strings.Contains(s, " ") {
		return s
	}
	return q
}
