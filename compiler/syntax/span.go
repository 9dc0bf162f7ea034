package syntax

import (
	"iter"
	"strings"
)

// span is a half-open interval of bytes.
type span struct{ start, end int }

// trimmed returns src[at:end] without the white space around it.
func trimmed(src string, at, end int) span {
	for at < end && isSpace(src[at]) {
		at++
	}
	for end > at && isSpace(src[end-1]) {
		end--
	}
	return span{at, end}
}

// upTo returns where the first of some characters is in src[at:end]; end if none does.
func upTo(src string, at, end int, chars string) int {
	if n := strings.IndexAny(src[at:end], chars); n >= 0 {
		return at + n
	}
	return end
}

// decimals are the digits of ids and numbers.
const decimals = "0123456789"

// lines yields where each line of src[at:end] begins, and where it ends before its line end.
func (p *parser) lines(at, end int) iter.Seq2[int, int] {
	return func(yield func(at, stop int) bool) {
		for ; at < end; at = nextLine(p.src[:end], at) {
			if !yield(at, min(lineEnd(p.src, at), end)) {
				return
			}
		}
	}
}

// first returns the text of the first paragraph of a list item; ok is false if it begins
// with something else.
func (b *block) first() (at, end int, ok bool) {
	if len(b.kids) == 0 || b.kids[0].kind != paraBlock {
		return 0, 0, false
	}
	return int(b.kids[0].start), int(b.kids[0].end), true
}

// eolAt returns the line end that the file uses at or before an offset.
func eolAt(src string, at int) string {
	at = min(at, len(src))
	if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
		at += i
	} else if at = strings.LastIndexByte(src, '\n'); at < 0 {
		return "\n"
	}
	if at > 0 && src[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineEnd returns the offset of the line end of the line at: of "\r\n", "\n" or
// the end of the text.
func lineEnd(src string, at int) int {
	end := len(src)
	if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
		end = at + i
	}
	if end > at && src[end-1] == '\r' {
		end--
	}
	return end
}

// nextLine returns the offset of the first byte after the line at.
func nextLine(src string, at int) int {
	if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

// lineStart returns the offset of the first byte of the line at.
func lineStart(src string, at int) int { return strings.LastIndexByte(src[:at], '\n') + 1 }

// opener returns where the bracket is opened that s ends with; -1 if it is not.
func opener(s string, open byte) int {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case s[len(s)-1]:
			depth++
		case open:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
