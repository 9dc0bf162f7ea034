package redact

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A view is a text as a program reads it, with where each of its bytes stood. Values
// are looked for in views, too: so no list of how they can be written is needed.
type view struct {
	text  []byte
	where []place // nil: each byte stands where it stood
}

// place is what a byte of a view stood for.
type place struct{ from, to int }

func (v *view) place(i int) place {
	if v.where == nil {
		return place{i, i + 1}
	}
	return v.where[i]
}

const levels = 4 // how often something is escaped within something escaped

// plainView is text without its escapes: of URLs (%2F), HTML (&#47;) and strings (\/,
// \u002f, \x2f), also those within each other. open is how many bytes at the end may be the
// beginning of an escape.
func plainView(b []byte) (v view, open int) {
	v.text = b
	var room [8]byte
	for range levels {
		var next view
		done := 0 // of v.text
		for i := 0; i < len(v.text); {
			if c := v.text[i]; c != '%' && c != '&' && c != '\\' {
				i++
				continue
			}
			said, n := unescape(room[:0], v.text[i:])
			if n <= 1 {
				i++
				continue
			}
			if next.text == nil {
				next = view{make([]byte, 0, len(v.text)), make([]place, 0, len(v.text))}
			}
			next.add(&v, done, i)
			p := place{v.place(i).from, v.place(i + n - 1).to}
			for _, c := range said {
				next.text, next.where = append(next.text, c), append(next.where, p)
			}
			i += n
			done = i
		}
		if next.text == nil {
			break
		}
		next.add(&v, done, len(v.text))
		v = next
	}
	for k := 1; k <= min(10, len(v.text)); k++ {
		if c := v.text[len(v.text)-k]; c == '\\' || c == '%' && k < 3 || c == '&' && bytes.IndexByte(v.text[len(v.text)-k:], ';') < 0 {
			open = len(b) - v.place(len(v.text)-k).from
		} else if c == '\n' || c == ' ' {
			break
		}
	}
	return v, open
}

// add copies part of another view.
func (v *view) add(of *view, from, to int) {
	v.text = append(v.text, of.text[from:to]...)
	if of.where != nil {
		v.where = append(v.where, of.where[from:to]...)
		return
	}
	for i := from; i < to; i++ {
		v.where = append(v.where, place{i, i + 1})
	}
}

var oneLetter = [256]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// unescape appends to room what the escape at the beginning of b says, and returns its
// length, too; 0 if there is none.
func unescape(room, b []byte) (said []byte, n int) {
	number := func(from, digits int) (rune, bool) {
		if len(b) < from+digits {
			return 0, false
		}
		x := rune(0)
		for _, c := range b[from : from+digits] {
			d := strings.IndexByte("0123456789abcdef", c|0x20)
			if d < 0 || c < '0' {
				return 0, false
			}
			x = x<<4 | rune(d)
		}
		return x, true
	}
	switch {
	case len(b) < 2:
		return nil, 0
	case b[0] == '%':
		if x, ok := number(1, 2); ok {
			return append(room, byte(x)), 3
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
		if x, ok := number(2, 2); ok {
			return append(room, byte(x)), 4
		}
	case c == 'u':
		x, ok := number(2, 4)
		if !ok {
			return nil, 0
		}
		if utf16.IsSurrogate(x) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := number(8, 4); ok {
				return utf8.AppendRune(room, utf16.DecodeRune(x, low)), 12
			}
		}
		return utf8.AppendRune(room, x), 6
	case oneLetter[c] != 0:
		return append(room, oneLetter[c]), 2
	case c < 0x80 && c > ' ' && !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'), c == ' ':
		return append(room, c), 2
	}
	return nil, 0
}

// dense says what stands for a byte in a dense view; 0 is nothing.
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

// dense is text of base64 or hexadecimal without what wraps it, in one alphabet.
func (v *view) dense(where bool) view {
	out := view{text: make([]byte, len(v.text))}
	n := 0
	if !where {
		for _, c := range v.text {
			d := dense[c]
			out.text[n] = d
			if d != 0 {
				n++
			}
		}
		out.text = out.text[:n]
		return out
	}
	out.where = make([]place, len(v.text))
	for i, c := range v.text {
		if d := dense[c]; d != 0 {
			out.text[n], out.where[n] = d, v.place(i)
			n++
		}
	}
	out.text, out.where = out.text[:n], out.where[:n]
	return out
}
