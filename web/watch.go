package web

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/internal/regular"
)

const (
	tailEvery  = 250 * time.Millisecond // at files that are written to
	tailSeldom = time.Second            // at files that are not
)

// watches are the directories of attempts that tails follow: each is looked at for all its
// listeners, more seldom while nothing is written there.
type watches struct {
	mu    sync.Mutex // guards the following, and what it holds
	by    map[string]*watched
	looks int // at directories
}

// watched is a directory that is looked at.
type watched struct {
	dir       string
	listeners int
	mark      string        // what its files were like
	moved     chan struct{} // closed when they are not any more
	every     time.Duration
	due       time.Time
}

// join begins to look at a directory, until leave.
func (w *watches) join(dir string) (at *watched, leave func()) {
	mark := markOf(dir)
	w.mu.Lock()
	defer w.mu.Unlock()
	at = w.by[dir]
	if at == nil {
		at = &watched{dir: dir, mark: mark, moved: make(chan struct{}), every: tailEvery, due: time.Now().Add(tailEvery)}
		if w.by == nil {
			w.by = map[string]*watched{}
		}
		w.by[dir] = at
	}
	at.listeners++
	return at, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if at.listeners--; at.listeners == 0 {
			delete(w.by, dir)
		}
	}
}

// written is closed at the next change of a directory's files.
func (w *watches) written(at *watched) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return at.moved
}

// follow looks again and again, until ctx ends.
func (w *watches) follow(ctx context.Context) {
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for _, at := range w.dueAt(now) {
				w.saw(at, markOf(at.dir), now)
			}
		}
	}
}

// dueAt are the directories that have not been looked at for long enough.
func (w *watches) dueAt(now time.Time) (out []*watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.by {
		if !now.Before(at.due) {
			out = append(out, at)
		}
	}
	w.looks += len(out)
	return out
}

// saw takes up what a directory's files are like.
func (w *watches) saw(at *watched, mark string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if mark == at.mark {
		at.every = min(2*at.every, tailSeldom)
	} else {
		at.mark, at.every = mark, tailEvery
		close(at.moved)
		at.moved = make(chan struct{})
	}
	at.due = now.Add(at.every - tailEvery/2) // ticks come about then
}

// markOf changes when something is written to a directory's files.
func markOf(dir string) string {
	if regular.NoLinks(dir) != nil {
		return ""
	}
	var b strings.Builder
	for _, f := range record.AttemptFiles(dir) {
		fmt.Fprintf(&b, "%s %d %d\n", f.Name, f.Size, f.At.UnixNano())
	}
	return b.String()
}
