package gate

import (
	"cmp"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
)

var (
	goFail   = lazyregexp.New(`--- FAIL: (\S+) \([\d.]+s\)$`)
	goRun    = lazyregexp.New(`^=== (?:RUN|NAME|CONT) +(\S+)`)
	goEnd    = lazyregexp.New(`^\s*--- (?:PASS|SKIP): `)
	goResult = lazyregexp.New(`^(?:ok  \t\S+\t(?:\d|\(cached\))|FAIL\t\S+\t\d)`)
	goSays   = lazyregexp.New(`^\s+([^\s:]+\.go:\d+): ?(.*)$`)
	goOpen   = lazyregexp.New(`^\t\t(\S+) \([\dhms.]+\)$`)
	// goMeans is what a line looks like that says what is wrong, beside others that a test logged.
	goMeans = lazyregexp.New(`(?i)\b(?:want|wanted|expected|got|error|fail(?:ed)?|race|not|cannot|mismatch|invalid|nil|missing|unexpected)\b|!=`)
	// testify writes what is wrong below the line that says where.
	testify = lazyregexp.New(`^\s+(?:Error: +\t?|Error:\s+)(\S.*)$`)
	compare = lazyregexp.New(`^\s+((?:expected|actual) *: .*)$`)
)

// goListener reads go test without -json, with -v and without.
type goListener struct {
	report
	verbose bool
	events  executor.TestCounts // of -v
	tests   []*goCase
	run     *goCase            // what runs: lines come before the verdict (-v)
	open    map[string]*goCase // tests that have not ended (-v)
	last    *goCase            // failed: lines come after the verdict
	panic   bool
}

// goCase is a failed test, or one that runs.
type goCase struct {
	name  string
	lines []goLine
	died  string
}

type goLine struct{ at, text string }

func (g *goListener) line(text string) {
	switch {
	case strings.Contains(text, "--- FAIL: "):
		g.failed(text)
	case strings.HasPrefix(text, "=== "):
		if m := goRun.FindStringSubmatch(text); m != nil {
			g.begins(m[1])
		}
	case strings.Contains(text, "--- ") && goEnd.MatchString(text):
		g.last, g.run = nil, nil
		if strings.Contains(text, "--- SKIP") {
			g.events.Skipped++
		} else {
			g.events.Passed++
		}
	case goResult.MatchString(text):
		g.ran, g.last, g.run = true, nil, nil
	case strings.HasPrefix(text, "panic: "), strings.HasPrefix(text, "fatal error: "):
		g.dies(text)
	case g.panic && strings.HasPrefix(text, "\t\t"):
		if m := goOpen.FindStringSubmatch(text); m != nil { // the tests that a time limit found running
			g.tests = append(g.tests, &goCase{name: m[1], died: g.last.died})
			g.panic = false
		}
	default:
		g.says(text)
	}
}

func (g *goListener) failed(text string) {
	m := goFail.FindStringSubmatch(text)
	if m == nil {
		return
	}
	g.ran = true
	g.events.Failed++
	c := cmp.Or(g.open[m[1]], &goCase{name: m[1]})
	delete(g.open, m[1])
	if len(g.tests) < maxFindings {
		g.tests = append(g.tests, c)
	}
	g.last, g.run = c, nil
}

func (g *goListener) begins(name string) {
	g.ran, g.verbose, g.last = true, true, nil
	if g.open == nil {
		g.open = map[string]*goCase{}
	}
	if g.open[name] == nil && len(g.open) < maxOpen {
		g.open[name] = &goCase{name: name}
	}
	g.run = g.open[name]
}

func (g *goListener) dies(text string) {
	c := cmp.Or(g.last, g.run)
	if c == nil {
		c = &goCase{}
		g.last = c
	}
	if c.died == "" {
		text, _, _ = strings.Cut(text, " [recovered")
		c.died = text
	}
	if c == g.run {
		g.tests = append(g.tests, c)
	}
	g.last, g.panic = c, true
}

func (g *goListener) says(printed string) {
	c := cmp.Or(g.last, g.run)
	if c == nil || len(c.lines) >= 20 || !strings.HasPrefix(printed, " ") {
		return
	}
	if m := goSays.FindStringSubmatch(printed); m != nil {
		c.lines = append(c.lines, goLine{m[1], strings.TrimSpace(m[2])})
		return
	}
	if k := len(c.lines) - 1; k >= 0 {
		l := &c.lines[k]
		if m := testify.FindStringSubmatch(printed); m != nil {
			l.text = strings.TrimSpace(l.text + " " + m[1])
		} else if m := compare.FindStringSubmatch(printed); m != nil {
			l.text += ", " + text.OneLine(m[1])
		}
	}
}

// why is the line that says why a test failed: the first that looks so, else the last.
func (c *goCase) why() string {
	if c.died != "" {
		return c.died
	}
	best := goLine{}
	for _, l := range c.lines {
		if l.text == "" {
			continue
		}
		best = l
		if goMeans.MatchString(l.text) {
			break
		}
	}
	if best.at == "" {
		return ""
	}
	return best.at + ": " + best.text
}

// whyGo is why a test failed that printed this.
func whyGo(output string) string {
	g := goListener{last: &goCase{}}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "panic: ") && !strings.HasPrefix(line, "fatal error: ") {
			line = "    " + line
		}
		g.line(line)
	}
	return g.last.why()
}

func (g *goListener) told() *report {
	if g.verbose {
		g.counts = &g.events
	}
	for _, c := range g.tests {
		g.test(c.name).why = c.why()
	}
	return &g.report
}
