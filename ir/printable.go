package ir

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/internal/reveal"
)

// Printable returns s on one line, with everything that could move a terminal's
// cursor, change the direction of text or hide (control and format characters,
// line and paragraph separators, invalid UTF-8) written as an escape: \u{1b}.
// Tabs and line ends become spaces. Joiners inside emoji and words stay.
func Printable(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			ascii = false
			break
		}
	}
	if ascii || !strings.ContainsFunc(s, unprintable) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	var last rune
	for i, r := range s {
		invalid := r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD")
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case invalid:
			fmt.Fprintf(&b, "\\x{%02x}", s[i])
		case unprintable(r) && !reveal.Joins(last, r):
			fmt.Fprintf(&b, "\\u{%x}", r)
		default:
			b.WriteRune(r)
			last = r
			continue
		}
		last = 0 // nothing joins an escape
	}
	return b.String()
}

func unprintable(r rune) bool {
	return r < ' ' || r >= 0x7f && (reveal.Hides(r) || unicode.In(r, unicode.Co, unicode.Cs))
}
