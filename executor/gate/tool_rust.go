package gate

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

var (
	cargoSum   = lazyregexp.New(`^test result: \w+\. (\d+ passed; \d+ failed; \d+ ignored);`)
	cargoFail  = lazyregexp.New(`^(?:test )?(.+?)(?: - (?:should panic|compile(?: fail)?))? (?:\.\.\.|---) FAILED$`)
	cargoRuns  = lazyregexp.New(`^running \d+ tests?$`)
	cargoHead  = lazyregexp.New(`^---- (.+?) stdout ----$`)
	cargoPanic = lazyregexp.New(`^thread '.*' (?:\(\d+\) )?panicked at (.+)$`)
	// cargoSays is why a test failed that did not panic.
	cargoSays = lazyregexp.New(`^(?:Error: .|note: test did not panic as expected)`)
)

// cargoTest reads cargo test.
type cargoTest struct {
	report
	failed []string
	why    map[string]string
	about  string // the test that is told of
	open   bool   // the message of a panic goes on
	died   bool   // it panicked: why is known
	begun  bool   // cargo runs tests
}

func (c *cargoTest) line(text string) {
	switch {
	case !c.begun && strings.HasPrefix(text, "running "):
		c.begun = cargoRuns.MatchString(text)
	case strings.HasPrefix(text, "test "), c.begun && strings.HasSuffix(text, " --- FAILED"): // with -q
		if m := cargoSum.FindStringSubmatch(text); m != nil {
			c.sum(tally(m[1]))
			c.about = ""
		} else if m := cargoFail.FindStringSubmatch(text); m != nil && len(c.failed) < maxFindings {
			c.failed = append(c.failed, m[1])
		}
	case strings.HasPrefix(text, "---- "):
		if m := cargoHead.FindStringSubmatch(text); m != nil {
			c.about, c.open, c.died = m[1], false, false
			if c.why == nil {
				c.why = map[string]string{}
			}
		}
	case c.about == "":
	case cargoSays.MatchString(text) && c.why[c.about] == "":
		c.why[c.about] = strings.TrimPrefix(text, "note: ")
	case strings.HasPrefix(text, "thread '") && !c.died:
		if m := cargoPanic.FindStringSubmatch(text); m != nil {
			c.why[c.about], c.open, c.died = m[1], true, true
		}
	case text == "", strings.HasPrefix(text, "stack backtrace:"), strings.HasPrefix(text, "note: "):
		c.open = false
	case c.open && len(c.why[c.about]) < maxWhy:
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "left:") || strings.HasPrefix(text, "right:") {
			text = ", " + text
		} else {
			text = " " + text
		}
		c.why[c.about] += text
	}
}

func (c *cargoTest) told() *report {
	for _, name := range c.failed {
		c.test(name).why = c.why[name]
	}
	return &c.report
}

var (
	rustError = lazyregexp.New(`^error(?:\[E\d+\])?: (.+)$`)
	rustAt    = lazyregexp.New(`^ +--> (\S+:\d+:\d+)$`)
)

// rustc reads errors of the Rust compiler and of clippy: what, then where.
type rustc struct {
	report
	what string
}

func (r *rustc) line(text string) {
	if strings.HasPrefix(text, "error") {
		if r.what = ""; rustError.MatchString(text) {
			r.what = text
		}
		return
	}
	if r.what == "" {
		return
	}
	if m := rustAt.FindStringSubmatch(text); m != nil {
		r.says(m[1] + ": " + r.what)
	}
	r.what = ""
}
