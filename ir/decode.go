package ir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// DecodeError is one mistake in an epic.json.
type DecodeError struct {
	Path     string // JSON path: nodes[3].steps[0].agent; "" is the file as a whole
	Offset   int    // in bytes, from 0
	Message  string // "must be a string, not a number"
	Conflict bool   // the file holds git conflict markers
}

func (e *DecodeError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// DecodeErrors is what Decode found, in the order of the file, at most 50.
// errors.As finds the first *DecodeError in it.
type DecodeErrors []*DecodeError

func (l DecodeErrors) Error() string {
	lines := lists.Map(l, func(e *DecodeError) string { return e.Error() })
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.Is and errors.As look at each.
func (l DecodeErrors) Unwrap() []error {
	return lists.Map(l, func(e *DecodeError) error { return e })
}

// DigestError says that an epic.json is well formed but not what ralph wrote:
// it was edited.
type DigestError struct {
	Node     Key    // whose digest it is; "" of the file
	Stated   string // by the file
	Computed string // from its bytes
}

func (e *DigestError) Error() string {
	if e.Node != "" {
		return fmt.Sprintf("the digest of node %s does not fit what the node says; compile the plan again", e.Node)
	}
	return "the file was edited after it was compiled (its digest does not fit); compile the plan again"
}

// Decode reads the bytes of an epic.json. It is strict: an unknown, missing or
// repeated field, a wrong type, another version, anything after the end are
// mistakes, returned together as DecodeErrors. A file whose digest does not fit
// its bytes gives a *DigestError *and* the epic, for those who only look.
// A checkout with CRLF line ends is accepted. Empty arrays and objects come
// back as nil. Decode does not check what fields mean: see Verify.
//
// The epic's strings lie in b, because a copy of a large file is what Decode would need
// most memory for: b must not be modified afterwards.
func Decode(b []byte) (*Epic, error) {
	if len(b) > MaxBytes {
		return nil, DecodeErrors{{Message: fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20)}}
	}
	d := newDecoder(unsafe.String(unsafe.SliceData(b), len(b)))
	d.limit = fileDepth
	e := &Epic{}
	d.run(func() {
		if strings.HasPrefix(d.s, "\uFEFF") {
			d.syntax("a byte order mark is before the JSON; compile the plan again")
		}
		d.space()
		d.value(epicShape(), reflect.ValueOf(e).Elem())
	})
	if len(d.errs) > 0 {
		if at, found := conflict(d.s); found {
			return nil, DecodeErrors{{
				Offset: at, Conflict: true,
				Message: "the file holds git conflict markers; do not merge it by hand: resolve the plan and recompile",
			}}
		}
		return nil, d.errs
	}
	if sum := d.digest(b); sum != e.Digest {
		return e, &DigestError{Stated: e.Digest, Computed: sum}
	}
	return e, nil
}

// conflict looks for the line that begins git's conflict. In a file that is
// JSON no line begins so.
func conflict(s string) (at int, found bool) {
	for _, marker := range [...]string{"<<<<<<< ", ">>>>>>> ", "||||||| "} {
		if strings.HasPrefix(s, marker) {
			return 0, true
		}
		if i := strings.Index(s, "\n"+marker); i >= 0 {
			return i + 1, true
		}
	}
	return 0, false
}

// digest computes the digest of the file: all of it but the digest's own text,
// with LF line ends.
func (d *decoder) digest(file []byte) string {
	h := sha256.New()
	for _, part := range [...][]byte{file[:d.digestStart], file[d.digestEnd:]} {
		for {
			// Inside strings CR is escaped, so each one here ends a line.
			line, rest, more := bytes.Cut(part, []byte("\r\n"))
			h.Write(line)
			if !more {
				break
			}
			h.Write([]byte{'\n'})
			part = rest
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func (d *decoder) value(s *shape, v reflect.Value) {
	switch c := d.peek(); s.kind {
	case shapeString:
		if d.want('"', "a string") {
			v.SetString(d.str())
		}
	case shapeBool:
		if c != 't' && c != 'f' {
			d.mismatch("true or false")
			return
		}
		v.SetBool(d.scalar() == "true")
	case shapeInt:
		d.integer(v)
	case shapeStruct:
		if d.want('{', "an object") {
			d.object(s, v)
		}
	case shapeStrings, shapeSlice:
		if d.want('[', "an array") {
			d.array(s, v)
		}
	case shapeMap:
		if d.want('{', "an object") {
			d.mapping(s, v)
		}
	case shapePointer:
		if c == 'n' {
			d.scalar()
			return
		}
		p := reflect.New(s.elem.typ)
		d.value(s.elem, p.Elem())
		v.Set(p)
	case shapeRaw:
		d.embedded(v)
	}
}

// want reports whether the value begins with c; if not, it is skipped.
func (d *decoder) want(c byte, what string) bool {
	if d.peek() == c {
		return true
	}
	d.mismatch(what)
	return false
}

func (d *decoder) mismatch(want string) {
	at := d.pos
	var got string
	switch c := d.peek(); c {
	case '{':
		got = "an object"
	case '[':
		got = "an array"
	case '"':
		got = "a string"
	}
	d.skip()
	if got == "" {
		switch got = d.s[at:d.pos]; got {
		case "true", "false", "null":
		default:
			got = "a number"
		}
	}
	d.failAt(at, "must be %s, not %s", want, got)
}

func (d *decoder) integer(v reflect.Value) {
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		d.mismatch("an integer")
		return
	}
	at := d.pos
	text := d.scalar()
	n, err := strconv.ParseInt(text, 10, v.Type().Bits())
	if err != nil || text == "-0" {
		d.failAt(at, "must be an integer that fits %d bits", v.Type().Bits())
		return
	}
	v.SetInt(n)
}

func (d *decoder) object(s *shape, v reflect.Value) {
	start := d.pos
	var seen uint64
	next := 0
	d.members(func(key string, at int) {
		i := next
		if i >= len(s.fields) || s.fields[i].name != key {
			var known bool
			if i, known = s.byName[key]; !known {
				d.failAt(at, "is not a field that this version of ralph knows")
				d.skip()
				return
			}
		}
		if seen&(1<<i) != 0 {
			d.failAt(at, "appears twice")
			d.skip()
			return
		}
		seen |= 1 << i
		next = i + 1
		f := &s.fields[i]
		valueAt := d.pos
		wrong := len(d.errs)
		d.value(f.shape, f.of(v))
		if f.absent(f.of(v)) && len(d.errs) == wrong {
			d.failAt(valueAt, "is empty: leave it out")
		}
		if s == epicShape() {
			d.top(f.name, f.of(v), valueAt)
		}
	})
	for i := range s.fields {
		if seen&(1<<i) == 0 && !s.fields[i].omit {
			d.path.push(pathStep{name: s.fields[i].name, index: -1})
			d.failAt(start, "is missing")
			d.path.pop()
		}
	}
}

// top looks at two fields of the epic itself. Of another version nothing else
// is read: its other differences would only be noise.
func (d *decoder) top(name string, v reflect.Value, at int) {
	switch name {
	case "ir":
		if got := v.String(); got != Version && len(d.errs) == 0 {
			d.failAt(at, "%s is not the version that this ralph reads (%s); compile the plan again", quote(got), Version)
			panic(abort{})
		}
	case "digest":
		d.digestStart, d.digestEnd = at+1, max(at+1, d.pos-1)
	}
}

func (d *decoder) array(s *shape, v reflect.Value) {
	if plainStrings, ok := v.Addr().Interface().(*[]string); ok {
		d.strings(plainStrings)
		return
	}
	start := d.pos
	d.elements(func(i int) {
		d.space()
		if i == samples && s.elem.name == "Node" { // the rest will be like these
			v.Grow((len(d.s)-start)/((d.pos-start)/samples+1) - samples)
		}
		v.Grow(1)
		v.SetLen(i + 1)
		d.value(s.elem, v.Index(i))
	})
}

// embedded reads embedded JSON, equal texts once: they are at one depth mostly, and
// share memory.
func (d *decoder) embedded(v reflect.Value) {
	at, wrong := d.pos, len(d.errs)
	d.skip()
	text := d.s[at:d.pos]
	compact, known := d.raw[text]
	if !known {
		d.pos = at
		if doc := d.rawDoc(); doc.literal != "null" {
			compact = slices.Clip(doc.compact(nil))
		}
		if len(d.errs) == wrong && len(d.raw) < maxRawDocs {
			if d.raw == nil {
				d.raw = map[string][]byte{}
			}
			d.raw[text] = compact
		}
	}
	if compact != nil {
		v.SetBytes(compact)
	}
}

// strings reads an array of strings into one allocation.
func (d *decoder) strings(out *[]string) {
	d.scratch = d.scratch[:0]
	d.elements(func(int) {
		d.space()
		if d.want('"', "a string") {
			d.scratch = append(d.scratch, d.str())
		}
	})
	if len(d.scratch) > 0 {
		*out = append(make([]string, 0, len(d.scratch)), d.scratch...)
	}
}

func (d *decoder) mapping(s *shape, v reflect.Value) {
	d.members(func(key string, at int) {
		if v.IsNil() {
			v.Set(reflect.MakeMap(s.typ))
		}
		k := reflect.ValueOf(key).Convert(s.typ.Key())
		if v.MapIndex(k).IsValid() {
			d.failAt(at, "appears twice")
			d.skip()
			return
		}
		elem := reflect.New(s.elem.typ).Elem()
		d.value(s.elem, elem)
		v.SetMapIndex(k, elem)
	})
}
