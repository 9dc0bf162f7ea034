package ir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// Encode returns the canonical bytes of e, the content of epic.json: keys in
// the order of the types, maps sorted by key, two-space indent, LF, one scalar
// a line, no HTML escaping, every field present (nil is [] or {}) but for those
// that are left out while they are empty (omitempty in the types), embedded
// JSON with sorted keys and its number literals as they were, invalid UTF-8
// replaced by U+FFFD, a final newline. The field "digest" is computed: the
// SHA-256 of the whole file with "" in its place. e is not changed (its Digest
// is ignored); the digests of nodes are written as they are, see Seal.
//
// It fails only on embedded JSON that is not JSON, and on map keys that become
// equal when invalid UTF-8 in them is replaced.
func Encode(e *Epic) ([]byte, error) {
	bare := *e
	bare.Digest = ""
	enc := encoder{}
	enc.value(epicShape(), reflect.ValueOf(&bare).Elem(), 0)
	if enc.err != nil {
		return nil, fmt.Errorf("encode epic %s: %w", e.Epic.ID, enc.err)
	}
	b := append(enc.b, '\n')

	// The digest is the last field, so its place is known: before `"\n}\n`.
	sum := sha256.Sum256(b)
	const tail = "\"\n}\n"
	b = append(b[:len(b)-len(tail)], "sha256:"...)
	b = hex.AppendEncode(b, sum[:])
	return append(b, tail...), nil
}

// encoder appends canonical JSON. Its error is the first one.
type encoder struct {
	b    []byte
	err  error
	docs rawDocs
}

// indents is a line end and the deepest usual indent; a slice of it is both.
const indents = "\n                                                                "

func (e *encoder) newline(depth int) {
	n := 2*depth + 1
	e.b = append(e.b, indents[:min(n, len(indents))]...)
	for n -= len(indents); n > 0; n-- {
		e.b = append(e.b, ' ')
	}
}

func (e *encoder) value(s *shape, v reflect.Value, depth int) {
	switch s.kind {
	case shapeString:
		e.b = appendString(e.b, v.String())
	case shapeBool:
		e.b = strconv.AppendBool(e.b, v.Bool())
	case shapeInt:
		e.b = strconv.AppendInt(e.b, v.Int(), 10)
	case shapeStruct:
		e.object(s, v, depth)
	case shapeStrings, shapeSlice:
		e.array(s, v, depth)
	case shapeMap:
		e.sorted(s, v, depth)
	case shapePointer:
		if v.IsNil() {
			e.b = append(e.b, "null"...)
			return
		}
		e.value(s.elem, v.Elem(), depth)
	case shapeRaw:
		e.raw(v.Bytes(), depth)
	}
}

func (e *encoder) object(s *shape, v reflect.Value, depth int) {
	e.b = append(e.b, '{')
	some := false
	for _, f := range lists.Each(s.fields) {
		x := f.of(v)
		if f.absent(x) {
			continue
		}
		if some {
			e.b = append(e.b, ',')
		}
		some = true
		e.newline(depth + 1)
		e.b = append(e.b, f.label...)
		e.value(f.shape, x, depth+1)
	}
	if !some {
		e.b = append(e.b, '}')
		return
	}
	e.newline(depth)
	e.b = append(e.b, '}')
}

// block writes what is between brackets, each item on a line of its own.
func (e *encoder) block(brackets string, n, depth int, item func(i int)) {
	e.b = append(e.b, brackets[0])
	for i := range n {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.newline(depth + 1)
		item(i)
	}
	if n > 0 {
		e.newline(depth)
	}
	e.b = append(e.b, brackets[1])
}

func (e *encoder) array(s *shape, v reflect.Value, depth int) {
	if s.elem.name == "Node" {
		e.expect(v.Len(), depth, func(x *encoder, i int) { x.value(s.elem, v.Index(i), depth+1) })
	}
	e.block("[]", v.Len(), depth, func(i int) { e.value(s.elem, v.Index(i), depth+1) })
}

// samples are the items that tell how large all of them will be.
const samples = 64

// expect makes room for what a large block will take, and some more: what does not fit is
// copied into another allocation, while both are in memory.
func (e *encoder) expect(n, depth int, item func(x *encoder, i int)) {
	if n < 8*samples {
		return
	}
	scratch, sizes := encoder{}, make([]int, samples)
	for i := range samples {
		from := len(scratch.b)
		item(&scratch, i*(n-1)/(samples-1))
		sizes[i] = len(scratch.b) - from
	}
	slices.Sort(sizes)
	sum := 0
	for _, size := range sizes { // one that is far larger than most says nothing of the others
		sum += min(size, 4*sizes[samples/2])
	}
	e.b = slices.Grow(e.b, (sum/samples+4+2*depth)*n/32*33)
}

func (e *encoder) sorted(s *shape, v reflect.Value, depth int) {
	type entry struct {
		label []byte
		value reflect.Value
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	entries := make([]entry, len(keys))
	for i, k := range keys {
		entries[i] = entry{appendString(nil, k.String()), v.MapIndex(k)}
		if i > 0 && string(entries[i].label) == string(entries[i-1].label) {
			e.fail(fmt.Errorf("two keys that are both %s", entries[i].label))
		}
	}
	item := func(x *encoder, i int) {
		x.b = append(append(x.b, entries[i].label...), ": "...)
		x.value(s.elem, entries[i].value, depth+1)
	}
	e.expect(len(entries), depth, item)
	e.block("{}", len(entries), depth, func(i int) { item(e, i) })
}

// raw writes embedded JSON, indented, with sorted keys; nothing is null.
func (e *encoder) raw(src []byte, depth int) {
	if len(src) == 0 {
		e.b = append(e.b, "null"...)
		return
	}
	doc, err := e.docs.parse(src)
	if err != nil {
		e.fail(fmt.Errorf("embedded JSON: %w", err))
		e.b = append(e.b, "null"...)
		return
	}
	e.rawValue(doc, depth)
}

func (e *encoder) rawValue(d *rawDoc, depth int) {
	switch {
	case len(d.items) == 0:
		e.b = append(e.b, d.literal...)
	case !d.object:
		e.block("[]", len(d.items), depth, func(i int) { e.rawValue(d.items[i].rawDoc, depth+1) })
	default:
		e.block("{}", len(d.items), depth, func(i int) {
			e.b = append(appendString(e.b, d.items[i].key), ": "...)
			e.rawValue(d.items[i].rawDoc, depth+1)
		})
	}
}

func (e *encoder) fail(err error) { e.err = errors.Join(e.err, err) }

const hexDigits = "0123456789abcdef"

// plain marks the ASCII bytes that stand for themselves in a JSON string.
var plain = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()

// appendString writes s as encoding/json does without HTML escaping, but for
// invalid UTF-8: it becomes U+FFFD itself, not its escape, so that writing what
// was read gives the same bytes.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if plain[c] {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			if k := strings.IndexByte(escaped, c); k >= 0 {
				b = append(b, '\\', escapes[k])
			} else {
				b = append(append(b, `\u00`...), hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), "\uFFFD"...)
		case r == '\u2028' || r == '\u2029': // line ends in JavaScript
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hexDigits[r&15])
		default:
			i += size
			continue
		}
		i += size
		start = i
	}
	return append(append(b, s[start:]...), '"')
}
