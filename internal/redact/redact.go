// Package redact takes secrets out of what is stored and printed: known values, in
// the forms in which programs write them, and texts that have the shape of a secret.
//
// In: values by name. Out: functions over text, and a filter for streams that finds
// a secret also where two writes meet. It imports only the standard library;
// app makes one Redactor for a run and gives it to everything that stores or prints.
package redact

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Least lengths in bytes of what is looked for: shorter values would blank words
// that are no secrets.
const (
	minValue   = 6
	minEncoded = 10 // of an encoded form
	minLine    = 16 // of one line of a value with several
)

// Redactor takes secrets out of texts. It may be used concurrently; nil takes out
// nothing.
type Redactor struct {
	raw, plain, dense *finder // of what is looked for in a text as it is, and in its views
	hold              int     // how many bytes may stand for one value
}

// needle is one form of a value, and its replacement.
type needle struct {
	form []byte
	put  []byte
	name string // of the value
}

// New returns a redactor for values by name. In their place is [secret NAME].
// Short are the names of those that are too short to be looked for.
func New(values map[string]string) (r *Redactor, short []string) {
	return build(values, func(string) bool { return true })
}

// NewSearch returns a redactor for what must be nothing but a secret where it is: of
// a value with several lines those alone count that look random.
func NewSearch(values map[string]string) *Redactor {
	r, _ := build(values, random)
	return r
}

func build(values map[string]string, line func(string) bool) (r *Redactor, short []string) {
	r = &Redactor{}
	var raw, plain, dense []needle
	seen := map[string]bool{}
	add := func(list *[]needle, kind, form, name string, least int) {
		if len(form) >= least && !seen[kind+form] {
			seen[kind+form] = true
			*list = append(*list, needle{[]byte(form), []byte("[secret " + name + "]"), name})
			wide := 8 // each byte escaped
			if kind == "dense" {
				wide = 3 // wrapped, or in strings
			}
			r.hold = max(r.hold, min(wide*len(form), most/2))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if len(strings.TrimSpace(value)) < minValue {
			if value != "" {
				short = append(short, name)
			}
			continue
		}
		for _, v := range parts(value, line) {
			for _, form := range inStrings(v) {
				add(&raw, "raw", form, name, 2)
			}
			for _, s := range []string{v, strings.ReplaceAll(v, " ", "+")} {
				p, _ := plainText([]byte(s), new(rooms))
				add(&plain, "plain", string(p), name, minValue)
			}
			for _, form := range packed(v) {
				add(&dense, "dense", form, name, minEncoded)
			}
		}
	}
	for _, list := range [][]needle{raw, plain, dense} {
		slices.SortStableFunc(list, func(a, b needle) int { return cmp.Compare(len(b.form), len(a.form)) })
	}
	r.raw, r.plain, r.dense = newFinder(raw), newFinder(plain), newFinder(dense)
	slices.Sort(short)
	return r, short
}

// parts are what of a value is looked for: all of it, without space around it, and
// those of its long lines that count.
func parts(value string, counts func(line string) bool) []string {
	out := []string{value, strings.TrimSpace(value)}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, l := range lines {
			if l = strings.TrimSpace(l); len(l) >= minLine && !strings.HasPrefix(l, "-----") && counts(l) {
				out = append(out, l)
			}
		}
	}
	return out
}

// String takes the secrets out of a text.
func (r *Redactor) String(s string) string {
	if r == nil || s == "" {
		return s
	}
	return string(r.Bytes([]byte(s)))
}

// Bytes takes the secrets out of a text, which it does not change.
func (r *Redactor) Bytes(b []byte) []byte {
	if r == nil || len(b) == 0 {
		return b
	}
	if len(b) > large {
		var out bytes.Buffer
		w := r.Filter(&out)
		_, _ = w.Write(b) // a buffer takes all
		_ = w.Close()
		return out.Bytes()
	}
	return r.bytes(b)
}

const large = 1 << 20 // bytes of a text that is looked at in parts, for the memory's sake

func (r *Redactor) bytes(b []byte) []byte {
	if found := r.spans(b); len(found) > 0 {
		var out []byte
		from := 0
		for _, s := range found {
			out = append(append(out, b[from:s.from]...), s.put...)
			from = int(s.to)
		}
		b = append(out, b[from:]...)
	}
	if shapeAnchors().has(b) {
		for i := range shapes {
			b = shapes[i].replace(b)
		}
	}
	return b
}

// span is where a value is.
type span struct {
	from, to int32
	*needle
}

// spans lists where values are, first to last, none within another.
func (r *Redactor) spans(b []byte) []span {
	if r.Empty() {
		return nil
	}
	var out []span
	in := func(f *finder, v view) {
		for i := 0; ; {
			at, which := f.next(v.text, i)
			if at < 0 {
				return
			}
			n := &f.needles[which]
			i = at + len(n.form)
			out = append(out, span{v.place(at).from, v.place(i - 1).to, n})
		}
	}
	in(r.raw, view{text: b})
	room, _ := free.Get().(*rooms) // there are no others
	defer free.Put(room)
	plain, escaped := plainText(b, room)
	room.dense = denseText(room.dense[:0], plain)
	escaped, packed := escaped && r.plain.has(plain), r.dense.has(room.dense)
	if escaped || packed {
		v := plainView(b)
		if escaped {
			in(r.plain, v)
		}
		if packed {
			in(r.dense, v.dense())
		}
	}
	if len(out) < 2 {
		return out
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	kept := out[:1]
	for _, s := range out[1:] {
		if last := &kept[len(kept)-1]; s.from >= last.to {
			kept = append(kept, s)
		} else {
			last.to = max(last.to, s.to)
		}
	}
	return kept
}

// opens returns how many bytes at the end of b may be the beginning of a value.
func (r *Redactor) opens(b []byte) int {
	if r.Empty() {
		return 0
	}
	if tail := b[max(0, len(b)-few):]; len(tail) < len(b) && r.hold > few {
		if n, sure := r.opensIn(tail); sure { // as almost always
			return n
		}
	}
	n, _ := r.opensIn(b[max(0, len(b)-r.hold):])
	return n
}

// few is how many bytes at the end are looked at first.
const few = 512

// opensIn is opens of b alone. Sure says that what is before it would change nothing.
func (r *Redactor) opensIn(b []byte) (most int, sure bool) {
	room, _ := free.Get().(*rooms) // there are no others
	defer free.Put(room)
	plain, escaped := plainText(b, room)
	open := openEscape(plain)
	closed := plain[:len(plain)-open]
	room.dense = denseText(room.dense[:0], plain)
	n, whole := r.raw.opens(b)
	inPlain, wholePlain := r.plain.opens(closed)
	inDense, wholeDense := r.dense.opens(room.dense)
	sure = !whole && !wholePlain && !wholeDense
	most = n
	if inDense < 4 && !encodedRun(b) {
		inDense = 0
	}
	if !escaped && open == 0 {
		inPlain = 0
	}
	if open+inPlain+inDense == 0 {
		return most, sure
	}
	v := plainView(b)
	if open+inPlain > 0 {
		most = max(most, len(b)-int(v.place(len(v.text)-open-inPlain).from))
	}
	if inDense > 0 {
		d := v.dense()
		most = max(most, len(b)-int(d.where[len(d.where)-inDense].from))
	}
	return most, sure
}

// encodedRun reports whether the last line ends with so much without a space that it may
// be base64 that goes on.
func encodedRun(b []byte) bool {
	b = bytes.TrimRight(b, "\r\n")
	return len(b) >= 16 && bytes.LastIndexAny(b, " \t\r\n") < len(b)-16
}
