package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/internal/redact"
)

const (
	searchWindow = 1 << 20          // bytes of a file that are looked at together
	searchAcross = 4 << 10          // bytes that a hit with its colours may have: where a line is longer than a window
	mostSearched = 1 << 30          // bytes of a file that are searched
	searchTime   = 10 * time.Second // that a search takes
	mostHits     = 200              // in an answer
	mostQuery    = 256              // bytes of what is looked for
	aroundHit    = 120              // bytes of its line before and behind a hit
)

// ofSearch are the parameters of a search.
var ofSearch = []param{
	{"file", "the name of the file", false},
	{"q", "what to look for: a text within a line, upper or lower case", false},
	{"after", "only hits behind that of this number", true},
	{"limit", "at most this many, up to 200; else 50", true},
}

// search looks for a text in a file of an attempt.
func (s *Server) search(ctx context.Context, l *live, r *http.Request) (out FileSearch, err error) {
	q := r.URL.Query()
	ask := numbers{q: q}
	find := finding{query: []byte(q.Get("q")), after: ask.number("after", 0, 0), limit: int(ask.number("limit", 1, mostHits)), most: mostSearched}
	if find.limit == 0 {
		find.limit = 50
	}
	switch name := q.Get("file"); {
	case ask.err != nil:
		return out, ask.err
	case name == "":
		return out, invalid("file is the name of the file to search")
	case len(find.query) == 0:
		return out, invalid("q is what to look for")
	case len(find.query) > mostQuery:
		return out, invalid("what to look for has %d bytes; %d are possible", len(find.query), mostQuery)
	case !utf8.Valid(find.query):
		return out, invalid("what to look for is not UTF-8")
	case bytes.ContainsAny(find.query, "\r\n"):
		return out, invalid("a text of several lines cannot be looked for")
	}
	about, dir, hide, err := l.named(r)
	if err != nil {
		return out, err
	}
	f, err := openFile(dir, q.Get("file"))
	if err != nil {
		return out, unknown("%s has no file %s", about, hide.String(q.Get("file")))
	}
	defer f.Close()
	leave, err := enter(ctx, s.searches)
	if err != nil {
		return out, err
	}
	defer leave()
	st, err := f.Stat()
	if err != nil {
		return out, err
	}
	find.until = time.Now().Add(searchTime)
	return find.in(ctx, f, st.Size(), hide)
}

// enter takes one of the places for something of which only so much goes on at once.
func enter(ctx context.Context, places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// finding is a search in a file.
type finding struct {
	query []byte
	after int64     // number of a hit: those behind it are wanted
	limit int       // how many
	most  int64     // bytes that are searched
	until time.Time // when it is given up; zero: never

	line int64 // at which the window begins, from 1
	from int64 // byte at which the next hit may begin
	out  FileSearch
}

// in searches a file of some bytes. Secrets are blanked before, and colours are passed over, as
// the page does. It holds little more than a window of the file.
func (x *finding) in(ctx context.Context, f io.ReaderAt, size int64, hide *redact.Redactor) (FileSearch, error) {
	fold(x.query)
	x.line, x.out = 1, FileSearch{Size: size, Hits: []FileHit{}}
	for at := int64(0); at < size; x.out.Searched = at {
		if at >= x.most || !x.until.IsZero() && time.Now().After(x.until) {
			break
		}
		if err := ctx.Err(); err != nil {
			return x.out, err
		}
		b, err := readMasked(f, hide, at, min(at+searchWindow, size))
		if err != nil {
			return x.out, err
		}
		if len(b) == 0 { // it is shorter by now
			x.out.Size = at
			break
		}
		n := len(b)
		if at+int64(n) < size {
			n = wholePart(b)
		}
		x.window(b, at, n)
		x.line += int64(bytes.Count(b[:n], newline))
		at += int64(n)
	}
	return x.out, nil
}

var newline = []byte("\n")

// wholePart is how much of a window can be done with: its whole lines, and of a longer one what
// leaves room for a hit, and no colour cut.
func wholePart(b []byte) int {
	if n := bytes.LastIndexByte(b, '\n') + 1; n > 0 {
		return n
	}
	n := max(len(b)-searchAcross, 1)
	if i := bytes.LastIndexByte(b[:n], '\x1b'); i > 0 && n-i < 32 {
		n = i
	}
	return n
}

// window counts the hits that begin in the first n bytes of b, which is at a byte of the file.
func (x *finding) window(b []byte, at int64, n int) {
	text, cuts := withoutColours(b)
	fold(text)
	line, counted, done := x.line, 0, 0 // lines are counted up to a byte of b
	if x.from > at {
		done = min(cuts.shown(int(x.from-at)), len(text))
	}
	for {
		i := bytes.Index(text[done:], x.query)
		if i < 0 {
			return
		}
		from, to := cuts.given(done+i), cuts.given(done+i+len(x.query)-1)+1
		if from >= n {
			return
		}
		done += i + len(x.query)
		x.from = at + int64(to)
		x.out.Total++
		if x.out.Total <= x.after || len(x.out.Hits) == x.limit {
			continue
		}
		line += int64(bytes.Count(b[counted:from], newline))
		counted = from
		x.out.Hits = append(x.out.Hits, FileHit{Number: x.out.Total, Line: line, At: at + int64(from), Length: to - from, Text: around(b, from, to)})
	}
}

// around is a hit with what stands before and behind it in its line, without colours.
func around(b []byte, from, to int) string {
	begin, end := max(from-aroundHit, 0), min(to+aroundHit, len(b))
	begin += bytes.LastIndexByte(b[begin:from], '\n') + 1
	if i := bytes.IndexByte(b[to:end], '\n'); i >= 0 {
		end = to + i
	} else if end < len(b) {
		end = to + wholeRunes(b[to:end])
	}
	for begin < from && !utf8.RuneStart(b[begin]) {
		begin++
	}
	text, _ := withoutColours(b[begin:end])
	return strings.ToValidUTF8(strings.TrimSuffix(string(text), "\r"), "\ufffd")
}

// fold makes a text one of small letters, in place: every letter of which both cases take as
// many bytes, so that everything stays where it is. What is not UTF-8 stays as it is.
func fold(b []byte) {
	for i := 0; i < len(b); {
		c := b[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				b[i] = c + 'a' - 'A'
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if small := unicode.ToLower(r); small != r && utf8.RuneLen(small) == n {
			utf8.EncodeRune(b[i:], small)
		}
		i += n
	}
}

// cuts are the places in a text at which colours were taken out.
type cuts []struct{ shown, given int } // of the first byte behind one, without and with them

// given is where a byte of a text without colours is in the one with them.
func (c cuts) given(shown int) int {
	i, _ := slices.BinarySearchFunc(c, shown+1, func(x struct{ shown, given int }, at int) int { return x.shown - at })
	if i == 0 {
		return shown
	}
	return c[i-1].given + shown - c[i-1].shown
}

// shown is where a byte of a text with colours is in the one without.
func (c cuts) shown(given int) int {
	i, _ := slices.BinarySearchFunc(c, given+1, func(x struct{ shown, given int }, at int) int { return x.given - at })
	if i == 0 {
		return given
	}
	return c[i-1].shown + given - c[i-1].given
}

// withoutColours is a copy of a text without what sets colours at a terminal: ESC [ … m.
func withoutColours(b []byte) (text []byte, out cuts) {
	text = make([]byte, 0, len(b))
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte("\x1b["))
		if i < 0 {
			return append(text, b[at:]...), out
		}
		end := at + i + 2
		for end < len(b) && (b[end] >= '0' && b[end] <= '9' || b[end] == ';' || b[end] == ':') {
			end++
		}
		text = append(text, b[at:at+i]...)
		if end < len(b) && b[end] == 'm' {
			end++
			out = append(out, struct{ shown, given int }{len(text), end})
		} else { // it is something else
			text = append(text, b[at+i:end]...)
		}
		at = end
	}
}
