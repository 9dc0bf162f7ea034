package rules

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
)

// quoted puts untrusted text into a fence that it cannot close, as lines. Invisible
// characters are escaped, so that an agent sees what a reader sees.
func quoted(text, info string) []string {
	text = plain(text)
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	out := append([]string{fence + info}, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
	return append(out, fence)
}

// maxRun bounds runs of backticks in a quoted text: the fence around it is longer.
const maxRun = 32

// plain is a text with line feeds alone, without characters that do not show and
// without endless runs of backticks.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text, _ = reveal.Text(text)
	return tooLong.ReplaceAllString(text, strings.Repeat("`", maxRun))
}

// tooLong is a run of more than maxRun backticks.
var tooLong = lazyregexp.New(fmt.Sprintf("`{%d,}", maxRun+1))

// longestRun returns the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// word is a short text of another's on one line, for a table's cell or a list.
func word(s string) string {
	s = text.OneLine(plain(s))
	return strings.ReplaceAll(text.Clip(s, 160), "|", "\\|")
}
