package depend

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// PlainID writes an id in plain ASCII: full-width forms and digits of other
// scripts become ASCII, letters that look like Latin ones too; with padded,
// leading zeros go.
func PlainID(id string, padded bool) string {
	var b strings.Builder
	for _, r := range id {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r >= 0xFF01 && r <= 0xFF5E: // full width
			b.WriteRune(r - 0xFEE0)
		case digitOf(r) >= 0:
			b.WriteByte(byte('0' + digitOf(r)))
		default:
			if c, ok := lookAlike[r]; ok {
				b.WriteByte(c)
			} else {
				b.WriteRune(r)
			}
		}
	}
	if !padded {
		return b.String()
	}
	return unpadded(b.String())
}

// digitOf returns the value of a decimal digit of another script, or -1: blocks
// of ten that begin at a known place.
func digitOf(r rune) int {
	for _, zero := range []rune{0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50, 0xFF10, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6} {
		if r >= zero && r <= zero+9 {
			return int(r - zero)
		}
	}
	return -1
}

// lookAlike maps letters and signs that cannot be told from ASCII ones by eye.
var lookAlike = map[rune]byte{
	'а': 'a', 'с': 'c', 'е': 'e', 'о': 'o', 'р': 'p', 'х': 'x', 'у': 'y', 'ѕ': 's', 'і': 'i', 'ј': 'j', 'ԁ': 'd', 'ɡ': 'g', // Cyrillic, IPA
	'А': 'A', 'В': 'B', 'С': 'C', 'Е': 'E', 'Н': 'H', 'К': 'K', 'М': 'M', 'О': 'O', 'Р': 'P', 'Т': 'T', 'Х': 'X',
	'α': 'a', 'ο': 'o', 'ν': 'v', // Greek
	'․': '.', '。': '.', '．': '.', '·': '.', '‐': '-', '‑': '-', '−': '-',
}

// Oddity says in which way an id is not written plainly: a sentence without its stop.
func Oddity(written, plain string) string {
	for _, r := range written {
		if r >= utf8.RuneSelf {
			return fmt.Sprintf("%q (U+%04X) is not the ASCII character that it looks like", string(r), r)
		}
	}
	if strings.EqualFold(written, plain) {
		return "Letters in the id are lower case"
	}
	return "Numbers in the id have no leading zeros"
}
