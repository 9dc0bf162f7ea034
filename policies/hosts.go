package policies

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// Words of a network list that are no hosts: what the runner needs, and any public host.
const (
	ModelHosts = "model"
	AnyHost    = "*"
)

// checkNetworks reports lists of hosts that no sandbox holds anybody to.
func (s *Set) checkNetworks(d *decoder) {
	usual := s.Sandboxes[DefaultSandbox] != nil
	look := func(what string, sandbox Value[string], hosts Value[[]string]) {
		if len(hosts.V) == 0 || sandbox.Set && sandbox.V != NoSandbox || !sandbox.Set && usual {
			return
		}
		instead := fmt.Sprintf("Write sandbox = sandbox.NAME beside it, or declare sandbox %q { … }, which holds wherever none is named.", DefaultSandbox)
		if sandbox.Set {
			instead = "Name another sandbox, or remove the list."
		}
		d.diags.Add(diag.New("network-without-sandbox", hosts.Range, "network means nothing without a sandbox").
			WithDetail("%s runs in no sandbox, so it reaches every host. %s", what, instead))
	}
	for _, name := range sortedKeys(s.Gates) {
		if g := s.Gates[name]; !g.Builtin && !g.Dynamic {
			look("Gate "+quoted(name), g.Sandbox, g.Network)
		}
	}
	look("Setup", s.Own.Worktree.Sandbox, s.Own.Worktree.Network)
}

// checkHosts reports what cannot be in a list of hosts, the first of it.
func (r *reader) checkHosts(v Value[[]string]) { r.checkEach("network", v, checkHost) }

// checkHost reads "example.com", "*.example.com", either with a port, "model" or "*".
func checkHost(s string) error {
	switch {
	case s == ModelHosts || s == AnyHost:
		return nil
	case s == "":
		return errors.New("a host is empty; write [] to reach none")
	case strings.EqualFold(s, "none"):
		return fmt.Errorf("%s is not a host; write [] to reach none", quoted(s))
	case strings.EqualFold(s, "all"), strings.EqualFold(s, "any"):
		return fmt.Errorf(`%s is not a host; write ["*"] for any public host`, quoted(s))
	case strings.Contains(s, "://"):
		return fmt.Errorf("%s is a URL; write the host alone: %s", quoted(s), quoted(hostOf(s)))
	case strings.Contains(s, "/"):
		return fmt.Errorf("%s has a path; write the host alone: %s", quoted(s), quoted(hostOf(s)))
	case strings.Contains(s, "@"):
		return fmt.Errorf("%s names a user; write the host alone: %s", quoted(s), quoted(hostOf(s)))
	case addressed(s):
		return fmt.Errorf(`%s is an address, and hosts are let through by name; write the name, or for a server on this machine services = ["127.0.0.1:5432"]`, quoted(s))
	}
	name, port, ported := strings.Cut(s, ":")
	if ported && !isPort(port) {
		return fmt.Errorf(`%s: after the colon there is a port from 1 to 65535, such as "example.com:8443"`, quoted(s))
	}
	if low := strings.ToLower(name); low == "localhost" || strings.HasSuffix(low, ".localhost") {
		return fmt.Errorf(`%s is this machine; write services = ["127.0.0.1:5432"], with the server's port`, quoted(s))
	}
	if !ported && spell.OneEdit(strings.ToLower(s), ModelHosts) {
		return fmt.Errorf("%s is almost %q; write that, or the full name of the host", quoted(s), ModelHosts)
	}
	return checkName(s, strings.TrimPrefix(name, "*."))
}

// checkName checks the labels of a name: of the host that s names, without "*.".
func checkName(s, name string) error {
	if strings.Contains(name, "*") {
		return fmt.Errorf(`%s: a star stands for the first words of a name only, as in "*.example.com"`, quoted(s))
	}
	for _, label := range strings.Split(name, ".") {
		switch odd := strings.IndexFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
		}); {
		case odd >= 0 && label[odd] >= 0x80:
			return fmt.Errorf(`%s has letters that are not in the network's names; write the name as it is there, as in "xn--bcher-kva.example"`, quoted(s))
		case odd >= 0, label == "", len(label) > 63, len(name) > 253, label[0] == '-', label[len(label)-1] == '-':
			return fmt.Errorf(`%s is not the name of a host; write one like "example.com", "*.example.com" or "example.com:8443"`, quoted(s))
		}
	}
	return nil
}

// hostOf is the host in a URL, with its port.
func hostOf(url string) string {
	_, after, found := strings.Cut(url, "://")
	if !found {
		after = url
	}
	host, _, _ := strings.Cut(after, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	return host
}

// addressed reports whether a host is an address, in any spelling that resolvers take:
// the last word of a name is never a number.
func addressed(s string) bool {
	if strings.HasPrefix(s, "[") || strings.Count(s, ":") > 1 {
		return true
	}
	name, _, _ := strings.Cut(s, ":")
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}

// checkService reads "127.0.0.1:5432" and "[::1]:5432".
func checkService(s string) error {
	if at, err := netip.ParseAddrPort(s); err == nil && at.Port() > 0 {
		if !at.Addr().IsLoopback() || at.Addr().Is4In6() {
			return fmt.Errorf("%s is not on this machine; services are at 127.0.0.1, other hosts are named in network", quoted(s))
		}
		return nil
	}
	if port, ok := strings.CutPrefix(strings.ToLower(s), "localhost:"); ok && isPort(port) {
		return fmt.Errorf("%s: localhost has several addresses; write %s", quoted(s), quoted("127.0.0.1:"+port))
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return fmt.Errorf("%s has no port; write it, as in %s", quoted(s), `"127.0.0.1:5432"`)
	}
	return fmt.Errorf(`%s is not the address of a server on this machine; write one like "127.0.0.1:5432"`, quoted(s))
}
