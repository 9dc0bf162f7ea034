package redact

import (
	"bytes"
	"io"
)

// Sizes of what a filter holds back, in bytes.
const (
	enough = 8 << 10  // without an end of line so long: cut between words
	most   = 64 << 10 // one word so long: cut anywhere
)

// Filter returns a writer that hands on to w what it is given, without secrets. It
// holds back at most 64 KiB: what may be the beginning of a secret, up to the end of
// its line. Close hands on the rest, without the beginning of a secret that was cut;
// it does not close w.
func (r *Redactor) Filter(w io.Writer) io.WriteCloser {
	if r == nil {
		return plain{w}
	}
	return &filter{r: r, w: w}
}

// plain takes out nothing.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }

type filter struct {
	r    *Redactor
	w    io.Writer
	held []byte
	next int // how much is held when it is looked at again, unless a line ends before
	err  error
}

func (f *filter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0 && f.err == nil; {
		n := min(len(rest), most-min(len(f.held), most-1))
		f.held = append(f.held, rest[:n]...)
		ends := bytes.IndexByte(rest[:n], '\n') >= 0
		rest = rest[n:]
		if !ends && len(f.held) < f.next {
			continue
		}
		f.next = min(len(f.held)+enough, most)
		if cut := f.cut(); cut > 0 {
			f.pass(f.held[:cut])
			f.held = append(f.held[:0], f.held[cut:]...)
			f.next = min(len(f.held)+enough, most)
		}
	}
	return len(b), f.err
}

func (f *filter) pass(b []byte) {
	if f.err == nil && len(b) > 0 {
		_, f.err = f.w.Write(f.r.bytes(b))
	}
}

var (
	keyBegins = []byte("-----BEGIN ")
	keyEnds   = []byte("-----END ")
)

// cut is how much of what is held can go: whole lines, none of which leaves a
// secret unfinished.
func (f *filter) cut() int {
	cut := bytes.LastIndexByte(f.held, '\n') + 1
	if cut == 0 && len(f.held) >= enough {
		cut = f.wordEnd()
	}
	full := len(f.held) >= most
	if cut == 0 && full {
		cut = len(f.held)
	}
	if cut == 0 {
		return 0
	}
	early := f.r.between(f.held[:cut], cut-f.r.opens(f.held[:cut]))
	if bytes.Contains(f.held[:early], keyBegins) { // which is fast, and LastIndex is not
		if i := bytes.LastIndex(f.held[:early], keyBegins); !bytes.Contains(f.held[i:early], keyEnds) {
			early = i
		}
	}
	if early == 0 && full {
		return cut
	}
	return early
}

// between is at, or where the value begins that is there: the end of one may look like
// the beginning of another.
func (r *Redactor) between(b []byte, at int) int {
	if at == len(b) {
		return at
	}
	for _, s := range r.spans(b) {
		if int(s.from) < at && at < int(s.to) {
			return int(s.from)
		}
	}
	return at
}

// wordEnd is where the last word begins that is not finished, 0 if all is one. What
// announces a secret stays with it.
func (f *filter) wordEnd() int {
	i := bytes.LastIndexFunc(f.held, func(r rune) bool { return !inSecret(r) }) + 1
	for _, word := range []string{"earer ", "asic "} {
		if bytes.HasSuffix(f.held[:i], []byte(word)) {
			i -= len(word) + 1
		}
	}
	return max(i, 0)
}

// inSecret reports whether a secret of a known shape may hold the character.
func inSecret(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r < 128 && bytes.IndexByte([]byte("-_.~+/=:@"), byte(r)) >= 0
}

// Close hands on what is held. The beginning of a value at the end is taken out,
// too: the rest of it was cut off.
func (f *filter) Close() error {
	b := f.held
	if k := f.r.opens(b); k >= minValue && f.r.between(b, len(b)-k) == len(b)-k {
		f.pass(append(bytes.Clone(b[:len(b)-k]), "[cut]"...))
	} else {
		f.pass(b)
	}
	f.held = nil
	return f.err
}
