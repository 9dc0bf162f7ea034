package runner

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
)

// promise is how an agent claims in its last words that it is done.
var promise = lazyregexp.New(`(?s)<promise>(.{0,400}?)</promise>`)

// promiseLines is how many lines from the end are its last words.
const promiseLines = 10

// Promised returns the text of the last <promise>…</promise> in an output's last lines,
// "" if there is none.
func Promised(path string) string {
	text, err := process.Tail(path, 8<<10)
	if err != nil {
		return ""
	}
	return promisedIn(text)
}

func promisedIn(said string) string {
	lines := strings.Split(strings.TrimRight(said, " \t\n"), "\n")
	all := promise.FindAllStringSubmatch(strings.Join(lines[max(0, len(lines)-promiseLines):], "\n"), -1)
	if len(all) == 0 {
		return ""
	}
	return text.Head(text.OneLine(all[len(all)-1][1]), 200)
}
