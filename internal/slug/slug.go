package slug

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxBytes is the longest slug.
const MaxBytes = 40

// Empty is what Make returns for a text without a usable character.
const Empty = "sprint"

// enough bounds how much of a hostile title is normalised: far more than can
// ever become part of a slug.
const enough = 4096

// Make returns the slug of s: Unicode NFKD, marks dropped, lower case, every
// run outside [a-z0-9] one "-", trimmed, at most MaxBytes bytes, Empty if
// nothing is left.
func Make(s string) string {
	s = join(s)
	return cmp.Or(strings.TrimRight(s[:min(len(s), MaxBytes)], "-"), Empty)
}

// Ref returns the name of a sprint key in branches and directories: like Make,
// but not cut, because two keys that differ only after byte 40 must not meet
// ("1.2a" → "1-2a").
func Ref(key string) string { return cmp.Or(join(key), Empty) }

func join(s string) string {
	s = norm.NFKD.String(s[:min(len(s), enough)])
	out := make([]byte, 0, min(len(s), 2*MaxBytes))
	gap := false
	for _, r := range s {
		if unicode.Is(unicode.M, r) {
			continue
		}
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		if r >= utf8.RuneSelf {
			// Lower case after NFKD can still be ASCII: the Kelvin sign is k.
			r = unicode.ToLower(r)
		}
		if ('a' > r || r > 'z') && ('0' > r || r > '9') {
			gap = true
			continue
		}
		if gap && len(out) > 0 {
			out = append(out, '-')
		}
		gap = false
		out = append(out, byte(r))
	}
	return string(out)
}
