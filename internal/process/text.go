package process

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable is Plain of output. If cut, the first, broken line is left out.
func printable(b []byte, cut bool) string {
	if i := bytes.IndexByte(b, '\n'); cut && i >= 0 && i+1 < len(b) {
		b = b[i+1:]
	}
	return Plain(string(b))
}

// Plain makes output fit to be read by people and agents: valid UTF-8 without
// terminal escapes and other control characters.
func Plain(s string) string {
	if plainASCII(s) {
		return s
	}
	var out strings.Builder
	s = strings.ToValidUTF8(s, "\uFFFD")
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escape(s[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			out.WriteString(s[i : i+n])
		}
		i += n
	}
	return out.String()
}

// plainASCII reports whether a text is as Plain would leave it; most output is.
func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// escape is the length of the terminal escape at the start of s.
func escape(s string) int {
	if len(s) < 2 {
		return 1
	}
	if s[1] >= utf8.RuneSelf { // none: a character follows, of more than one byte
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']', 'P', '^', '_':
		for i := 2; i < len(s); i++ {
			if s[i] == 7 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	return 2
}
