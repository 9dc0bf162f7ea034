// Package reveal makes visible what does not show in a text that a person is to
// judge: control characters, what changes the direction of text, what has no width,
// and bytes that are not UTF-8. executor/gate and app show diffs with it,
// internal/term, ir and app everything else that others have written.
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
func Text(text string) (shown string, hidden int) { return write(text, false) }

// Words is Text for anything but a diff: joiners stay in the scripts that need them and
// in emoji.
func Words(text string) string {
	shown, _ := write(text, true)
	return shown
}

func write(text string, joined bool) (shown string, hidden int) {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, Hides) {
		return text, 0
	}
	var b strings.Builder
	var last rune
	for i, r := range text {
		size := 0
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !Hides(r), joined && Joins(last, r):
			b.WriteRune(r)
			last = r
			continue
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		last = 0
		hidden++
	}
	return b.String(), hidden
}

// Hides reports whether a character is invisible, or changes how others are shown.
func Hides(r rune) bool {
	if r < 0x7f {
		return r < ' ' && r != '\n' && r != '\t'
	}
	switch r {
	case 0xFE0E, 0xFE0F: // they say how an emoji is drawn
		return false
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // drawn as nothing
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}

// Joins reports whether r joins the character before it as a script, or an emoji, needs.
func Joins(before, r rune) bool {
	return (r == 0x200C || r == 0x200D) && (before == 0xFE0F || before > 0x7f && unicode.In(before, unicode.So, unicode.Sk) || unicode.In(before, joiningScripts...))
}

var joiningScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
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

// Close writes the last line if it has no line feed.
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
