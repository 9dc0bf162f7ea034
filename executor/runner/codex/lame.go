package codex

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// A Codex that starts makes links to itself below its home, by which its sandbox calls it,
// and clears away those of others that have ended. One that starts at the same moment is
// taken for such: it says so, goes on, and each of its tools fails ("execvp
// codex-linux-sandbox: No such file or directory"), while the turn still ends well. So it
// is started anew.

// Words of that, on stderr.
var (
	lameWords  = []byte("could not create PATH aliases: ")
	neverWords = []byte("Refusing to ") // its home is where it makes none
)

// Starts of a turn's program, and how long it takes at most from one to the next.
const (
	starts     = 5
	startPause = 200 * time.Millisecond
)

// errLame ends a program whose tools would all fail.
var errLame = errors.New("codex could not make the links that its tools need")

// lame looks for those words in what Codex says first.
type lame struct {
	end  func(error)
	said []byte // the beginning of stderr
}

// maxLame is how much of stderr is looked at, in bytes.
const maxLame = 8 << 10

func (l *lame) hear(b []byte) {
	if len(l.said) >= maxLame {
		return
	}
	l.said = append(l.said, b[:min(len(b), maxLame-len(l.said))]...)
	if bytes.Contains(l.said, lameWords) {
		l.end(errLame)
	}
}

// failure is why the program was ended, and whether it may start better.
func (l *lame) failure() (why error, again bool) {
	_, text, _ := bytes.Cut(l.said, lameWords)
	text, _, _ = bytes.Cut(text, []byte("\n"))
	if bytes.HasPrefix(text, neverWords) {
		return runner.Configuration(fmt.Errorf("%w: %s: set CODEX_HOME to another directory", errLame, text)), false
	}
	return &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("%w: %s", errLame, text)}, true
}

// pause lets others finish their start.
func pause() time.Duration { return rand.N(startPause) }
