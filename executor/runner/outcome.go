package runner

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
)

// maxOutcome bounds an outcome file, in bytes.
const maxOutcome = 1 << 20

// ReadOutcome reads an agent's report on its work. A missing or empty file is the zero
// Outcome; everything that is not an outcome is Invalid.
func ReadOutcome(path string) (executor.Outcome, executor.Usage) {
	none := executor.Usage{}
	st, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return executor.Outcome{}, none
	}
	invalid := func(format string, args ...any) (executor.Outcome, executor.Usage) {
		return executor.InvalidOutcome(format, args...), none
	}
	if err != nil {
		return invalid("%v", err)
	}
	if !st.Mode().IsRegular() { // a pipe or a link could make ralph wait, or read elsewhere
		return invalid("the outcome is not a regular file")
	}
	f, err := regular.OpenOwn(path)
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
	return executor.ParseOutcome(b)
}

func note(s string, n int) string { return text.Head(executor.Clean(strings.TrimSpace(s)), n) }

func trimRight(s string) string { return strings.TrimRight(s, "\n") }
