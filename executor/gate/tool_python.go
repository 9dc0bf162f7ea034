package gate

import (
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

var (
	pytestSum  = lazyregexp.New(`^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s\b`)
	pytestPart = lazyregexp.New(`(\d+) ([a-z]+)`)
	pytestHead = lazyregexp.New(`^_{3,} (\S.*?) _{3,}$`)
	pytestName = lazyregexp.New(`^(?:FAILED|ERROR) ([^\s:]+\.py(?:::.*?)?)(?: - (.*))?$`)
)

// pytest reads pytest's report: a section for each failure, whose lines with an E
// say what is wrong, and a summary.
type pytest struct {
	ran      bool
	counts   *executor.TestCounts
	section  string
	said     map[string]string // by section
	sections []string
	found    []finding
}

func (p *pytest) line(text string) {
	switch {
	case strings.HasPrefix(text, "___"):
		if m := pytestHead.FindStringSubmatch(text); m != nil {
			p.section = m[1]
			p.sections = append(p.sections, m[1])
		}
	case strings.HasPrefix(text, "E  "):
		if why := strings.TrimSpace(text[1:]); p.section != "" && p.said[p.section] == "" {
			if p.said == nil {
				p.said = map[string]string{}
			}
			p.said[p.section] = why
		}
	case strings.HasPrefix(text, "FAILED "), strings.HasPrefix(text, "ERROR "):
		if m := pytestName.FindStringSubmatch(text); m != nil && len(p.found) < maxFindings {
			p.ran, p.section = true, ""
			p.found = append(p.found, finding{m[1], m[2]})
		}
	case strings.Contains(text, " in "):
		if m := pytestSum.FindStringSubmatch(text); m != nil {
			p.sum(m[1])
		}
	}
}

// sum reads the last line: 2 failed, 1 passed in 0.01s.
func (p *pytest) sum(text string) {
	c := executor.TestCounts{}
	for _, m := range pytestPart.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1]) // digits; what is too many is none
		switch m[2] {
		case "passed", "xpassed":
			c.Passed += n
		case "failed", "error", "errors":
			c.Failed += n
		case "skipped", "xfailed":
			c.Skipped += n
		}
	}
	if c != (executor.TestCounts{}) {
		p.ran, p.counts, p.section = true, &c, ""
	}
}

func (p *pytest) told() told {
	t := told{tests: p.ran, counts: p.counts}
	if !p.ran {
		return t
	}
	for _, f := range p.found {
		if s := p.said[p.sectionOf(f.test)]; s != "" && (f.why == "" || strings.HasSuffix(f.why, "...") || strings.HasPrefix(s, f.why)) {
			f.why = s // the summary is cut at the width of the terminal
		}
		t.add(f)
	}
	if len(p.found) == 0 { // no summary: -rN
		for _, s := range p.sections {
			if p.said[s] != "" {
				t.add(finding{s, p.said[s]})
			}
		}
	}
	return t
}

// sectionOf is the title of the section about a test.
func (p *pytest) sectionOf(name string) string {
	file, test, is := strings.Cut(name, "::")
	if !is {
		return "ERROR collecting " + file
	}
	return strings.ReplaceAll(test, "::", ".")
}

var (
	unitHead  = lazyregexp.New(`^(?:FAIL|ERROR): (\S+) \(([^\s)]+)\)`)
	unitRan   = lazyregexp.New(`^Ran (\d+) tests? in [\d.]+s$`)
	unitEnd   = lazyregexp.New(`^(?:OK|FAILED)(?: \((.*)\))?$`)
	unitCount = lazyregexp.New(`(failures|errors|skipped|expected failures|unexpected successes)=(\d+)`)
)

// unittest reads the report of Python's own test runner.
type unittest struct {
	cur    *finding
	found  []*finding
	trace  bool // the next line without indentation is the exception
	total  int
	ended  bool
	counts *executor.TestCounts
}

func (u *unittest) line(text string) {
	switch {
	case strings.HasPrefix(text, "FAIL: "), strings.HasPrefix(text, "ERROR: "):
		if m := unitHead.FindStringSubmatch(text); m != nil && len(u.found) < maxFindings {
			name := m[2]
			if !strings.HasSuffix(name, "."+m[1]) { // before Python 3.11
				name += "." + m[1]
			}
			u.cur = &finding{test: name}
			u.found = append(u.found, u.cur)
			u.trace = false
		}
	case strings.HasPrefix(text, "Traceback (most recent call last)"):
		u.trace = true
	case strings.HasPrefix(text, "======"), strings.HasPrefix(text, "Ran "):
		u.cur = nil
		if m := unitRan.FindStringSubmatch(text); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits; what is too many is none
			u.total, u.ended = u.total+n, true
		}
	case u.ended && (strings.HasPrefix(text, "OK") || strings.HasPrefix(text, "FAILED")):
		u.end(text)
	case u.trace && u.cur != nil && text != "" && text[0] != ' ' && text[0] != '\t':
		u.cur.why, u.trace = text, false
	}
}

// end reads the last line: FAILED (failures=1, errors=1).
func (u *unittest) end(text string) {
	m := unitEnd.FindStringSubmatch(text)
	if m == nil {
		return
	}
	c := executor.TestCounts{}
	for _, n := range unitCount.FindAllStringSubmatch(m[1], -1) {
		k, _ := strconv.Atoi(n[2]) // digits; what is too many is none
		switch n[1] {
		case "failures", "errors", "unexpected successes":
			c.Failed += k
		default:
			c.Skipped += k
		}
	}
	c.Passed = max(u.total-c.Failed-c.Skipped, 0)
	u.counts, u.ended, u.total = plus(u.counts, c), false, 0
}

func (u *unittest) told() told {
	t := told{tests: u.counts != nil, counts: u.counts}
	if u.counts != nil { // other programs write ERROR: too
		for _, f := range u.found {
			t.add(*f)
		}
	}
	return t
}

// plus adds counts of one more run.
func plus(sum *executor.TestCounts, c executor.TestCounts) *executor.TestCounts {
	if sum != nil {
		c.Passed, c.Failed, c.Skipped = c.Passed+sum.Passed, c.Failed+sum.Failed, c.Skipped+sum.Skipped
	}
	return &c
}
