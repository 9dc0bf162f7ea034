package wall

import (
	"maps"
	"slices"
	"sync"
)

// Refused counts the hosts that a sandbox refuses; Add fits Egress.Refused. Its methods may
// be called from any goroutine.
type Refused struct {
	mu       sync.Mutex // guards what follows
	times    map[string]int
	unlisted map[string]bool // by what would have let it through
}

// maxHosts bounds how many different hosts are counted.
const maxHosts = 1000

// Add counts a host that was asked for in vain.
func (r *Refused) Add(d Denial) {
	host := d.Host
	if d.Private {
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
	if d.Entry != "" && len(r.unlisted) < maxHosts {
		if r.unlisted == nil {
			r.unlisted = map[string]bool{}
		}
		r.unlisted[d.Entry] = true
	}
}

// Clear forgets all of them.
func (r *Refused) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times, r.unlisted = nil, nil
}

// Unlisted are the entries of a list of hosts that would let through what was refused
// because none did, in order.
func (r *Refused) Unlisted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.unlisted))
}

// Times says how often each host was asked for.
func (r *Refused) Times() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.times)
}
