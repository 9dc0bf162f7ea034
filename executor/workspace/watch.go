package workspace

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

var _ executor.Watch = (*watch)(nil)

// watch compares what is the user's, and the epic's refs, with what they were. It
// reads files, never through a pipe, and runs git only to read a configuration file
// that has changed and to ask whether a ref moved forward.
//
//	at each look          settings (.git/config, what it includes, config.worktree), hooks, info/,
//	                      the same of submodules and of other worktrees (watch_modules.go),
//	                      branches and tags, refs of this epic, what is stashed
//	before each effect    the refs that it may move
//	at start and end      other refs, the user's checkout (watch_checkout.go)
//
// What was seen last is kept in memory. What is on record is kept in trusted.json,
// with which the next run compares when this one is cut; the files that settings
// stand in, hooks and info/ are kept beside it, so that they can be put back.
// Together looks take at most about a tenth of the time: one that would come too
// soon is left to the next, which then names the attempts of both.
type watch struct {
	s     *space
	clean func(string) string // takes secrets out
	files fileCache
	own   ownRefs

	branchOf map[string]ir.NodeID // by ref

	mu        sync.Mutex // guards the rest
	last      facts      // as seen last; refs also where ralph put them since
	trust     facts      // as on record
	routes    routes     // as trusted when the watch began
	unsaved   bool       // trust is not what trusted.json says
	checkout  *checkout
	flight    map[string]executor.During   // effects at work, by key
	ended     []executor.During            // since the last look
	next      time.Time                    // before this no look
	made      map[string][]executor.During // attempts in flight when a branch or tag was made
	moved     map[string]bool              // refs of the epic that others moved, and ralph not since
	copies    map[string]string            // files to keep, by where; "": done
	room      int64                        // for them
	readAt    time.Time                    // when the refs were about to be read
	saidStash string                       // what was said of the stash last, see Drift.ID
}

// facts are what is watched.
type facts struct {
	Settings map[string]setting `json:"settings"`
	Refs     map[string]string  `json:"refs"` // "ref: …" if symbolic
	Dirs     map[string]bool    `json:"dirs"` // other git directories, as shown
}

// setting is a value, a hook, a file.
type setting struct {
	Value string `json:"value"`
	Set   string `json:"set"` // command that makes it so
	unset string // command that takes it away
	file  bool   // it is a file
}

func (f facts) clone() facts {
	return facts{maps.Clone(f.Settings), maps.Clone(f.Refs), maps.Clone(f.Dirs)}
}

// Watch returns the repository's watch for a run. clean removes secrets from what is
// reported; nil removes nothing. The caller holds the run lock.
func (s Checkout) Watch(clean func(string) string) executor.Watch {
	if clean == nil {
		clean = func(s string) string { return s }
	}
	w := &watch{s: s.space, clean: clean, copies: map[string]string{}, made: map[string][]executor.During{}, moved: map[string]bool{}, room: maxCopies, flight: map[string]executor.During{}, branchOf: map[string]ir.NodeID{}}
	for id, n := range s.nodes {
		w.branchOf["refs/heads/"+n.Git.Branch] = id
	}
	return w
}

// read reads what is watched, as it is now.
func (w *watch) read() facts {
	f := w.settings()
	f.Refs = w.refs()
	w.keepFiles()
	return f
}

// Start implements executor.Watch.
func (w *watch) Start(open []executor.Drift, cut bool, during []executor.During, pins []executor.Pin) []executor.Sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.s.git.own = &w.own
	w.last = w.read()
	w.trust, w.unsaved = w.last.clone(), true
	w.checkout = w.keepWork()
	was, around, err := w.load(w.last)
	if w.routes = w.routesIn(w.last); cut && err == nil {
		w.routes = w.routesIn(was)
	}
	out, known := w.openNow(open, w.onRecord(pins))
	w.noteMoved(out)
	if !cut {
		_ = w.save() // it says nothing about a run that has not begun; Keep tries again
		return out
	}
	if err != nil {
		s := executor.Sighting{Thing: executor.ThingSetting, Drift: executor.Drift{
			What: w.shown(w.trusted()), Was: "what the interrupted run had trusted", Is: "unreadable: later changes cannot be determined",
		}}
		if !known[s.What] {
			out = append(out, s)
		}
		return out
	}
	seen := append(w.sinceCut(was, around, known), w.unpinned(pins, known)...)
	for i := range seen {
		if seen[i].Thing != executor.ThingOther { // of these the time of change is unknown
			seen[i].During = during
		}
	}
	w.noteMoved(seen)
	return append(out, seen...)
}

// openNow says which of the changes that are on record are otherwise by now, and which
// are on record.
func (w *watch) openNow(open []executor.Drift, onRecord map[string][]string) (out []executor.Sighting, known map[string]bool) {
	known = map[string]bool{}
	for _, c := range open {
		known[c.What] = true
		if t, _, _ := w.thing(c.What); t == executor.ThingOwn {
			w.moved[c.What] = true
		}
		is := w.valueOf(c)
		if at := onRecord[c.What]; len(at) > 0 && !slices.Contains(at, c.Was) { // ralph has put it elsewhere since
			out = w.over(out, c.What, c.Is)
			if !slices.Contains(at, is) {
				out = append(out, w.refSighting(c.What, at[len(at)-1], is))
			}
		} else if is != c.Is {
			s := w.sighting(c.What, c.Was, is)
			s.Back = c.Back
			out = append(out, s)
		}
	}
	return out, known
}

// sinceCut compares what is there with what the interrupted run had trusted, but for
// what is known and what the journal knows.
func (w *watch) sinceCut(was facts, around *checkout, known map[string]bool) []executor.Sighting {
	now := w.last
	w.last = was
	for name := range known {
		list, _ := w.manyRefs(name)
		for ref := range list {
			copyEntry(was.Refs, now.Refs, ref)
		}
		copyEntry(was.Settings, now.Settings, name)
		copyEntry(was.Refs, now.Refs, name)
	}
	for _, ref := range union(was.Refs, now.Refs) { // these are in the journal
		if t, _, _ := w.thing(ref); t == executor.ThingOwn {
			copyEntry(was.Refs, now.Refs, ref)
		}
	}
	seen := w.compare(now, true)
	if around != nil {
		if around.Stash == nil {
			around.Stash = w.checkout.Stash
		}
		seen = append(seen, around.compare(w, w.checkout)...)
	}
	return seen
}

// noteMoved remembers which refs of the epic others have moved.
func (w *watch) noteMoved(list []executor.Sighting) {
	for _, s := range list {
		if s.Thing == executor.ThingOwn && !s.Over {
			w.moved[s.What] = true
		}
	}
}

// Begin implements executor.Watch.
func (w *watch) Begin(e executor.Effect) []executor.Sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []executor.Sighting
	looked := false
	if e.Kind.Foreign() {
		out, looked = w.look()
	}
	if !looked {
		out = w.lookAt(e)
	}
	if !e.Kind.Foreign() {
		return out
	}
	w.flight[e.Key("")] = executor.During{Node: e.Node, Step: e.Step, Attempt: e.Attempt}
	return out
}

// End implements executor.Watch.
func (w *watch) End(e executor.Effect) []executor.Sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	out, looked := w.look()
	if !looked {
		out = w.lookAt(e)
	}
	d := w.flight[e.Key("")]
	delete(w.flight, e.Key(""))
	if !looked && !slices.Contains(w.ended, d) {
		w.ended = append(w.ended, d) // the next look is about it, too
	}
	return out
}

// Finish implements executor.Watch.
func (w *watch) Finish() []executor.Sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files.forget() // also what was written in place within one tick of the clock
	during := w.during()
	w.own.take(w.last.Refs)
	out := w.sightStash(w.compare(w.read(), true))
	w.name(out, during)
	return append(out, slices.DeleteFunc(w.checkout.compare(w, w.lookAround(nil)), func(s executor.Sighting) bool {
		return s.What == stashRef && s.Drift.ID() == w.saidStash
	})...)
}

// Keep implements executor.Watch.
func (w *watch) Keep(done []executor.Sighting) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range done {
		switch {
		case s.Thing == executor.ThingForeign && s.Is == "":
			delete(w.trust.Refs, s.What)
		case s.Thing == executor.ThingForeign:
			w.trust.Refs[s.What] = s.Is
		case s.Thing != executor.ThingSetting && s.Thing != executor.ThingRoute:
			continue
		case s.Is == "":
			delete(w.trust.Settings, s.What)
		default:
			if now := w.last.Settings[s.What]; now.Value == s.Is {
				w.trust.Settings[s.What] = now
			}
		}
		w.unsaved = true
	}
	if !w.unsaved {
		return nil
	}
	return w.save()
}

// look compares what is watched all the time, unless it was looked at just now.
func (w *watch) look() (out []executor.Sighting, looked bool) {
	begun := time.Now()
	if begun.Before(w.next) {
		return nil, false
	}
	during := w.during()
	w.own.take(w.last.Refs)
	out = w.sightStash(w.compare(w.read(), false))
	w.ended = nil
	w.name(out, during)
	w.next = time.Now().Add(10 * time.Since(begun))
	return out, true
}

// sighting is the one of a change whose name is known.
func (w *watch) sighting(what, was, is string) executor.Sighting {
	if strings.HasPrefix(what, "refs/") {
		return w.refSighting(what, was, is)
	}
	return w.settingSighting(what, was, is)
}

// valueOf is what a change is about, as it is now.
func (w *watch) valueOf(c executor.Drift) string {
	if list, ok := w.manyRefs(c.What); ok {
		for ref, was := range list {
			if w.last.Refs[ref] != was {
				return c.Is
			}
		}
		return c.Was
	}
	if strings.HasPrefix(c.What, "refs/") {
		return w.last.Refs[c.What]
	}
	if c.What == w.shown(w.trusted()) {
		return c.Is // it cannot be restored
	}
	return w.last.Settings[c.What].Value
}

// shown is a path as people see it from the top of their checkout.
func (w *watch) shown(path string) string {
	if rel, err := filepath.Rel(w.s.top, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// forward reports whether a ref is new, or what it was is an ancestor of what it is.
func (w *watch) forward(was, is string) bool {
	if was == "" || is == "" {
		return was == ""
	}
	if !isOid(was) || !isOid(is) {
		return false
	}
	q := w.git().asking(context.Background())
	from, to := q.ref(was+"^{commit}"), q.ref(is+"^{commit}")
	return from != "" && to != "" && q.ancestor(from, to)
}

// git is the one by which the watch asks: it does not wait long.
func (w *watch) git() *git {
	g := *w.s.git
	g.patience = min(g.patience, time.Minute)
	return &g
}

// clip bounds what an event says of a value, and keeps it apart from others.
func clip(s string) string {
	if len(s) <= maxValue {
		return s
	}
	return oneLine(s, maxValue) + fmt.Sprintf("… (sha256 %.12s)", digestOf([]byte(s)))
}

// maxValue bounds a value in an event, in bytes.
const maxValue = 300
