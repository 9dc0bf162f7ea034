package workspace

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// ownRefs knows where ralph puts refs, so that it is not taken for someone else.
type ownRefs struct {
	mu    sync.Mutex // guards the rest
	refs  map[string][]placed
	fresh map[string]string // where ralph put refs since take was called
}

// placed is where ralph put a ref, and until when it was there; zero: it still is.
type placed struct {
	at    string
	until time.Time
}

// moving notes where refs are about to go; the result is told whether they went.
func (o *ownRefs) moving(moves []move) func(bool) {
	if o == nil {
		return func(bool) {}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refs == nil {
		o.refs, o.fresh = map[string][]placed{}, map[string]string{}
	}
	for _, m := range moves {
		o.refs[m.ref] = append(o.refs[m.ref], placed{at: m.old}, placed{at: m.new})
	}
	return func(done bool) {
		if !done { // it may have come to it or not
			return
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		now := time.Now()
		for _, m := range moves {
			list := o.refs[m.ref]
			for i := range list {
				if list[i].until.IsZero() {
					list[i].until = now
				}
			}
			list = slices.DeleteFunc(list, func(p placed) bool {
				return p.at == m.new || now.Sub(p.until) > time.Minute // longer than it takes to read the refs
			})
			o.refs[m.ref] = append(list, placed{at: m.new})
			o.fresh[m.ref] = m.new
		}
	}
}

// take adds to refs where ralph has put them since it was called last.
func (o *ownRefs) take(refs map[string]string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.Copy(refs, o.fresh)
	clear(o.fresh)
}

// stands is where ralph put a ref last, "" if that is not known.
func (o *ownRefs) stands(ref string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := ""
	for _, p := range o.refs[ref] {
		switch {
		case !p.until.IsZero():
		case at != "": // it is on its way
			return ""
		default:
			at = p.at
		}
	}
	return at
}

// put reports whether ralph had put a ref there at some time since.
func (o *ownRefs) put(ref, at string, since time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.refs[ref], func(p placed) bool {
		return p.at == at && (p.until.IsZero() || p.until.After(since))
	})
}
