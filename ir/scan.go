package ir

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of what Decode and NormalizeJSON read.
const (
	MaxBytes = 1 << 30 // of an epic.json
	MaxDepth = 256     // of nesting inside embedded JSON

	maxErrors = 50
	fileDepth = MaxDepth + 32 // embedded JSON is a few levels deep
)

// decoder reads JSON from a string with places and paths, which encoding/json
// does not give. Syntax errors abort through panic(abort{}), caught in run;
// everything else is collected.
type decoder struct {
	s       string
	pos     int
	depth   int
	limit   int
	path    jsonPath
	errs    DecodeErrors
	scratch []string
	raw     map[string][]byte // embedded JSON as it is in the file, to its compact form

	digestStart, digestEnd int // of the text of the top-level digest
}

// abort ends a decoder's run; it never leaves this package.
type abort struct{}

// jsonPath leads to a value of an epic.json.
type jsonPath []pathStep

type pathStep struct {
	name  string
	index int // used if name is ""; else -1
}

// String writes the path: nodes[3].steps[0].agent.
func (path jsonPath) String() string {
	var b strings.Builder
	for _, p := range path {
		switch {
		case p.name == "" && p.index >= 0:
			fmt.Fprintf(&b, "[%d]", p.index)
		case !isWord(p.name):
			fmt.Fprintf(&b, "[%s]", quote(p.name))
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p.name)
		}
	}
	return b.String()
}

func (path *jsonPath) push(p pathStep) { *path = append(*path, p) }
func (path *jsonPath) pop()            { *path = (*path)[:len(*path)-1] }

func newDecoder(s string) *decoder { return &decoder{s: s, limit: MaxDepth} }

// run calls read and demands that nothing but space follows what it read.
func (d *decoder) run(read func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(abort); !ok {
				panic(r)
			}
		}
	}()
	read()
	if d.space(); d.pos < len(d.s) {
		d.syntax("there is more after the end of the value")
	}
}

func (d *decoder) failAt(at int, format string, args ...any) {
	d.errs = append(d.errs, &DecodeError{Path: d.path.String(), Offset: at, Message: fmt.Sprintf(format, args...)})
	if len(d.errs) >= maxErrors {
		panic(abort{})
	}
}

func (d *decoder) syntax(format string, args ...any) {
	d.failAt(d.pos, format, args...)
	panic(abort{})
}

// quote shows a string of the input: printable, at most 80 runes of it.
func quote(s string) string {
	if cut := []rune(s[:min(len(s), 400)]); len(cut) > 80 {
		s = string(cut[:80]) + "…"
	}
	return strconv.QuoteToGraphic(s)
}

func isWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != "" && len(s) < 80
}

func (d *decoder) space() {
	for d.pos < len(d.s) {
		switch d.s[d.pos] {
		case ' ', '\n', '\t', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the next byte; the end of the input is a syntax error.
func (d *decoder) peek() byte {
	if d.pos >= len(d.s) {
		d.syntax("the file ends too early")
	}
	return d.s[d.pos]
}

func (d *decoder) enter() {
	if d.depth++; d.depth > d.limit {
		d.syntax("nested deeper than %d levels", d.limit)
	}
	d.pos++
}

// members reads an object and calls read after each colon.
func (d *decoder) members(read func(key string, at int)) {
	d.list('}', "brace", func(int) {
		if d.peek() != '"' {
			d.syntax("expected a key in double quotes, found %s", d.found())
		}
		at := d.pos
		key := d.str()
		d.space()
		if d.peek() != ':' {
			d.syntax("expected a colon after a key, found %s", d.found())
		}
		d.pos++
		d.space()
		d.peek()
		d.path.push(pathStep{name: key, index: -1})
		read(key, at)
		d.path.pop()
	})
}

// elements reads an array and calls read before each element.
func (d *decoder) elements(read func(i int)) {
	d.list(']', "bracket", func(i int) {
		d.path.push(pathStep{index: i})
		read(i)
		d.path.pop()
	})
}

// list reads what is between brackets or braces, with commas between.
func (d *decoder) list(end byte, what string, read func(i int)) {
	d.enter()
	for i := 0; ; i++ {
		d.space()
		if d.peek() == end && i == 0 {
			break
		}
		read(i)
		d.space()
		if c := d.peek(); c == end {
			break
		} else if c != ',' {
			d.syntax("expected a comma or a closing %s, found %s", what, d.found())
		}
		d.pos++
	}
	d.pos++
	d.depth--
}

// found names what is at the present place.
func (d *decoder) found() string {
	if d.pos >= len(d.s) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRuneInString(d.s[d.pos:])
	return strconv.QuoteRuneToGraphic(r)
}

// str reads a string. What has no escapes shares the input's memory.
func (d *decoder) str() string {
	d.pos++
	start := d.pos
	ascii := true
	for d.pos < len(d.s) {
		switch c := d.s[d.pos]; {
		case c == '"':
			s := d.s[start:d.pos]
			if !ascii && !utf8.ValidString(s) {
				d.pos = start
				d.syntax("a string that is not UTF-8")
			}
			d.pos++
			return s
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			d.syntax("a control character inside a string")
		case c >= utf8.RuneSelf:
			ascii = false
		}
		d.pos++
	}
	d.syntax("a string without an end")
	return ""
}

// What follows a backslash, and what it is.
const (
	escapes = `bfnrt"\/`
	escaped = "\b\f\n\r\t\"\\/"
)

// escaped continues with a string at its first backslash.
func (d *decoder) escaped(start int) string {
	b := []byte(d.s[start:d.pos])
	for {
		switch c := d.peek(); {
		case c == '"':
			d.pos++
			if !utf8.Valid(b) {
				d.syntax("a string that is not UTF-8")
			}
			return string(b)
		case c < ' ':
			d.syntax("a control character inside a string")
		case c != '\\':
			b = append(b, c)
			d.pos++
			continue
		}
		d.pos++
		c := d.peek()
		d.pos++
		switch i := strings.IndexByte(escapes, c); {
		case i >= 0:
			b = append(b, escaped[i])
		case c == 'u':
			b = utf8.AppendRune(b, d.codePoint())
		default:
			d.pos -= 2
			d.syntax("an escape that JSON does not have")
		}
	}
}

// codePoint reads what follows \u, with the second half of a pair; a half
// alone is U+FFFD, as in encoding/json.
func (d *decoder) codePoint() rune {
	r := d.hex4()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if strings.HasPrefix(d.s[d.pos:], `\u`) {
		back := d.pos
		d.pos += 2
		if full := utf16.DecodeRune(r, d.hex4()); full != utf8.RuneError {
			return full
		}
		d.pos = back
	}
	return utf8.RuneError
}

func (d *decoder) hex4() rune {
	if len(d.s)-d.pos < 4 {
		d.syntax("the file ends too early")
	}
	n, err := strconv.ParseUint(d.s[d.pos:d.pos+4], 16, 32)
	if err != nil {
		d.syntax("four hexadecimal digits must follow \\u")
	}
	d.pos += 4
	return rune(n)
}

// scalar reads a number, true, false or null and returns its text.
func (d *decoder) scalar() string {
	start := d.pos
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(d.s[d.pos:], word) {
			d.pos += len(word)
			return word
		}
	}
	if d.pos < len(d.s) && d.s[d.pos] == '-' {
		d.pos++
	}
	switch {
	case d.pos < len(d.s) && d.s[d.pos] == '0':
		d.pos++
	case d.digits() == 0:
		d.pos = start
		d.syntax("expected a value, found %s", d.found())
	}
	if d.pos < len(d.s) && d.s[d.pos] == '.' {
		d.pos++
		if d.digits() == 0 {
			d.syntax("a number without digits after the decimal point")
		}
	}
	if d.pos < len(d.s) && (d.s[d.pos] == 'e' || d.s[d.pos] == 'E') {
		d.pos++
		if d.pos < len(d.s) && (d.s[d.pos] == '+' || d.s[d.pos] == '-') {
			d.pos++
		}
		if d.digits() == 0 {
			d.syntax("a number without digits in its exponent")
		}
	}
	return d.s[start:d.pos]
}

func (d *decoder) digits() int {
	start := d.pos
	for d.pos < len(d.s) && d.s[d.pos] >= '0' && d.s[d.pos] <= '9' {
		d.pos++
	}
	return d.pos - start
}

// skip reads a value of any kind.
func (d *decoder) skip() {
	switch d.peek() {
	case '{':
		d.members(func(string, int) { d.skip() })
	case '[':
		d.elements(func(int) { d.space(); d.skip() })
	case '"':
		d.str()
	default:
		d.scalar()
	}
}
