package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf
}

// isControl reports what may steer a terminal or hide text: control characters,
// bidirectional overrides, invisible spaces. The joiners of emoji are let through.
func isControl(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return false
	case r < 0x7f:
		return r < ' '
	}
	return r <= 0x9f || r == 0x061c || r == 0x200b || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f ||
		r == 0xfeff || r >= 0xe0000 && r <= 0xe0fff
}

func hasControl(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return strings.IndexFunc(s, isControl) >= 0
		}
		if isControl(rune(s[i])) {
			return true
		}
	}
	return false
}

// isEmoji reports emoji, their joiners and variation selectors.
func isEmoji(r rune) bool {
	return r >= 0x2190 && unicode.In(r, unicode.So, unicode.Sk) || r == 0xfe0f || r == 0x200d || r == 0x20e3
}

// isBlank reports spaces and emoji, which may surround a name.
func isBlank(r rune) bool { return r == ' ' || isEmoji(r) }
