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
	told     bool      // nobody was told yet that it is another one
}

// slowly is an answer that was made when the epic had changed count times.
type slowly struct {
	count int64
	at    time.Time
	value any
}

// remembered is an answer that is kept: for as long as nothing changes, and for some time in
// any case, so that a busy run does not make it again and again.
func remembered[T any](ctx context.Context, l *live, what string, least time.Duration, make func(ctx context.Context) (T, error)) (T, error) {
	count := locked(l, func() int64 { return l.count })
	l.slow.mu.Lock()
	defer l.slow.mu.Unlock()
	if k, is := l.slow.kept[what]; is && (k.count == count || time.Since(k.at) < least) {
		if v, is := k.value.(T); is {
			return v, nil
		}
	}
	v, err := make(ctx)
	if err != nil {
		return v, err
	}
	if l.slow.kept == nil {
		l.slow.kept = map[string]slowly{}
	}
	l.slow.kept[what] = slowly{count, time.Now(), v}
	return v, nil
}
