package web

import (
	"context"
	"sync"
	"time"
)

// slow are the answers about an epic that take git, the disk or time. They are made beside
// its mutex, one at a time, and kept until something changes.
type slow struct {
	mu   sync.Mutex
	kept map[string]slowly

	// Guarded by the epic's mutex.
	wanted   bool      // a forecast is asked for
	forecast *Forecast // the last one; nil: none can be made
	of       int64     // count that it is of
	due      time.Time // not before that again
}

// keptFor is how long an answer counts although nothing changes in the journal: it may depend
// on files, too.
const keptFor = 30 * time.Second

// slowly is an answer that was made when the epic had changed count times.
type slowly struct {
	count int64
	at    time.Time
	value any
}

// remembered is an answer that is kept: for as long as nothing changes, and while a run is at
// work for some time in any case, so that its events do not make it again and again.
func remembered[T any](ctx context.Context, l *live, what string, least time.Duration, build func(ctx context.Context) (T, error)) (T, error) {
	l.slow.mu.Lock()
	defer l.slow.mu.Unlock()
	l.mu.Lock()
	count := l.count
	if !l.rec.Held { // the next change may be far
		least = 0
	}
	l.mu.Unlock()
	if k, is := l.slow.kept[what]; is && (k.count == count && time.Since(k.at) < keptFor || time.Since(k.at) < least) {
		if v, is := k.value.(T); is {
			return v, nil
		}
	}
	v, err := build(ctx)
	if err != nil {
		return v, err
	}
	if l.slow.kept == nil {
		l.slow.kept = map[string]slowly{}
	}
	l.slow.kept[what] = slowly{count, time.Now(), v}
	return v, nil
}
