package web

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

const (
	tailFirst = 256 << 10 // bytes of a file's end that are sent at first
	tailPart  = 64 << 10  // bytes in an event, at most
)

// tailing sends what the programs of an attempt write, one file after the other.
type tailing struct {
	l       *live
	out     *stream
	hide    *redact.Redactor
	key     ir.Key
	step    string
	attempt int
	dir     string // of the attempt's files
	pinned  string // the only file that is wanted; "": what is being written

	was   *attemptNow // when it was looked at last
	turn  int         // index of the present one; -1: none has begun
	early bool        // it was looked at when none had
	sent  []string    // files of the present turn that were sent to their end
	name  string      // the present file; "": there is none yet
	from  int64       // where to begin in it; -1: near its end
	is    os.FileInfo // of the file that was read; nil: none was yet
	at    int64       // how far it was sent, in bytes
}

// tail streams what a program of an attempt writes.
func (s *Server) tail(w http.ResponseWriter, r *http.Request) {
	l, ok := s.epic(w, r)
	if !ok {
		return
	}
	t, err := l.tailing(r)
	if err != nil {
		send(w, r, nil, "", err)
		return
	}
	t.out = newStream(w)
	t.out.buf = append(t.out.buf, ": ralph\n\n"...)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	at, leave := s.watches.join(t.dir)
	defer leave()
	for wrote := true; ; {
		written := s.watches.written(at)
		_, moved := s.house.change()
		over, err := t.look(s.house.find(l.id) != l, wrote)
		if err == nil && len(t.out.buf) > 0 {
			err = t.out.flush()
		}
		if over || err != nil { // err: the client is gone, or does not read
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			t.out.buf = append(t.out.buf, ": \n\n"...)
		case <-moved:
		case <-written:
		}
		select {
		case <-written:
			wrote = true
		default:
			wrote = false
		}
	}
}

// tailing reads what a request wants to follow.
func (l *live) tailing(r *http.Request) (*tailing, error) {
	q := r.URL.Query()
	l.mu.Lock()
	defer l.mu.Unlock()
	v, is := l.byKey(ir.Key(r.PathValue("key")))
	if !is {
		return nil, unknown("there is no sprint %s in this epic", r.PathValue("key"))
	}
	t := &tailing{l: l, hide: l.agents().Redact, key: v.Key, step: q.Get("step"), pinned: q.Get("file"), turn: -1, from: -1}
	t.attempt, _ = strconv.Atoi(q.Get("attempt"))
	if k := len(v.Attempts) - 1; k >= 0 && t.step == "" && t.attempt == 0 {
		t.step, t.attempt = v.Attempts[k].Step, v.Attempts[k].Number
	}
	if v.AttemptIndex(t.step, t.attempt) < 0 {
		return nil, unknown("%s has no such attempt", v.Key)
	}
	t.dir = l.filesOf(v, t.step, t.attempt)
	if t.pinned == "" {
		return t, nil
	}
	if !fs.ValidPath(t.pinned) {
		return nil, unknown("there is no file %s", t.hide.String(t.pinned))
	}
	from := r.Header.Get("Last-Event-ID")
	if from == "" {
		from = q.Get("from")
	}
	if n, err := strconv.ParseInt(from, 10, 64); err == nil && n >= 0 {
		t.from = n
	}
	return t, nil
}

// look sends what is new, where something was written or the attempt has gone on; over says
// that it was the last. gone says that the epic is not followed any more.
func (t *tailing) look(gone, wrote bool) (over bool, err error) {
	now := locked(t.l, func() attemptNow { // before the files: what has ended is complete in them
		v, _ := t.l.byKey(t.key)
		return t.l.now(v, t.step, t.attempt)
	})
	now.over = now.over || gone
	if !wrote && t.was != nil && t.was.is(now) {
		return false, nil
	}
	was := now
	t.was = &was
	if t.pinned == "" {
		over, err = now.over, t.follow(now)
	} else {
		over, err = t.one(&now)
	}
	if over && err == nil {
		t.out.say(strconv.FormatInt(t.at, 10), "end", mustJSON(TailEnd{Next: now.next}))
	}
	return over, err
}

// one sends what is new of the file that is wanted.
func (t *tailing) one(now *attemptNow) (over bool, err error) {
	if t.name == "" {
		t.begin(t.pinned, t.from)
	}
	over = now.over
	if i := slices.IndexFunc(now.turns, func(x turn) bool { return x.name == turnOfFile(t.pinned) }); i >= 0 && !over {
		over = !slices.ContainsFunc(now.turns[i:], func(x turn) bool { return x.name == now.turns[i].name && !x.over })
	}
	if over && now.next == nil && !now.over { // something else of the attempt comes
		now.next = &TailOf{Step: t.step, Attempt: t.attempt}
	}
	return over, t.grow(over)
}

// follow sends what is new of the present turn, and of those that began behind it.
func (t *tailing) follow(now attemptNow) error {
	switch {
	case len(now.turns) == 0:
		t.early = true
	case t.turn < 0 && t.early: // it has followed from the beginning
		t.turn = 0
	case t.turn < 0:
		t.turn = current(now.turns)
	}
	for t.turn >= 0 {
		x := now.turns[t.turn]
		over := now.over || x.over
		for _, name := range t.unsent(x.name) {
			switch {
			case t.name == "":
				t.begin(name, -1)
			case t.name != name:
				t.begin(name, 0)
			}
			whole := over || t.askedAgain(x.name, name)
			if err := t.grow(whole); err != nil || !whole {
				return err
			}
			t.sent = append(t.sent, name)
		}
		if !over || t.turn+1 == len(now.turns) {
			return nil
		}
		t.turn++
		t.sent = t.sent[:0]
	}
	return nil
}

// unsent are the files of a turn that were not sent to their end, the present one first.
func (t *tailing) unsent(turn string) []string {
	var files []string
	for _, f := range t.files(turn) {
		switch {
		case slices.Contains(t.sent, f):
		case f == t.name:
			files = slices.Insert(files, 0, f)
		default:
			files = append(files, f)
		}
	}
	return files
}

func (t *tailing) files(turn string) []string {
	if regular.NoLinks(t.dir) != nil {
		return nil
	}
	return filesOfTurn(record.AttemptFiles(t.dir), turn)
}

// askedAgain reports whether nothing more is written to a file of a gate's agent, because it
// was asked once more.
func (t *tailing) askedAgain(turn, name string) bool {
	return !strings.Contains(name, again+".") && slices.ContainsFunc(t.files(turn), func(f string) bool { return strings.Contains(f, again+".") })
}

// begin takes another file, or the same one anew.
func (t *tailing) begin(name string, from int64) {
	t.name, t.from, t.is, t.at = name, from, nil, 0
	t.out.say(strconv.FormatInt(max(from, 0), 10), "file", mustJSON(TailOf{Step: t.step, Attempt: t.attempt, File: t.hide.String(name)}))
}

// grow sends what is new in the present file, in parts: whole lines, unless whole says that
// nothing more is written to it. The error is that of the client.
func (t *tailing) grow(whole bool) error {
	f, err := openFile(t.dir, t.name)
	if err != nil {
		return nil // not there yet, or no file any more
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	switch {
	case t.is != nil && (!os.SameFile(t.is, st) || st.Size() < t.at), t.is == nil && t.from > st.Size(): // another one is in its place
		t.begin(t.name, 0)
	case t.is == nil && t.from < 0:
		t.at = nearEnd(f, st.Size())
	case t.is == nil:
		t.at = t.from
	}
	for t.is = st; t.at < st.Size(); {
		part, err := readMasked(f, t.hide, t.at, min(t.at+tailPart, st.Size()))
		if err != nil {
			return nil
		}
		n := wholeLines(part, whole && t.at+int64(len(part)) >= st.Size())
		if n == 0 {
			return nil
		}
		t.at += int64(n)
		t.out.say(strconv.FormatInt(t.at, 10), "line", mustJSON(TailLine{Text: string(part[:n])}))
		if err := t.out.flush(); err != nil {
			return err
		}
	}
	return nil
}

// nearEnd is where the last lines of a file begin that are sent at first.
func nearEnd(f io.ReaderAt, size int64) int64 {
	from := size - tailFirst
	if from <= 0 {
		return 0
	}
	b := make([]byte, tailPart)
	n, err := f.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return from
	}
	b = b[:n]
	i := bytes.IndexByte(b, '\n') + 1
	for i < min(len(b), utf8.UTFMax-1) && !utf8.RuneStart(b[i]) {
		i++
	}
	return from + int64(i)
}

// wholeLines is how much of a part of a file can be sent: its whole lines, all of the last
// part, and whole characters of a line that is longer than a part.
func wholeLines(part []byte, last bool) int {
	i := bytes.LastIndexByte(part, '\n') + 1
	switch {
	case last:
		return len(part)
	case i > 0:
		return i
	case len(part) < tailPart:
		return 0
	}
	return wholeRunes(part)
}
