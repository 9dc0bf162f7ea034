package redact

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

var (
	longHex  = lazyregexp.New(`(?:[0-9A-Fa-f]-?){32}`)
	longWord = lazyregexp.New(`[0-9A-Za-z+_-]{12,}`)
)

// random reports whether a line holds what no one writes by hand: 32 hexadecimal digits,
// or a long word of capitals, small letters and digits. "NODE_ENV=production" and the
// URL of a service are no such lines.
func random(line string) bool {
	if at := longHex.FindString(line); strings.ContainsAny(at, digits) {
		return true
	}
	for rest := line; ; {
		at := longWord.FindStringIndex(rest)
		if at == nil {
			return false
		}
		w := rest[at[0]:at[1]]
		if strings.ContainsAny(w, digits) && strings.ToLower(w) != w && strings.ToUpper(w) != w {
			return true
		}
		rest = rest[at[1]:]
	}
}

const digits = "0123456789"
