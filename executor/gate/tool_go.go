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
	goEnd    = lazyregexp.New(`^\s*--- (PASS|SKIP): (\S+) \(`)
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
	panic   *goCase            // what a time limit found running may follow
}

// goCase is a failed test, or one that runs.
type goCase struct {
	name     string
	why, now goLine // the line that says why it failed, as far as is known, and the last one
	means    bool   // why looks so
	died     string
	taken    bool // as failed
	passed   bool
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
		g.ends(text)
	case goResult.MatchString(text): // of a package
		g.ran, g.last, g.run, g.panic = true, nil, nil, nil
	case strings.HasPrefix(text, "panic: "), strings.HasPrefix(text, "fatal error: "):
		g.dies(text)
	case g.panic != nil && strings.HasPrefix(text, "\t\t"):
		if m := goOpen.FindStringSubmatch(text); m != nil { // the tests that a time limit found running
			g.takes(&goCase{name: m[1], died: g.panic.died})
		}
	default:
		if c := cmp.Or(g.last, g.run); c != nil && strings.HasPrefix(text, " ") {
			c.reads(text)
		}
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
	g.takes(c)
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

// ends takes the verdict on a test that did not fail, whatever it printed.
func (g *goListener) ends(text string) {
	m := goEnd.FindStringSubmatch(text)
	if c := g.open[m[2]]; c != nil {
		c.passed = true
		delete(g.open, m[2])
	}
	g.last, g.run = nil, nil
	if m[1] == "SKIP" {
		g.events.Skipped++
	} else {
		g.events.Passed++
	}
}

// dies takes the end of a program: in a test, or where none is known, as in TestMain.
func (g *goListener) dies(text string) {
	c := cmp.Or(g.last, g.run)
	if strings.HasPrefix(text, "panic: test timed out after ") {
		c = g.run // what failed before it has a reason of its own
	}
	if c == nil {
		c = &goCase{}
		g.last = c
	}
	c.dies(text)
	g.takes(c)
	g.panic = c
}

func (g *goListener) takes(c *goCase) {
	if !c.taken && len(g.tests) < maxFindings {
		g.tests, c.taken = append(g.tests, c), true
	}
}

func (c *goCase) dies(text string) {
	if c.died == "" {
		c.died, _, _ = strings.Cut(text, " [recovered")
	}
}

// reads takes a line that a test printed.
func (c *goCase) reads(printed string) {
	if m := goSays.FindStringSubmatch(printed); m != nil {
		c.weigh()
		c.now = goLine{m[1], strings.TrimSpace(m[2])}
		return
	}
	if c.now.at == "" || len(c.now.text) > maxWhy {
		return
	}
	if m := testify.FindStringSubmatch(printed); m != nil {
		c.now.text = strings.TrimSpace(c.now.text + " " + m[1])
	} else if m := compare.FindStringSubmatch(printed); m != nil {
		c.now.text = joined(c.now.text, text.OneLine(m[1]))
	}
}

// weigh keeps the last line if it says why: the first that looks so does, else the last.
func (c *goCase) weigh() {
	if c.now.text != "" && !c.means {
		c.why, c.means = c.now, goMeans.MatchString(c.now.text)
	}
}

// reason is why a test failed, "" if it did not say.
func (c *goCase) reason() string {
	if c.weigh(); c.died != "" || c.why.at == "" {
		return c.died
	}
	return c.why.at + ": " + c.why.text
}

// whyGo is why a test failed that printed this.
func whyGo(output string) string {
	c := goCase{}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			c.dies(line)
		} else {
			c.reads("    " + line)
		}
	}
	return c.reason()
}

func (g *goListener) told() *report {
	if g.verbose {
		g.counts = &g.events
	}
	for _, c := range g.tests {
		if !c.passed {
			g.add(finding{c.name, c.reason()})
		}
	}
	return &g.report
}
