package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/executor"
)

// maxOutcome bounds an outcome file, in bytes.
const maxOutcome = 1 << 20

// readOutcome reads what an agent wrote about its work. No file, or an empty
// one, is the zero Outcome; everything that is not an outcome is Invalid.
func readOutcome(path string) (executor.Outcome, executor.Usage) {
	none := executor.Usage{}
	st, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return executor.Outcome{}, none
	}
	invalid := func(format string, args ...any) (executor.Outcome, executor.Usage) {
		return invalid(format, args...), none
	}
	if err != nil {
		return invalid("%v", err)
	}
	if !st.Mode().IsRegular() { // a pipe or a link could make ralph wait, or read elsewhere
		return invalid("the outcome is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return invalid("%v", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxOutcome+1))
	switch {
	case err != nil:
		return invalid("%v", err)
	case len(b) > maxOutcome:
		return invalid("it is longer than %d bytes", maxOutcome)
	case strings.TrimSpace(string(b)) == "":
		return executor.Outcome{}, none
	}
	return parseOutcome(b)
}

// invalid says why something is no outcome.
func invalid(format string, args ...any) executor.Outcome {
	return executor.Outcome{Invalid: clip(clean(fmt.Sprintf(format, args...)), 300)}
}

// clean removes control characters, so that a summary cannot steer a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
