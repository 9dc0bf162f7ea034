package codex

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// A Codex that starts makes links to itself below its home, by which its sandbox on Linux
// calls it, and clears away those of others that have ended. One that starts at the same
// moment may be taken for such: it says so, goes on, and each of its tools fails ("execvp
// codex-linux-sandbox: No such file or directory"), while the turn still ends well. So it
// is ended, and started anew as long as no thread has begun.

// Words of that. They are the first that such a Codex writes to stderr, among other warnings.
const (
	warning   = "WARNING: "
	linksLost = warning + "proceeding, even though we could not create PATH aliases: "
)

// passing are the reasons that another start beside it gives; all others stay.
var passing = []string{"operation would block", "No such file", "File exists"}

// starts is how often a turn's program is started at most.
const starts = 5

// errNoLinks ends a program whose tools would all fail.
var errNoLinks = errors.New("codex could not make the links by which its sandbox calls it, so that its tools would fail")

// linkWatch looks for those words in what Codex writes to stderr first.
type linkWatch struct {
	end  func(error)
	line []byte // that is being written
	why  string // what follows the words
	deaf bool   // what comes now is of no interest
}

func (l *linkWatch) hear(b []byte) {
	for !l.deaf && len(b) > 0 {
		rest, after, whole := bytes.Cut(b, []byte("\n"))
		l.line, b = append(l.line, rest...), after
		if !whole && len(l.line) < maxWarning {
			return
		}
		line := string(l.line)
		l.line = l.line[:0]
		why, is := strings.CutPrefix(line, linksLost)
		if l.deaf = is || !strings.HasPrefix(line, warning) || !whole; is {
			l.why = why
			l.end(errNoLinks)
		}
	}
}

// maxWarning is how long a line of a warning may be, in bytes.
const maxWarning = 4 << 10

// failure says why the program was ended, and whether another start may do better.
func (l *linkWatch) failure() (why error, again bool) {
	why = fmt.Errorf("%w: %s", errNoLinks, l.why)
	if slices.ContainsFunc(passing, func(s string) bool { return strings.Contains(l.why, s) }) {
		return &executor.Failure{Class: executor.FailTransient, Err: why}, true
	}
	return runner.Configuration(fmt.Errorf("%w (below CODEX_HOME, by default ~/.codex: it has to be writable, and outside of directories of temporary files)", why)), false
}

// sandboxed reports whether Codex confines its tools with those links.
func sandboxed(r executor.AgentRun) bool { return r.Wall == nil && runtime.GOOS == "linux" }

// pause lets others finish their start.
func pause() time.Duration { return rand.N(200 * time.Millisecond) }
