package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/journal"
)

// unknownPeer is the name of a program that cannot be found.
const unknownPeer = "unknown"

// peerOf names the program that sent a request about an epic; it refuses one that a run has
// started. That is a guard rail and no wall: a program that is gone when it is looked for is
// unknown, and so are those of others.
func (l *live) peerOf(r *http.Request) (name string, err error) {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	own, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if err != nil || !is {
		return unknownPeer, nil
	}
	to, err := netip.ParseAddrPort(own.String())
	if err != nil {
		return unknownPeer, nil
	}
	pids := processesAt(from, to)
	if len(pids) == 0 {
		return unknownPeer, nil
	}
	slices.Sort(pids)
	var holder journal.Owner
	held := locked(l, func() bool { holder = l.rec.Holder; return l.rec.Held })
	for _, pid := range pids { // all that have the connection
		if err := run.RefuseSender(pid, holder, held); err != nil {
			return "", err
		}
	}
	return processName(pids[0]), nil
}

// printable is a program's name as it can be stored and shown: the program chose it.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f {
			return '?'
		}
		return r
	}, strings.TrimSpace(name))
}
