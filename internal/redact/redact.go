// Package redact takes secrets out of what is stored and printed: known values, in
// the forms in which programs write them, and texts that have the shape of a secret.
//
// In: values by name. Out: functions over text, and a filter for streams that finds
// a secret also where two writes meet. It imports only the standard library;
// cmd/ralph makes one Redactor for a run and gives it to whoever stores or prints.
package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
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

// needle is one form of a value, and what stands in its place.
type needle struct {
	form []byte
	put  []byte
	name string // of the value
}

// New returns a redactor for values by name. In their place stands [secret NAME].
// Short are the names of those that are too short to be looked for.
func New(values map[string]string) (r *Redactor, short []string) {
	return build(values, func(string) bool { return true })
}

// NewSearch returns a redactor for what must be nothing but a secret where it stands: of
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
			r.hold = max(r.hold, min(8*len(form), most/2))
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
			add(&raw, "raw", v, name, 2)
			for _, html := range []bool{true, false} { // what ends with a backslash is no escape of its own
				add(&raw, "raw", quoted(v, html), name, 2)
			}
			for _, s := range []string{v, strings.ReplaceAll(v, " ", "+")} {
				p, _ := plainView([]byte(s))
				add(&plain, "plain", string(p.text), name, minValue)
			}
			add(&dense, "dense", hex.EncodeToString([]byte(v)), name, minEncoded)
			add(&dense, "dense", strings.ToUpper(hex.EncodeToString([]byte(v))), name, minEncoded)
			for skip := range 3 {
				add(&dense, "dense", within(base64.RawStdEncoding, v, skip), name, minEncoded)
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

// quoted is a value inside a JSON string.
func quoted(v string, html bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	_ = e.Encode(v) // a string always can
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

// within is the part of an encoded text that a value determines alone, when so many
// bytes stand before it.
func within(enc *base64.Encoding, v string, before int) string {
	s := enc.EncodeToString(append(make([]byte, before), v...))
	from := (before*8 + 5) / 6
	whole := (before + len(v)) * 8 / 6 // characters without a bit of what follows
	return s[min(from, whole):whole]
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
			from = s.to
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

// span is where a value stands.
type span struct {
	place
	*needle
}

// spans lists where values stand, first to last, none within another.
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
			out = append(out, span{place{v.place(at).from, v.place(i - 1).to}, n})
		}
	}
	in(r.raw, view{text: b})
	plain, _ := plainView(b)
	if plain.where != nil {
		in(r.plain, plain)
	}
	if d := plain.dense(false); r.dense.has(d.text) {
		in(r.dense, plain.dense(true))
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
	b = b[max(0, len(b)-r.hold):]
	most := r.raw.opens(b)
	plain, open := plainView(b)
	if n := r.plain.opens(plain.text[:len(plain.text)-tailOf(&plain, len(b)-open)]); n > 0 && (plain.where != nil || open > 0) {
		most = max(most, len(b)-plain.place(len(plain.text)-tailOf(&plain, len(b)-open)-n).from)
	}
	most = max(most, open)
	d := plain.dense(true)
	if n := r.dense.opens(d.text); n >= 4 || n > 0 && encodedRun(b) {
		most = max(most, len(b)-d.where[len(d.where)-n].from)
	}
	return most
}

// tailOf is how many bytes of a view stand at or behind a place.
func tailOf(v *view, at int) (n int) {
	for n < len(v.text) && v.place(len(v.text)-n-1).from >= at {
		n++
	}
	return n
}

// encodedRun reports whether the last line ends with so much without a space that it may
// be base64 that goes on.
func encodedRun(b []byte) bool {
	b = bytes.TrimRight(b, "\r\n")
	return len(b) >= 16 && bytes.LastIndexAny(b, " \t\r\n") < len(b)-16
}
