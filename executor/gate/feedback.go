package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
)

// telling is what lines that say what is wrong look like in the output of
// compilers, linters and test tools.
var telling = lazyregexp.New(`(?i)\b(?:error|errors|fatal|panic|exception|traceback|undefined|unresolved|assert(?:ion)?|expected|failed|failure|cannot|denied)\b|^\s*(?:--- FAIL|FAIL\b|not ok|✕|E\s)|^\S+\.\w+:\d+`)

// Bounds of feedback, in bytes.
const (
	tellingSize = 900     // of the first lines that say what is wrong
	tellingMax  = 300     // of one of them
	tellingRead = 1 << 20 // of each end of an output
	saidSize    = 1300    // of what tools said: the end of the output needs room, too
)

// feedback writes what a gate found: why in one line, then what tools said or the
// first lines that say what is wrong, then the end of the output.
func feedback(why string, s *results, stdout, stderr string) (string, error) {
	end, err := tail(stdout, stderr)
	if err != nil {
		return "", err
	}
	end = human(end)
	reason := cmp.Or(s.reason(), text.Clip(lastSaid(end), 160))
	if reason != "" {
		why += ": " + text.Clip(reason, maxReason)
	}
	said := s.said(end)
	if said == "" {
		said = firstLines(reason+"\n"+end, stdout, stderr)
	}
	if said != "" {
		said = clean(strings.TrimRight(text.Head(said, saidSize), "\n")) + "\n[…]\n"
	}
	why = clean(why) + "\n"
	return why + said + lastBytes(end, executor.MaxNote-len(why)-len(said)), nil
}

// said is what tools said of what failed: what they kept of it for machines, else
// each thing that the end of the output does not show, in a line. The first thing
// alone is in the reason.
func (s *results) said(end string) string {
	if s.text.Len() > 0 {
		return strings.TrimSpace(s.text.String())
	}
	found := s.reasons()
	if len(found) < 2 && (len(found) == 0 || len(found[0].why) <= maxWhy) {
		return ""
	}
	var b strings.Builder
	for i, f := range found {
		if f.why != "" && strings.Contains(end, f.why) {
			continue
		}
		if b.Len() > tellingSize {
			fmt.Fprintf(&b, "and %d more", len(found)-i)
			break
		}
		if f.test != "" && f.why != "" {
			b.WriteString(text.Clip(f.test, maxName) + ":\n    " + text.Clip(f.why, tellingMax) + "\n")
		} else {
			b.WriteString(text.Clip(f.test+f.why, tellingMax) + "\n")
		}
	}
	return b.String()
}

// human leaves out what go test -json writes for machines.
func human(text string) string {
	if !strings.Contains(text, `"Action":`) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "{") && !strings.HasSuffix(strings.TrimSpace(line), `}`) || !strings.Contains(line, `"Action":`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// lastBytes is the end of a text, from the start of a line, in at most n bytes.
func lastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-max(n, 0):]
	_, text, _ = strings.Cut(text, "\n")
	return text
}

// firstLines returns the first lines of the output that say what is wrong, unless
// the end shows them anyway.
func firstLines(end string, outputs ...string) string {
	var b strings.Builder
	for _, path := range slices.Compact(outputs) {
		_ = eachEnd(path, tellingRead, func(line string) { // what cannot be read is not told
			if b.Len() >= tellingSize || !telling.MatchString(line) {
				return
			}
			line = strings.TrimRight(text.Head(line, tellingMax), " \t")
			if !strings.Contains(end, line) && !strings.Contains(b.String(), line) {
				b.WriteString(line + "\n")
			}
		})
	}
	return b.String()
}
