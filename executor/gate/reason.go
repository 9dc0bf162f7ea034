package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
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

// report is what one tool printed so far. The reader of each tool embeds it.
type report struct {
	ran    bool                 // it ran tests
	counts *executor.TestCounts // nil: it did not say
	found  []*finding
	cur    *finding // the last of found, while lines about it follow; nil: none do
}

// test begins what is said of a failed test.
func (r *report) test(name string) *finding { return r.add(finding{test: name}) }

// says adds an error that is no test's.
func (r *report) says(why string) { r.add(finding{why: why}) }

func (r *report) add(f finding) *finding {
	r.cur = nil
	if len(r.found) < maxFindings {
		r.cur = &f
		r.found = append(r.found, r.cur)
	}
	return &f
}

// sum adds the counts of one run of the tool.
func (r *report) sum(c executor.TestCounts) {
	if was := r.counts; was != nil {
		c = plus(*was, c)
	}
	r.ran, r.counts, r.cur = true, &c, nil
}

// told implements listener.
func (r *report) told() *report { return r }

// summed is the report of a tool that ends with a summary: before that it is not known
// that it is one.
func (r *report) summed() *report {
	if !r.ran {
		return &report{}
	}
	return r
}

// number is the value of a group of digits, if any. What is too many is none: a sum of
// them fits.
func number(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil && n <= 1e9 {
		return n
	}
	return 0
}

var tallied = lazyregexp.New(`(\d+) ([a-z]+)`)

// tally reads the numbers of a summary, such as "2 failed, 1 passed".
func tally(summary string) (c executor.TestCounts) {
	for _, m := range tallied.FindAllStringSubmatch(summary, -1) {
		switch n := number(m[1]); m[2] {
		case "passed", "passing", "xpassed":
			c.Passed += n
		case "failed", "failing", "error", "errors":
			c.Failed += n
		case "skipped", "pending", "todo", "ignored", "xfailed":
			c.Skipped += n
		}
	}
	return c
}

// of completes counts: what neither failed nor was skipped of a total passed.
func of(total int, c executor.TestCounts) executor.TestCounts {
	c.Passed = max(total-c.Failed-c.Skipped, 0)
	return c
}

func plus(a, b executor.TestCounts) executor.TestCounts {
	return executor.TestCounts{Passed: a.Passed + b.Passed, Failed: a.Failed + b.Failed, Skipped: a.Skipped + b.Skipped}
}

// listener reads what one tool prints for people.
type listener interface {
	line(text string) // a line, in order, without escapes of a terminal
	told() *report    // after the last line
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
		s.found = append(s.found, lists.Map(t.found, func(f *finding) finding { return finding{inside(dir, f.test), strings.TrimSpace(inside(dir, f.why))} })...)
		s.ran = s.ran || t.ran
		if t.counts != nil && !s.seen {
			s.counted, s.counts = true, plus(s.counts, *t.counts)
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
	return slices.ContainsFunc(failed, func(f string) bool { return strings.HasPrefix(f, name+"/") })
}
