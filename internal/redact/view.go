package redact

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// A view is a text as a program reads it, with where each of its bytes was. Values
// are looked for in views, too: so no list of how they can be written is needed. Where
// is known only for a view in which something was found.
type view struct {
	text  []byte
	where []place // nil: each byte is where it was
}

// place is what a byte of a view stood for: 8 bytes each, of texts below 2 GB.
type place struct{ from, to int32 }

func (v *view) place(i int) place {
	if v.where == nil {
		return place{int32(i), int32(i + 1)} //nolint:gosec // see place
	}
	return v.where[i]
}

const levels = 4 // how often something is escaped within something escaped

// begins are the bytes that an escape begins with.
var begins = [256]bool{'%': true, '&': true, '\\': true}

// plainText is a text without its escapes: of URLs (%2F), HTML (&#47;) and strings (\/,
// \u002f, \x2f), also those within each other: b itself if there are none.
func plainText(b []byte, room *rooms) (text []byte, escaped bool) {
	text = b
	for level := range levels {
		to := &room.plain[level%2]
		next := unescaped((*to)[:0], text)
		if next == nil {
			break
		}
		*to, text, escaped = next, next, true
	}
	return text, escaped
}

// rooms are what texts are put into while they are looked at.
type rooms struct {
	plain [2][]byte
	dense []byte
}

var free = sync.Pool{New: func() any { return new(rooms) }}

// unescaped appends to room a text without one level of escapes; nil if it has none.
func unescaped(room, text []byte) []byte {
	var said [8]byte
	none, done := true, 0
	for i := 0; i < len(text); i++ {
		if !begins[text[i]] {
			continue
		}
		what, n := unescape(said[:0], text[i:])
		if n <= 1 {
			continue
		}
		room = append(room, text[done:i]...)
		room = append(room, what...)
		none, done = false, i+n
		i += n - 1
	}
	if none {
		return nil
	}
	return append(room, text[done:]...)
}

// plainView is plainText with the places of its bytes.
func plainView(b []byte) view {
	v := view{text: b}
	var said [8]byte
	for range levels {
		var next view
		done := 0 // of v.text
		for i := 0; i < len(v.text); i++ {
			if !begins[v.text[i]] {
				continue
			}
			what, n := unescape(said[:0], v.text[i:])
			if n <= 1 {
				continue
			}
			if next.text == nil {
				next = view{make([]byte, 0, len(v.text)), make([]place, 0, len(v.text))}
			}
			next.add(&v, done, i)
			p := place{v.place(i).from, v.place(i + n - 1).to}
			for _, c := range what {
				next.text, next.where = append(next.text, c), append(next.where, p)
			}
			done = i + n
			i = done - 1
		}
		if next.text == nil {
			break
		}
		next.add(&v, done, len(v.text))
		v = next
	}
	return v
}

// openEscape is how many bytes at the end of a plain text may be the beginning of an escape.
func openEscape(text []byte) (open int) {
	for k := 1; k <= min(10, len(text)); k++ {
		switch c := text[len(text)-k]; {
		case c == '\\' || c == '%' && k < 3 || c == '&' && bytes.IndexByte(text[len(text)-k:], ';') < 0:
			open = k
		case c == '\n' || c == ' ':
			return open
		}
	}
	return open
}

// add copies part of another view.
func (v *view) add(of *view, from, to int) {
	v.text = append(v.text, of.text[from:to]...)
	if of.where != nil {
		v.where = append(v.where, of.where[from:to]...)
		return
	}
	for i := from; i < to; i++ {
		v.where = append(v.where, of.place(i))
	}
}

var oneLetter = [256]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// hexDigit is one more than what a hexadecimal digit says, 0 of others.
var hexDigit = func() (t [256]uint8) {
	for i, c := range "0123456789abcdef" {
		t[c], t[strings.ToUpper(string(c))[0]] = uint8(i+1), uint8(i+1)
	}
	return t
}()

// number reads hexadecimal digits.
func number(b []byte, from, digits int) (rune, bool) {
	if len(b) < from+digits {
		return 0, false
	}
	x := rune(0)
	for _, c := range b[from : from+digits] {
		d := hexDigit[c]
		if d == 0 {
			return 0, false
		}
		x = x<<4 | rune(d-1)
	}
	return x, true
}

// unescape appends to room what the escape at the beginning of b says, and returns its
// length, too; 0 if there is none.
func unescape(room, b []byte) (said []byte, n int) {
	switch {
	case len(b) < 2:
		return nil, 0
	case b[0] == '%':
		if len(b) > 2 && hexDigit[b[1]] > 0 && hexDigit[b[2]] > 0 {
			return append(room, (hexDigit[b[1]]-1)<<4|(hexDigit[b[2]]-1)), 3
		}
		return nil, 0
	case b[0] == '&':
		i := bytes.IndexByte(b[:min(len(b), 14)], ';')
		if i < 0 {
			return nil, 0
		}
		if s := html.UnescapeString(string(b[:i+1])); !strings.HasPrefix(s, "&") || s == "&" {
			return append(room, s...), i + 1
		}
		return nil, 0
	}
	switch c := b[1]; {
	case c == 'x':
		if x, ok := number(b, 2, 2); ok {
			return append(room, byte(x)), 4
		}
	case c == 'u' && len(b) > 4 && b[2] == '{':
		if end := bytes.IndexByte(b[:min(len(b), 10)], '}'); end > 3 {
			if x, ok := number(b, 3, end-3); ok {
				return utf8.AppendRune(room, x), end + 1
			}
		}
	case c == 'u':
		x, ok := number(b, 2, 4)
		if !ok {
			return nil, 0
		}
		if utf16.IsSurrogate(x) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := number(b, 8, 4); ok {
				return utf8.AppendRune(room, utf16.DecodeRune(x, low)), 12
			}
		}
		return utf8.AppendRune(room, x), 6
	case c >= '0' && c <= '3' && len(b) > 3 && b[2]&^7 == '0' && b[3]&^7 == '0': // octal
		return append(room, (c-'0')<<6|(b[2]-'0')<<3|(b[3]-'0')), 4
	case c == '\n': // the line goes on
		return room, 2
	case oneLetter[c] != 0:
		return append(room, oneLetter[c]), 2
	case c < 0x80 && c > ' ' && !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'), c == ' ':
		return append(room, c), 2
	}
	return nil, 0
}

// dense maps a byte to its byte in a dense view; 0: none.
var dense = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	t['-'], t['_'] = '+', '/'
	for _, c := range " \t\r\n:" {
		t[c] = 0
	}
	return t
}()

// denseText appends to room text of base64 or hexadecimal without what wraps it, in one
// alphabet.
func denseText(room, text []byte) []byte {
	room = slices.Grow(room, len(text))[:len(text)]
	n := 0
	for _, c := range text {
		d := dense[c]
		room[n] = d
		if d != 0 {
			n++
		}
	}
	return room[:n]
}

// dense is denseText with the places of its bytes.
func (v *view) dense() view {
	out := view{make([]byte, 0, len(v.text)), make([]place, 0, len(v.text))}
	for i, c := range v.text {
		if d := dense[c]; d != 0 {
			out.text, out.where = append(out.text, d), append(out.where, v.place(i))
		}
	}
	return out
}
