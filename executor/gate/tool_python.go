package gate

import (
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

var (
	pytestSum  = lazyregexp.New(`^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+(?:s| seconds)\b`)
	pytestHead = lazyregexp.New(`^_{3,} (\S.*?) _{3,}$`)
	pytestName = lazyregexp.New(`^(?:FAILED|ERROR) ([^\s:]+\.py(?:::.*?)?)(?: - (.*))?$`)
)

// pytest reads pytest's report: a section for each failure, whose lines with an E
// say what is wrong, and a summary.
type pytest struct {
	report
	section  string
	said     map[string]string // by section
	sections []string
}

func (p *pytest) line(text string) {
	switch {
	case strings.HasPrefix(text, "___"):
		if m := pytestHead.FindStringSubmatch(text); m != nil {
			p.section = m[1]
			p.sections = append(p.sections, m[1])
		}
	case strings.HasPrefix(text, "E  "):
		if why := strings.TrimSpace(text[1:]); p.said[p.section] == "" {
			if p.said == nil {
				p.said = map[string]string{}
			}
			p.said[p.section] = why
		}
	case strings.HasPrefix(text, "FAILED "), strings.HasPrefix(text, "ERROR "):
		if m := pytestName.FindStringSubmatch(text); m != nil {
			p.ran, p.section = true, ""
			p.add(finding{m[1], m[2]})
		}
	case strings.Contains(text, " in "):
		if m := pytestSum.FindStringSubmatch(text); m != nil {
			if c := tally(m[1]); c != (executor.TestCounts{}) {
				p.ran, p.counts, p.section = true, &c, ""
			}
		}
	}
}

func (p *pytest) told() *report {
	for _, f := range p.found {
		if s := p.said[p.sectionOf(f.test)]; s != "" && (f.why == "" || strings.HasSuffix(f.why, "...")) {
			f.why = s // the summary is cut at the width of the terminal
		}
	}
	if len(p.found) == 0 { // no summary: -rN
		for _, s := range p.sections {
			if p.said[s] != "" {
				p.add(finding{s, p.said[s]})
			}
		}
	}
	return p.summed()
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
	report
	trace bool // the next line without indentation is the exception
	total int
	ended bool
}

func (u *unittest) line(text string) {
	switch {
	case strings.HasPrefix(text, "FAIL: "), strings.HasPrefix(text, "ERROR: "):
		if m := unitHead.FindStringSubmatch(text); m != nil {
			name := m[2]
			if !strings.HasSuffix(name, "."+m[1]) { // before Python 3.11
				name += "." + m[1]
			}
			u.test(name)
			u.trace = false
		}
	case strings.HasPrefix(text, "Traceback (most recent call last)"):
		u.trace = true
	case strings.HasPrefix(text, "Ran "):
		if m := unitRan.FindStringSubmatch(text); m != nil {
			u.total, u.ended = u.total+number(m[1]), true
		}
	case u.ended && (strings.HasPrefix(text, "OK") || strings.HasPrefix(text, "FAILED")):
		u.end(text)
	case u.trace && u.cur != nil && text != "" && text[0] != ' ':
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
		switch k := number(n[2]); n[1] {
		case "failures", "errors", "unexpected successes":
			c.Failed += k
		default:
			c.Skipped += k
		}
	}
	u.sum(of(u.total, c))
	u.ended, u.total = false, 0
}

func (u *unittest) told() *report { return u.summed() } // other programs write ERROR: too
