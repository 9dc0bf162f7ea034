package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

const (
	lookEvery = 200 * time.Millisecond // at a journal
	listEvery = 2 * time.Second        // for new epics
	ringSize  = 4096                   // entries that streams can go back
	mostMade  = 256                    // answers about an epic that are kept
)

// live is an epic whose record follows its journal.
type live struct {
	id   string // in URLs
	repo *repository

	looking sync.Mutex // one look at a time; it is taken before mu

	// Guards what is below it. No program is called and nothing long is read under it.
	mu     sync.Mutex
	rec    *record.Followed
	crew   *run.Crew          // of the epic, made when it is asked for
	count  int64              // of changes
	made   map[string]made    // answers since the last change, by what was asked
	ring   []told             // what streams were told, newest last
	epoch  int64              // of the ring: it goes up when the record was made anew
	known  *shape             // of its epic
	kinds  kindCounts         // of its events
	seen   []machine.NodeView // since the last change; nil: nobody has looked yet
	broken string             // why the record may be old
	retry  time.Time          // not before that: while it is broken

	outside outside

	slow slow // what is made beside the mutex
}

// made is an answer.
type made struct {
	body []byte
	etag string
}

// repository is one that the server was started for.
type repository struct {
	record.Repository
	id string

	// Of house.list alone.
	listed []string          // files, when twice was made
	twice  map[string]string // what files were like whose epic is followed from another file

	trouble map[string]string // why a file is not shown; the house's mutex guards it
}

// house is everything that is followed.
type house struct {
	repos []*repository

	mu    sync.Mutex
	lives map[string]*live // by id
	order []string         // ids, repositories in the order of the arguments
	moved chan struct{}    // closed at the next change of anything
	count int64
}

// newHouse finds the repositories and opens their epics.
func newHouse(ctx context.Context, dirs []string) (*house, error) {
	h := &house{lives: map[string]*live{}, moved: make(chan struct{})}
	known := map[string]bool{}
	for _, dir := range dirs {
		r, err := record.RepositoryOf(ctx, dir)
		if err != nil {
			return nil, err
		}
		if known[r.Git] {
			continue // two worktrees of one repository
		}
		known[r.Git] = true
		h.repos = append(h.repos, &repository{Repository: r, id: record.PageRepository(r.Git), twice: map[string]string{}, trouble: map[string]string{}})
	}
	h.list(ctx)
	return h, nil
}

// follow looks at everything again and again, until ctx ends.
func (h *house) follow(ctx context.Context) {
	look, list := time.NewTicker(lookEvery), time.NewTicker(listEvery)
	defer look.Stop()
	defer list.Stop()
	for {
		select {
		case <-ctx.Done():
			for _, l := range h.all() {
				l.close()
			}
			return
		case <-list.C:
			if h.list(ctx) {
				h.tell()
			}
		case <-look.C:
			changed := false
			for _, l := range h.all() {
				changed = l.look(ctx) || changed
			}
			if changed {
				h.tell()
			}
		}
	}
}

// tell wakes whoever waits for a change.
func (h *house) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	close(h.moved)
	h.moved = make(chan struct{})
}

// change returns how often anything has changed, and what is closed when it does again.
func (h *house) change() (int64, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count, h.moved
}

func (h *house) find(id string) *live {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lives[id]
}

// now is the epic that is followed in the place of one: its file may be another one.
func (h *house) now(l *live) []*live {
	if l = h.find(l.id); l == nil {
		return nil
	}
	return []*live{l}
}

func (h *house) all() []*live {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*live, 0, len(h.order))
	for _, id := range h.order {
		out = append(out, h.lives[id])
	}
	return out
}

func newLive(repo *repository, rec *record.Followed) *live {
	return &live{id: repo.id + "." + string(rec.Epic.Epic.ID), repo: repo, rec: rec, made: map[string]made{}, epoch: time.Now().UnixNano()}
}

// look brings the record up to date, and reports whether anything has changed.
func (l *live) look(ctx context.Context) bool {
	l.looking.Lock()
	defer l.looking.Unlock()
	if locked(l, func() bool { return l.broken != "" && time.Now().Before(l.retry) }) {
		return false
	}
	news, err := l.rec.Read(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	var fresh record.Fresh
	if err == nil {
		fresh, err = l.rec.Take(news)
	}
	why := ""
	if err != nil {
		why, l.retry = err.Error(), time.Now().Add(listEvery) // it reads everything
	}
	if !fresh.Any() && why == l.broken {
		return false
	}
	l.broken = why
	l.changed()
	l.seen = nil
	if fresh.Again {
		l.ring = nil
		l.epoch++
	}
	if l.crew != nil && l.known != nil && l.known.of != l.rec.Epic {
		l.dismiss()
	}
	for _, e := range fresh.Events {
		l.ring = append(l.ring, told{e.Seq, mustJSON(l.entry(e))})
	}
	if over := len(l.ring) - ringSize; over > ringSize { // moved rarely
		l.ring = slices.Clone(l.ring[over:])
	}
	return true
}

// changed makes what was made before stale.
func (l *live) changed() {
	l.count++
	clear(l.made)
}

// close ends the following.
func (l *live) close() {
	l.looking.Lock()
	defer l.looking.Unlock()
	_ = l.rec.Close() // nothing was written
}

// views are the sprints as they are now.
func (l *live) views() []machine.NodeView {
	if l.seen == nil {
		l.seen = l.rec.Run.Views()
	}
	return l.seen
}

// agents are the epic's runners, which know what is secret and how to join a session. They
// start nothing here.
func (l *live) agents() *run.Crew {
	if l.crew == nil {
		l.crew = run.NewCrew(l.rec.Epic)
	}
	return l.crew
}

// dismiss drops the runners.
func (l *live) dismiss() {
	if l.crew != nil {
		_ = l.crew.Close() // they have started nothing
		l.crew = nil
	}
}

// entry is an event that was just applied, in words.
func (l *live) entry(e executor.Event) Entry {
	out := l.described(e)
	if e.Node != "" {
		if v, is := l.rec.Run.View(e.Node); is {
			out.Status = v.Status.String()
		}
	}
	return out
}

// described is an event in words.
func (l *live) described(e executor.Event) Entry {
	out := Entry{Epic: l.id, Seq: e.Seq, At: e.At, Kind: e.Kind(), Text: words.Event(e, l.rec.Key)}
	if e.Node != "" {
		out.Key = ir.Key(l.rec.Key(e.Node))
	}
	return out
}

// answer returns an answer as JSON, made anew only after a change. build runs under the
// epic's mutex.
func (l *live) answer(what string, build func() (any, error)) (body []byte, etag string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, is := l.made[what]; is {
		return m.body, m.etag, nil
	}
	v, err := build()
	if err != nil {
		return nil, "", err
	}
	if body, etag, err = encoded(v); err == nil {
		if len(l.made) >= mostMade {
			clear(l.made)
		}
		l.made[what] = made{body, etag}
	}
	return body, etag, err
}

// encoded is a value as JSON, and the ETag of that.
func encoded(v any) (body []byte, etag string, err error) {
	if body, err = json.Marshal(v); err != nil {
		return nil, "", err
	}
	return body, etagOf(body), nil
}

// etagOf names what an answer says. It is weak: the same is sent compressed to who takes that.
func etagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `W/"` + hex.EncodeToString(sum[:8]) + `"`
}

// has reports whether a client has what an ETag names (RFC 9110, 13.1.2).
func has(r *http.Request, etag string) bool {
	for given := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if given = strings.TrimSpace(given); given == "*" || strings.TrimPrefix(given, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}
