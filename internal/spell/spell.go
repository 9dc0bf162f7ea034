// Package spell finds the word that was probably meant. It is the only user of
// the edit-distance library; everything that says "did you mean" calls it.
package spell

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// Nearest returns the known word closest to word, and whether it is close
// enough to be worth saying: at most a third of the word's length in edits, and
// never more than three. Upper and lower case count as equal. Ties go to the
// word that sorts first, so the answer does not depend on the order of known.
func Nearest(word string, known []string) (string, bool) {
	if len(word) > maxWord {
		return "", false
	}
	low, runes, mask := strings.ToLower(word), utf8.RuneCountInString(word), letters(word)
	limit := min(max(runes/3, 1), 3)
	best, distance := "", limit+1
	for _, k := range known {
		if abs(len(k)-len(word)) > 4*limit || abs(utf8.RuneCountInString(k)-runes) > limit || bits.OnesCount32(letters(k)^mask) > 2*limit {
			continue // cheaper than the distance, and never nearer
		}
		d := distanceOf(low, strings.ToLower(k))
		if d < distance || d == distance && d <= limit && k < best {
			best, distance = k, d
		}
	}
	return best, distance <= limit && best != ""
}

// maxWord is the length in bytes from which on nothing is near.
const maxWord = 200

// letters is a set of the letters of a word, case aside. An edit changes at most two
// of its bits.
func letters(s string) (mask uint32) {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x80 { // what is no ASCII may differ in case and counts as equal
			mask |= 1 << (c & 31)
		}
	}
	return mask
}

// distanceOf counts edits; two neighbours that changed places are one.
func distanceOf(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) && i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
		return 1
	}
	return levenshtein.Distance(a, b, nil)
}

// Hint returns ` (did you mean "x"?)`, or "" when no known word is near.
func Hint(word string, known []string) string {
	if near, ok := Nearest(word, known); ok && near != word {
		return ` (did you mean "` + near + `"?)`
	}
	return ""
}

// Sorted returns the known words sorted and joined by commas, for messages that
// list what is possible; beyond limit words it ends with "…".
func Sorted(known []string, limit int) string {
	k := slices.Compact(slices.Sorted(slices.Values(known)))
	if len(k) > limit {
		k = append(k[:limit:limit], "…")
	}
	return strings.Join(k, ", ")
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// OneEdit reports whether a becomes b by inserting, deleting or replacing one
// character, or by swapping two neighbours. Case counts; equal words are no edit
// apart.
func OneEdit(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if abs(len(x)-len(y)) > 1 {
		return false
	}
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	switch {
	case len(x)+len(y) == 1, len(x) == 1 && len(y) == 1:
		return true
	case len(x) == 2 && len(y) == 2:
		return x[0] == y[1] && x[1] == y[0]
	}
	return false
}
