package gate

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
)

// finding is one thing that a tool says is wrong.
type finding struct {
	test string // the failed test as the tool names it; "" where it is none: a compiler's error
	why  string // what is wrong, in a line
}

func (f finding) String() string {
	switch {
	case f.test == "":
		return f.why
	case f.why == "":
		return text.Clip(f.test, maxName)
	}
	return text.Clip(f.test, maxName) + ": " + text.Clip(f.why, maxWhy)
}

// told is what one tool printed.
type told struct {
	tests  bool // it ran tests
	counts *executor.TestCounts
	found  []finding
}

func (t *told) add(f finding) {
	if len(t.found) < maxFindings {
		t.found = append(t.found, f)
	}
}

// listener reads what one tool prints for people.
type listener interface {
	line(text string) // a line, in order, without escapes of a terminal
	told() told       // after the last line
}

// listeners are the tools whose output is understood: those that run tests, then
// those that only compile or lint. What an earlier one found is the reason.
func listeners() []listener {
	return []listener{
		&goListener{}, &pytest{}, &unittest{}, &jest{}, &vitest{}, &mocha{}, &nodeTest{}, &cargoTest{}, &maven{}, &gradle{},
		&rustc{}, &located{}, &eslint{}, &npm{},
	}
}

// Bounds of what is looked at and told.
const (
	readEach    = 4 << 20 // bytes of the beginning of an output, and of its end
	readLine    = 2000    // bytes of a line
	maxFindings = 1000    // of a tool
	maxName     = 120     // bytes of a test's name
	maxWhy      = 200     // bytes of why it failed
	maxReason   = 270     // bytes of all of the reason
)

// hear takes what tools printed for people. dir is the worktree, whose path is left
// out of what is said.
func (s *results) hear(dir string, outputs ...string) {
	all := listeners()
	for _, path := range outputs {
		_ = eachEnd(path, readEach, func(line string) { // feedback meets the same error and tells it
			if len(line) > readLine {
				line = line[:readLine]
			}
			line = process.Plain(line)
			for _, l := range all {
				l.line(line)
			}
		})
	}
	for _, l := range all {
		t := l.told()
		for _, f := range t.found {
			s.found = append(s.found, finding{inside(dir, f.test), strings.TrimSpace(inside(dir, f.why))})
		}
		s.ran = s.ran || t.tests
		if t.counts != nil && !s.seen {
			s.counted, s.counts = true, *plus(&s.counts, *t.counts)
		}
	}
	if len(s.failed) > 0 {
		return // what a tool wrote for machines is more than what it says
	}
	for _, f := range s.found {
		s.fail(f.test)
	}
}

// inside leaves the path of the worktree out of a text.
func inside(dir, text string) string {
	if dir == "" {
		return text
	}
	return strings.ReplaceAll(text, strings.TrimSuffix(dir, "/")+"/", "")
}

// reason is why the command failed, in a line, "" if no tool said it.
func (s *results) reason() string {
	found := s.reasons()
	var b strings.Builder
	if c := s.counts; c.Failed > 0 {
		fmt.Fprintf(&b, "%d of %d tests failed", c.Failed, c.Passed+c.Failed+c.Skipped)
	}
	for i, f := range found {
		line := text.Clip(f.String(), maxName+maxWhy)
		switch {
		case i == 0 && b.Len() > 0:
			b.WriteString(": " + line)
		case i == 0:
			b.WriteString(line)
		default:
			if f.test != "" {
				line = text.Clip(f.test, maxName)
			}
			if i > 3 || b.Len()+len(line) > maxReason-20 {
				fmt.Fprintf(&b, "; and %d more", len(found)-i)
				return b.String()
			}
			b.WriteString("; " + line)
		}
	}
	return b.String()
}

// reasons are the failed tests, without those that only hold another one; where
// there are none, what else tools said.
func (s *results) reasons() []finding {
	why := map[string]string{}
	var tests, others []finding
	for _, f := range s.found {
		if f.test == "" {
			others = append(others, f)
		} else if why[f.test] == "" {
			why[f.test] = f.why
		}
	}
	failed := s.failed[:min(len(s.failed), maxFindings)]
	for _, name := range failed {
		if !covers(name, failed) {
			tests = append(tests, finding{name, why[name]})
		}
	}
	if len(tests) > 0 {
		return tests
	}
	return others
}

// covers reports whether a name is the one of a test that holds another failed one.
func covers(name string, failed []string) bool {
	for _, f := range failed {
		if strings.HasPrefix(f, name+"/") {
			return true
		}
	}
	return false
}
