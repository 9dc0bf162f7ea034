package gate

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/regular"
)

var (
	// failedTest finds the names of failed tests in what other test tools print.
	failedTest = lazyregexp.New(`(?m)^\s*(?:FAILED (\S+::\S+)|not ok \d+ -? ?(.+)|✕ (.+?)(?: \(\d+ ms\))?)\s*$`)
	// changing is what differs between two runs of the same failure.
	changing = lazyregexp.New(`(?:/[\w.@+-]+){2,}|0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:ns|µs|ms|s|m|h)?`)
)

// headSize is how much of the output a signature looks at, in bytes.
const headSize = 64 << 10

// signature names a failure: by the failed tests, else by the first 20 lines of
// the output with numbers, paths and times blanked.
func signature(why string, failed []string, stdout, stderr string) (string, error) {
	if len(failed) > 0 {
		return signTests(failed), nil
	}
	all, err := head(stdout, stderr)
	return signLines(why, all), err
}

// head is the beginning of what was printed.
func head(outputs ...string) (string, error) {
	var all strings.Builder
	for _, path := range slices.Compact(outputs) {
		f, err := regular.OpenOwn(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(&all, io.LimitReader(f, headSize))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	return all.String(), nil
}

// printed takes the names of failed tests from what looks like them, if no tool
// is known that names them.
func (s *results) printed(outputs ...string) {
	if s.seen || len(s.failed) > 0 {
		return
	}
	all, err := head(outputs...)
	if err != nil {
		return // feedback meets the same error and tells it
	}
	for _, m := range failedTest.FindAllStringSubmatch(all, -1) {
		s.fail(strings.TrimSpace(m[1] + m[2] + m[3]))
	}
}

// signText names a failure reported in words.
func signText(text string) string { return signLines("", text) }

func signTests(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return sign(strings.Join(slices.Compact(names), "\n"))
}

func signLines(why, all string) string {
	var lines []string
	sc := bufio.NewScanner(strings.NewReader(all))
	sc.Buffer(nil, max(headSize, len(all))+1)
	for len(lines) < 20 && sc.Scan() {
		lines = append(lines, changing.ReplaceAllString(sc.Text(), "_"))
	}
	return sign(changing.ReplaceAllString(why, "_") + "\n" + strings.Join(lines, "\n"))
}

func sign(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
