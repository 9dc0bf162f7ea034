package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/ralph-compiler/ralph/internal/lines"
)

// heard is an event as it came, and what was read of it.
type heard struct {
	raw []byte // nil: the stream began again, and what happened meanwhile is not known
	event
}

// maxEvent bounds one event, in bytes; longer ones are skipped.
const maxEvent = 16 << 20

// listen sends the directory's events until ctx ends, then closes out. The server
// repeats nothing: whenever the stream begins, also for the first time, a heard
// without raw comes before its events, so that a listener can look by itself.
func (a api) listen(ctx context.Context, out chan<- heard) {
	defer close(out)
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 2*time.Second) {
		if a.stream(ctx, out) {
			wait = 50 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// silence is how long a stream may say nothing: heartbeats come every ten seconds.
const silence = 45 * time.Second

// stream reads one stream to its end and reports whether it began.
func (a api) stream(ctx context.Context, out chan<- heard) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	req, err := a.request(ctx, http.MethodGet, "/event", nil)
	if err != nil {
		return false
	}
	res, err := a.http.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return false
	}
	tell := func(h heard) bool {
		select {
		case out <- h:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if !tell(heard{}) {
		return true
	}
	in := lines.Cutter{Max: maxEvent, Each: func(line []byte, _ bool) error {
		quiet.Reset(silence)
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			return nil
		}
		h := heard{raw: bytes.TrimSpace(bytes.Clone(data))}
		if json.Unmarshal(h.raw, &h.event) != nil {
			// A kind whose properties are of other types than those that are known.
			var kind struct {
				Type string `json:"type"`
			}
			if json.Unmarshal(h.raw, &kind) != nil {
				return nil
			}
			h.event = event{Type: kind.Type}
		}
		if !tell(h) {
			return ctx.Err()
		}
		return nil
	}}
	_, _ = io.Copy(&in, res.Body) // however it ends, it begins again
	return true
}
