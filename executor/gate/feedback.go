package gate

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
)

// telling is what lines that say what is wrong look like in the output of
// compilers, linters and test tools.
var telling = regexp.MustCompile(`(?i)\b(?:error|errors|fatal|panic|exception|traceback|undefined|unresolved|assert(?:ion)?|expected|failed|failure|cannot|denied)\b|^\s*(?:--- FAIL|FAIL\b|not ok|✕|E\s)|^\S+\.\w+:\d+`)

// Bounds of feedback, in bytes.
const (
	tellingSize = 900 // of the first lines that say what is wrong
	tellingMax  = 300 // of one of them
	tellingRead = 8 << 20
)

// feedback writes what a gate found: why in one line, then what failed tests
// printed or the first lines that say what is wrong, then the end of the output.
func feedback(why string, s *results, stdout, stderr string) (string, error) {
	if c := s.counts; s.seen && c.Failed > 0 {
		why += fmt.Sprintf(": %d of %d tests failed", c.Failed, c.Passed+c.Failed+c.Skipped)
	}
	if len(s.failed) > 0 {
		names := s.failed[:min(len(s.failed), 5)]
		why += ": " + executor.Clip(strings.Join(names, ", "), 300)
		if more := len(s.failed) - len(names); more > 0 {
			why += fmt.Sprintf(" and %d more", more)
		}
	}
	if s.text.Len() > 0 { // machine-readable output is no reading for an agent
		return executor.Clip(why+"\n"+clean(strings.TrimSpace(s.text.String())), executor.MaxNote), nil
	}
	text, err := tail(stdout, stderr)
	if err != nil {
		return "", err
	}
	if l := lastLine(text); l != "" && len(s.failed) == 0 {
		why += ": " + executor.Clip(l, 160)
	}
	lines := firstLines(text, stdout, stderr)
	if lines != "" {
		lines += "[…]\n"
		text, err = process.Tail(stderr, int64(max(executor.MaxNote-len(why)-len(lines)-60, 200)))
		if err != nil {
			return "", err
		}
	}
	return executor.Clip(clean(why+"\n"+lines+text), executor.MaxNote), nil
}

// firstLines returns the first lines of the output that say what is wrong, unless
// the end shows them anyway.
func firstLines(end string, outputs ...string) string {
	var b strings.Builder
	for i, path := range outputs {
		if i > 0 && path == outputs[i-1] {
			continue
		}
		read := 0
		_ = eachLine(path, func(line string) { // what cannot be read is not told
			read += len(line)
			if read > tellingRead || b.Len() >= tellingSize || !telling.MatchString(line) {
				return
			}
			line = strings.TrimRight(executor.Clip(line, tellingMax), " \t")
			if !strings.Contains(end, line) && !strings.Contains(b.String(), line) {
				b.WriteString(line + "\n")
			}
		})
	}
	return b.String()
}

// bound shortens a verdict until it fits into an event.
func bound(g *executor.GateJudged) {
	const room = 3600
	for range 20 {
		b, err := json.Marshal(g)
		if err != nil || len(b) <= room {
			return
		}
		switch {
		case len(g.Failed) > 3:
			g.Failed = g.Failed[:len(g.Failed)/2]
		case len(g.Removed) > 3:
			g.Removed = g.Removed[:len(g.Removed)/2]
		default:
			g.Message = executor.Clip(g.Message, len(g.Message)*3/4)
		}
	}
}
