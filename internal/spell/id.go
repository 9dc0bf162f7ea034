package spell

import (
	"strings"
	"unicode/utf8"
)

// NearestID is Nearest for ids. Another number is another id, so that 1.9 is not near
// 1.2, but for a slip: a digit twice or once too rarely, or neighbours that changed
// places. An id with a prefix more or less is near where there is one such.
func NearestID(word string, known []string) (string, bool) {
	var alike []string
	prefixed, several := "", false
	for _, k := range known {
		if !otherNumber(word, k) && (utf8.RuneCountInString(word) > 1 || strings.EqualFold(word, k)) {
			alike = append(alike, k)
		}
		if hasPrefixed(k, word) || hasPrefixed(word, k) {
			several = several || prefixed != "" && prefixed != k
			prefixed = k
		}
	}
	if near, ok := Nearest(word, alike); ok {
		return near, true
	}
	if several {
		prefixed = ""
	}
	return prefixed, prefixed != ""
}

// otherNumber reports whether two ids differ in their digits alone, by more than a slip.
func otherNumber(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == b || strings.Map(withoutDigits, a) != strings.Map(withoutDigits, b) {
		return false
	}
	i := 0 // what both begin with
	for i < len(b) && a[i] == b[i] {
		i++
	}
	twice := i > 0 && len(a) == len(b)+1 && a[i] == a[i-1] && a[i+1:] == b[i:]
	swapped := len(a) == len(b) && i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return !twice && !swapped
}

// hasPrefixed reports whether an id is another one after a prefix without digits:
// T1, task-1 and build-api, of 1 and api.
func hasPrefixed(long, short string) bool {
	n := len(long) - len(short)
	if n <= 0 || short == "" || !strings.EqualFold(long[n:], short) || strings.ContainsAny(long[:n], "0123456789") {
		return false
	}
	return withoutDigits(rune(short[0])) < 0 || strings.IndexByte("-_./:# ", long[n-1]) >= 0
}

func withoutDigits(r rune) rune {
	if '0' <= r && r <= '9' {
		return -1
	}
	return r
}
