package depend

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/compiler/syntax"
)

// PlainID writes an id in plain ASCII; with padded, leading zeros go.
func PlainID(id string, padded bool) string {
	id = syntax.FoldID(id)
	if padded {
		id = syntax.Unpadded(id)
	}
	return id
}

// Oddity explains why an id is not in plain form: a sentence without its full stop.
func Oddity(written, plain string) string {
	for _, r := range written {
		if r >= utf8.RuneSelf {
			return fmt.Sprintf("%q (U+%04X) is not the ASCII character it looks like", string(r), r)
		}
	}
	if strings.EqualFold(written, plain) {
		return "Letters in the id are lower case"
	}
	return "Numbers in the id have no leading zeros"
}
