package gate

import (
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

var (
	jestSum  = lazyregexp.New(`^Tests: +((?:\d+ [a-z]+, )*)\d+ total$`)
	jestFile = lazyregexp.New(`^FAIL (\S+)`)
	jestTest = lazyregexp.New(`^  ● (\S.*)$`)
)

// joined is why a test failed with one line more, in bounded room.
func joined(why, more string) string {
	switch {
	case why == "":
		return more
	case len(why) > maxWhy:
		return why
	case strings.HasSuffix(why, ":"):
		return why + " " + more
	}
	return why + ", " + more
}

// jest reads jest's report.
type jest struct {
	report
	file string
	more bool // lines with what was expected and received may follow
}

func (j *jest) line(text string) {
	switch {
	case strings.HasPrefix(text, "FAIL "):
		if m := jestFile.FindStringSubmatch(text); m != nil {
			j.file, j.cur = m[1], nil
		}
	case strings.HasPrefix(text, "  ● "):
		m := jestTest.FindStringSubmatch(text)
		if m == nil {
			return
		}
		j.more = true
		switch m[1] {
		case "Console": // what tests printed
			j.cur = nil
		case "Test suite failed to run":
			j.test(j.file)
		default:
			j.test(m[1])
		}
	case strings.HasPrefix(text, "Tests: "):
		if m := jestSum.FindStringSubmatch(text); m != nil {
			j.sum(tally(m[1]))
		}
	case j.cur != nil && strings.HasPrefix(text, "    "):
		text = strings.TrimSpace(text)
		switch {
		case j.cur.why == "":
			j.cur.why = text
		case j.more && (strings.HasPrefix(text, "Expected") || strings.HasPrefix(text, "Received")):
			j.cur.why = joined(j.cur.why, text)
		default:
			j.more = false
		}
	}
}

func (j *jest) told() *report { return j.summed() }

var (
	vitestFail = lazyregexp.New(`^ FAIL  (\S.*?)(?: \[ \S+ \])?$`)
	vitestSum  = lazyregexp.New(`^ +Tests  (?:no tests|(\d.*) \(\d+\))$`)
)

// vitest reads vitest's report.
type vitest struct {
	report
	titles []*finding // several may be before one error
}

func (v *vitest) line(text string) {
	switch {
	case strings.HasPrefix(text, " FAIL  "):
		if m := vitestFail.FindStringSubmatch(text); m != nil {
			v.test(m[1])
			v.titles = append(v.titles, v.cur)
		}
	case strings.Contains(text, " Tests  "):
		if m := vitestSum.FindStringSubmatch(text); m != nil && m[1] != "" {
			v.sum(tally(m[1]))
		} else if m != nil {
			v.ran = true
		}
	case strings.TrimSpace(text) != "":
		for _, f := range v.titles {
			f.why = strings.TrimSpace(text)
		}
		v.titles = nil
	}
}

func (v *vitest) told() *report { return v.summed() }

var (
	mochaCount = lazyregexp.New(`^  (\d+ (?:passing|failing|pending))(?: \(.*\))?$`)
	mochaTitle = lazyregexp.New(`^  (\d+)\) (\S.*)$`)
)

// mocha reads the report of mocha's default reporter.
type mocha struct {
	report
	next  int // the number of the failure that is listed next; 0: none are
	named bool
}

func (m *mocha) line(text string) {
	switch {
	case m.heads(text), m.cur == nil, strings.TrimSpace(text) == "":
	case !m.named:
		text = strings.TrimSpace(text)
		m.cur.test += " > " + strings.TrimSuffix(text, ":")
		m.named = strings.HasSuffix(text, ":") || len(m.cur.test) > maxName
	case m.cur.why == "", strings.HasSuffix(m.cur.why, ":"):
		m.cur.why = joined(m.cur.why, strings.TrimSpace(text))
	}
}

// heads takes a line that begins a part of the report: a count, or the next failure.
func (m *mocha) heads(text string) bool {
	if !strings.HasPrefix(text, "  ") || len(text) < 3 || text[2] < '0' || text[2] > '9' {
		return false
	}
	if c := mochaCount.FindStringSubmatch(text); c != nil {
		n := tally(c[1])
		m.next = min(n.Failed, 1)
		m.sum(n)
		return true
	}
	c := mochaTitle.FindStringSubmatch(text)
	if c == nil || m.next == 0 || number(c[1]) != m.next {
		return false
	}
	m.test(strings.TrimSuffix(c[2], ":"))
	m.named = strings.HasSuffix(c[2], ":")
	m.next++
	return true
}

var (
	nodeCount = lazyregexp.New(`^ℹ (tests|pass|fail|cancelled|skipped|todo) (\d+)$`)
	nodeTitle = lazyregexp.New(`^✖ (.+?) \([\d.]+ms\)$`)
)

// nodeTest reads node --test as it reports to people; what it reports as TAP has a
// reader of its own.
type nodeTest struct {
	report
	said  map[string]int // by what is counted
	lists bool           // the failures are listed
}

func (n *nodeTest) line(text string) {
	switch {
	case strings.HasPrefix(text, "ℹ "):
		if m := nodeCount.FindStringSubmatch(text); m != nil {
			if n.said == nil {
				n.said = map[string]int{}
			}
			n.said[m[1]] += number(m[2])
		}
	case text == "✖ failing tests:":
		n.lists = true
	case n.lists && strings.HasPrefix(text, "✖ "):
		if m := nodeTitle.FindStringSubmatch(text); m != nil {
			n.test(m[1])
		}
	case n.cur != nil && strings.HasPrefix(text, "  "):
		if text = strings.TrimSpace(text); text != "" && (n.cur.why == "" || strings.HasSuffix(n.cur.why, ":")) {
			n.cur.why = joined(n.cur.why, text)
		}
	}
}

func (n *nodeTest) told() *report {
	c := n.said
	if _, is := c["cancelled"]; is { // only node counts these
		n.sum(executor.TestCounts{Passed: c["pass"], Failed: c["fail"] + c["cancelled"], Skipped: c["skipped"] + c["todo"]})
	}
	return n.summed()
}
