// Package egress is an HTTP proxy that lets through only the hosts it was told of. It
// stands between programs in a sandbox and the network: no link, name or spelling of an
// address leads to another host, or to this machine.
//
// In: rules, and listening sockets whose clients are not trusted. Out: what was
// refused, and why. It imports only the standard library; internal/sandbox uses it.
package egress
