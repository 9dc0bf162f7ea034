package gate

import (
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// number is what a group of digits says; no digits are none.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // what is too many is none
	return n
}

var (
	jestSum  = lazyregexp.New(`^Tests: +(?:(\d+) failed, )?(?:(\d+) skipped, )?(?:(\d+) todo, )?(?:(\d+) passed, )?(\d+) total$`)
	jestFile = lazyregexp.New(`^FAIL (\S+)`)
	jestTest = lazyregexp.New(`^  ● (\S.*)$`)
)

// jest reads jest's report.
type jest struct {
	file   string
	cur    *finding
	found  []*finding
	more   bool // lines with what was expected and received may follow
	ran    bool
	counts *executor.TestCounts
}

func (j *jest) line(text string) {
	switch {
	case strings.HasPrefix(text, "FAIL "):
		if m := jestFile.FindStringSubmatch(text); m != nil {
			j.file, j.cur = m[1], nil
		}
	case strings.HasPrefix(text, "  ● "):
		m := jestTest.FindStringSubmatch(text)
		if m == nil || len(j.found) >= maxFindings {
			return
		}
		name := m[1]
		if name == "Test suite failed to run" {
			name = j.file
		}
		j.cur, j.more = &finding{test: name}, true
		j.found = append(j.found, j.cur)
	case strings.HasPrefix(text, "Tests: "):
		if m := jestSum.FindStringSubmatch(text); m != nil {
			j.ran, j.cur = true, nil
			j.counts = plus(j.counts, executor.TestCounts{Passed: number(m[4]), Failed: number(m[1]), Skipped: number(m[2]) + number(m[3])})
		}
	case strings.HasPrefix(text, "Test Suites: "):
		j.cur = nil
	case j.cur != nil && strings.HasPrefix(text, "    "):
		text = strings.TrimSpace(text)
		switch {
		case text == "":
		case j.cur.why == "":
			j.cur.why = text
		case j.more && (strings.HasPrefix(text, "Expected") || strings.HasPrefix(text, "Received")):
			j.cur.why += ", " + text
		default:
			j.more = false
		}
	}
}

func (j *jest) told() told { return reported(j.ran, j.counts, j.found) }

// reported is what a report told; before its summary nobody knows that it is one.
func reported(ran bool, counts *executor.TestCounts, found []*finding) told {
	t := told{tests: ran, counts: counts}
	for _, f := range found {
		if ran {
			t.add(*f)
		}
	}
	return t
}

var (
	vitestFail  = lazyregexp.New(`^ FAIL  (\S.*?)(?: \[ \S+ \])?$`)
	vitestSum   = lazyregexp.New(`^ +Tests  (?:no tests|(\d.*) \(\d+\))$`)
	vitestCount = lazyregexp.New(`(\d+) (failed|passed|skipped|todo)`)
)

// vitest reads vitest's report.
type vitest struct {
	cur    []*finding // several titles may stand before one error
	found  []*finding
	ran    bool
	counts *executor.TestCounts
}

func (v *vitest) line(text string) {
	switch {
	case strings.HasPrefix(text, " FAIL  "):
		if m := vitestFail.FindStringSubmatch(text); m != nil && len(v.found) < maxFindings {
			f := &finding{test: m[1]}
			v.found, v.cur = append(v.found, f), append(v.cur, f)
		}
	case strings.Contains(text, " Tests  "):
		m := vitestSum.FindStringSubmatch(text)
		if m == nil {
			return
		}
		c := executor.TestCounts{}
		for _, n := range vitestCount.FindAllStringSubmatch(m[1], -1) {
			switch n[2] {
			case "failed":
				c.Failed += number(n[1])
			case "passed":
				c.Passed += number(n[1])
			default:
				c.Skipped += number(n[1])
			}
		}
		v.ran = true
		if m[1] != "" {
			v.counts = plus(v.counts, c)
		}
	case len(v.cur) > 0 && strings.TrimSpace(text) != "":
		for _, f := range v.cur {
			f.why = strings.TrimSpace(text)
		}
		v.cur = nil
	}
}

func (v *vitest) told() told { return reported(v.ran, v.counts, v.found) }

var (
	mochaCount = lazyregexp.New(`^  (\d+) (passing|failing|pending)(?: \(.*\))?$`)
	mochaTitle = lazyregexp.New(`^  \d+\) (\S.*)$`)
)

// mocha reads the report of mocha's default reporter.
type mocha struct {
	counts *executor.TestCounts
	lists  bool // the failures are listed
	cur    *finding
	named  bool
	found  []*finding
}

func (m *mocha) line(text string) {
	switch {
	case strings.HasPrefix(text, "  ") && len(text) > 2 && text[2] >= '0' && text[2] <= '9':
		if c := mochaCount.FindStringSubmatch(text); c != nil {
			m.count(c[2], number(c[1]))
		} else if c := mochaTitle.FindStringSubmatch(text); c != nil && m.lists && len(m.found) < maxFindings {
			m.cur, m.named = &finding{test: strings.TrimSuffix(c[1], ":")}, strings.HasSuffix(c[1], ":")
			m.found = append(m.found, m.cur)
		}
	case m.cur == nil || strings.TrimSpace(text) == "":
	case !m.named:
		text = strings.TrimSpace(text)
		m.named = strings.HasSuffix(text, ":")
		m.cur.test += " > " + strings.TrimSuffix(text, ":")
	case m.cur.why == "", strings.HasSuffix(m.cur.why, ":"):
		m.cur.why = strings.TrimSpace(m.cur.why + " " + strings.TrimSpace(text))
	}
}

func (m *mocha) count(what string, n int) {
	c := executor.TestCounts{}
	switch what {
	case "passing":
		c.Passed, m.lists = n, false
	case "failing":
		c.Failed, m.lists = n, true
	default:
		c.Skipped = n
	}
	m.counts, m.cur = plus(m.counts, c), nil
}

func (m *mocha) told() told {
	t := told{tests: m.counts != nil, counts: m.counts}
	for _, f := range m.found {
		t.add(*f)
	}
	return t
}

var (
	nodeCount = lazyregexp.New(`^(?:ℹ|#) (tests|pass|fail|cancelled|skipped|todo) (\d+)$`)
	nodeTitle = lazyregexp.New(`^✖ (.+?) \([\d.]+ms\)$`)
)

// nodeTest reads node --test as it reports to people; what it reports as TAP has a
// reader of its own.
type nodeTest struct {
	counts map[string]int
	lists  bool // the failures are listed
	cur    *finding
	found  []*finding
}

func (n *nodeTest) line(text string) {
	switch {
	case strings.HasPrefix(text, "ℹ "), strings.HasPrefix(text, "# "):
		if m := nodeCount.FindStringSubmatch(text); m != nil {
			if n.counts == nil {
				n.counts = map[string]int{}
			}
			n.counts[m[1]] += number(m[2])
		}
	case text == "✖ failing tests:":
		n.lists = true
	case n.lists && strings.HasPrefix(text, "✖ "):
		if m := nodeTitle.FindStringSubmatch(text); m != nil && len(n.found) < maxFindings {
			n.cur = &finding{test: m[1]}
			n.found = append(n.found, n.cur)
		}
	case n.cur != nil && strings.HasPrefix(text, "  "):
		if text = strings.TrimSpace(text); text != "" && (n.cur.why == "" || strings.HasSuffix(n.cur.why, ":")) {
			n.cur.why = strings.TrimSpace(n.cur.why + " " + text)
		}
	}
}

func (n *nodeTest) told() told {
	c := n.counts
	if _, is := c["cancelled"]; !is { // only node counts these
		return told{}
	}
	t := told{tests: true, counts: &executor.TestCounts{Passed: c["pass"], Failed: c["fail"] + c["cancelled"], Skipped: c["skipped"] + c["todo"]}}
	for _, f := range n.found {
		t.add(*f)
	}
	return t
}
