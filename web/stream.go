package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	heartbeat   = 15 * time.Second
	writeWithin = 10 * time.Second // a client that does not read is cut off
)

// stream writes server-sent events.
type stream struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
	buf []byte
}

func newStream(w http.ResponseWriter) *stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	return &stream{w: w, ctl: http.NewResponseController(w)}
}

// say adds an event that is sent with the next flush.
func (s *stream) say(id, event string, data []byte) {
	s.buf = fmt.Appendf(s.buf, "id: %s\nevent: %s\ndata: %s\n\n", id, event, data)
}

func (s *stream) flush() error {
	if err := s.ctl.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := s.w.Write(s.buf); err != nil {
		return err
	}
	s.buf = s.buf[:0]
	return s.ctl.Flush()
}

// place is how far a stream has come in an epic: 0 is unknown.
type place struct{ epoch, seq, count int64 }

// String is a place as the id of an event: its number, a hyphen, and which journal it is of.
func (p place) String() string {
	return strconv.FormatInt(p.seq, 10) + "-" + strconv.FormatInt(p.epoch, 36)
}

// placeOf reads that; the journal may be left out.
func placeOf(id string) (p place, is bool) {
	seq, epoch, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil {
		return p, false
	}
	p.seq = n
	p.epoch, _ = strconv.ParseInt(epoch, 36, 64) // 0: it is not known
	return p, true
}

// streamEpic sends the events of one epic; their ids are places.
func (s *Server) streamEpic(w http.ResponseWriter, r *http.Request) {
	l, ok := s.epic(w, r)
	if !ok {
		return
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = r.URL.Query().Get("after")
	}
	at := map[string]place{}
	if p, is := placeOf(after); is {
		at[l.id] = p
	}
	s.stream(w, r, at, func() []*live { return s.house.now(l) }, func(map[string]place) string { return at[l.id].String() })
}

// streamAll sends the events of all epics. Its ids are places: "EPIC=PLACE,EPIC=PLACE".
func (s *Server) streamAll(w http.ResponseWriter, r *http.Request) {
	at := map[string]place{}
	for part := range strings.SplitSeq(r.Header.Get("Last-Event-ID"), ",") {
		id, text, _ := strings.Cut(part, "=")
		if p, is := placeOf(text); is {
			at[id] = p
		}
	}
	s.stream(w, r, at, s.house.all, func(at map[string]place) string {
		parts := make([]string, 0, len(at))
		for _, l := range s.house.all() {
			if p, known := at[l.id]; known {
				parts = append(parts, l.id+"="+p.String())
			}
		}
		return strings.Join(parts, ",")
	})
}

// stream sends what happens in epics until the client goes. An epic that a client knows
// nothing of begins now; where it is too far behind, it is told to load everything anew.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, at map[string]place, of func() []*live, id func(map[string]place) string) {
	out := newStream(w)
	out.buf = append(out.buf, ": ralph\n\n"...)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	first := len(at) == 0
	for {
		_, moved := s.house.change()
		for _, l := range of() {
			l.news(out, at, first, id)
		}
		first = false
		if len(out.buf) > 0 {
			if err := out.flush(); err != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-moved:
		case <-beat.C:
			out.buf = append(out.buf, ": \n\n"...)
		}
	}
}

// news adds what has happened in an epic since a place.
func (l *live) news(out *stream, at map[string]place, first bool, id func(map[string]place) string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, known := at[l.id]
	now := place{l.epoch, l.rec.Run.Seq(), l.count}
	if known && was == now || !known && first { // at first, it loads everything
		at[l.id] = now
		return
	}
	fresh, whole := l.since(was.seq)
	at[l.id] = now
	switch {
	case !known, !whole, was.epoch != 0 && was.epoch != now.epoch:
		out.say(id(at), "reset", mustJSON(Entry{Epic: l.id, Seq: now.seq}))
	case len(fresh) == 0 && was.count != 0: // the lock, or a fault
		out.say(id(at), "change", mustJSON(Entry{Epic: l.id, Seq: now.seq}))
	default:
		for _, e := range fresh {
			at[l.id] = place{now.epoch, e.seq, now.count}
			out.say(id(at), "journal", e.data)
		}
		at[l.id] = now
	}
}

// told is an entry as the streams send it.
type told struct {
	seq  int64
	data []byte
}

// since are the entries after a number; whole is false if they are not all there any more.
func (l *live) since(seq int64) (fresh []told, whole bool) {
	i := len(l.ring)
	for i > 0 && l.ring[i-1].seq > seq {
		i--
	}
	return l.ring[i:], i > 0 || seq == l.rec.Run.Seq() || len(l.ring) > 0 && l.ring[0].seq == seq+1
}

// mustJSON encodes what cannot fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
