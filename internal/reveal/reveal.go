// Package reveal makes visible what does not show in a text that somebody is to
// judge: control characters, what changes the direction of text, what has no width,
// and bytes that are not UTF-8. executor/gate and cmd/ralph show diffs with it.
package reveal

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns text with everything but newlines and tabs that does not show written
// as \x1b or \u202e, and with how many characters that was.
func Text(text string) (shown string, hidden int) {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, hides) {
		return text, 0
	}
	var b strings.Builder
	for i, r := range text {
		size := 0
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !hides(r):
			b.WriteRune(r)
			continue
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		hidden++
	}
	return b.String(), hidden
}

// hides reports whether a character does not show, or changes how others do.
func hides(r rune) bool {
	switch r {
	case '\n', '\t', 0xFE0E, 0xFE0F: // the last two say how an emoji is drawn
		return false
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // drawn as nothing
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}

// most is how much of a line without an end is held back, in bytes.
const most = 64 << 10

// Lines hands on what is written to it line by line, as Text shows it. A line that is
// very long comes in parts. The return at the end of a line of DOS is shown and not
// counted as hidden.
type Lines struct {
	Each func(line string, hidden int, goesOn bool) error // line has no newline
	rest []byte
}

func (l *Lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	from := 0
	for {
		i := bytes.IndexByte(l.rest[from:], '\n')
		if i < 0 {
			break
		}
		if err := l.each(l.rest[from:from+i], false); err != nil {
			return 0, err
		}
		from += i + 1
	}
	l.rest = append(l.rest[:0], l.rest[from:]...)
	if n := len(l.rest); n > most {
		for n > len(l.rest)-utf8.UTFMax && !utf8.RuneStart(l.rest[n-1]) {
			n--
		}
		n-- // a character stays whole
		if err := l.each(l.rest[:n], true); err != nil {
			return 0, err
		}
		l.rest = append(l.rest[:0], l.rest[n:]...)
	}
	return len(p), nil
}

// Close hands on the last line, if it has no end.
func (l *Lines) Close() error {
	if len(l.rest) == 0 {
		return nil
	}
	return l.each(l.rest, false)
}

func (l *Lines) each(line []byte, goesOn bool) error {
	text, hidden := Text(string(line))
	if !goesOn && bytes.HasSuffix(line, []byte("\r")) {
		hidden--
	}
	return l.Each(text, hidden, goesOn)
}
