// Package foreigntest helps the tests of codecs to hold their documents against them.
package foreigntest

import (
	"strings"

	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Table is the losses as a table of markdown.
func Table(losses []foreign.Loss) string {
	var b strings.Builder
	b.WriteString("| field | what is lost |\n|---|---|\n")
	for _, l := range losses {
		b.WriteString("| " + l.Field + " | " + l.What + " |\n")
	}
	return b.String()
}
