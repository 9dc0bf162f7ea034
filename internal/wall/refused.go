package wall

import (
	"maps"
	"strings"
	"sync"
)

// Refused counts the hosts that a sandbox refuses; Add fits Egress.Refused. Its methods may
// be called from any goroutine.
type Refused struct {
	mu    sync.Mutex // guards times
	times map[string]int
}

// maxHosts bounds how many different hosts are counted.
const maxHosts = 1000

// Add counts a host that was asked for in vain.
func (r *Refused) Add(host, why string) {
	if strings.Contains(why, "public address") { // it may well be in the list
		host += " (no public address)"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.times == nil {
		r.times = map[string]int{}
	}
	if len(r.times) < maxHosts || r.times[host] > 0 {
		r.times[host]++
	}
}

// Times says how often each host was asked for.
func (r *Refused) Times() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.times)
}
