package egress

import "net/netip"

// special are addresses that look public, and are not.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"168.63.129.16/32", // a cloud's service for its own machines
	"2001::/23",        // Teredo and other protocols
	"2001:db8::/32", "2002::/16", "3fff::/20",
)

// Of IPv6, only this is public: not NAT64, nor what holds an IPv4 address otherwise.
var unicast6, shared4 = netip.MustParsePrefix("2000::/3"), netip.MustParsePrefix("100.64.0.0/10")

func prefixes(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// public reports whether an address is one of the internet.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" || a.Is6() && !unicast6.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// private reports whether an address is of this machine or its network: what a host of
// Rules.Private may have. Link-local addresses are not: clouds keep keys there.
func private(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || shared4.Contains(a)
}
