package text

import (
	"strings"
	"unicode/utf8"
)

// ellipsis ends what was shortened.
const ellipsis = "…"

// Head returns the beginning of s, at most n bytes of it.
func Head[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for at := n; at >= 0 && at > n-utf8.UTFMax; at-- {
		if utf8.RuneStart(s[at]) {
			return s[:at]
		}
	}
	return s[:n] // the beginning, or no text
}

// Tail returns the end of s, at most n bytes of it.
func Tail(s string, n int) string {
	from := len(s) - min(n, len(s))
	for at := from; at < len(s) && at < from+utf8.UTFMax; at++ {
		if utf8.RuneStart(s[at]) {
			return s[at:]
		}
	}
	return s[from:]
}

// Clip shortens s to at most n bytes, the ellipsis at its end included.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Head(s, n-len(ellipsis)) + ellipsis
}

// Shorten shortens s to at most n characters, the ellipsis at its end included.
func Shorten(s string, n int) string {
	if kept, cut := beginning(s, n); cut {
		return kept + ellipsis
	}
	return s
}

// Title is Shorten for a title: without a space before the ellipsis.
func Title(s string, n int) string {
	if kept, cut := beginning(s, n); cut {
		return strings.TrimSpace(kept) + ellipsis
	}
	return s
}

// beginning is what stays of s beside an ellipsis, if it has more than n characters.
func beginning(s string, n int) (kept string, cut bool) {
	if len(s) <= n {
		return s, false
	}
	end, seen := 0, 0
	for i := range s {
		if seen == n-1 {
			end = i
		}
		if seen++; seen > n {
			return s[:end], true
		}
	}
	return s, false
}

// OneLine returns the words of s with one space between them.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// FirstLine returns the first line of s that is not blank, without space around it.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// LastLine returns the last line of s that is not blank, without space around it.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// FileName returns s as a part of a file's name: ASCII letters and digits, "-", "_"
// and "." stay, every other character becomes "-". A name of its own should not be
// made of it alone, because ".." stays what it is.
func FileName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		}
		return '-'
	}, s)
}
