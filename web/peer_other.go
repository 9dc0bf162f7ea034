//go:build !linux

package web

import "net/netip"

// processesAt finds nothing: this system does not say whose a connection is.
func processesAt(_, _ netip.AddrPort) []int { return nil }

// processName is not asked for here.
func processName(int) string { return unknownPeer }
