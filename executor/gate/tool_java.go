package gate

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

var (
	mavenSum  = lazyregexp.New(`^\[(?:ERROR|WARNING|INFO)\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$`)
	mavenHead = lazyregexp.New(`^\[ERROR\] (\S+) +(?:-- )?Time elapsed: .* <<< (?:FAILURE|ERROR)!`)
	mavenOld  = lazyregexp.New(`^(\w+)\(([\w.$]+)\)$`)
	mavenJava = lazyregexp.New(`^\[ERROR\] (\S+\.(?:java|kt|scala|groovy)):\[(\d+),(\d+)\] (.+)$`)
	mavenGoal = lazyregexp.New(`^\[ERROR\] (Failed to execute goal \S+) .*on project (.+)$`)
)

// maven reads what surefire and the compiler plugin print.
type maven struct{ report }

func (m *maven) line(text string) {
	if m.cur != nil { // the exception is in the line below the name
		if text != "" && text[0] != '[' {
			m.cur.why = strings.TrimPrefix(strings.TrimSpace(text), "java.lang.")
		}
		m.cur = nil
	}
	if !strings.HasPrefix(text, "[") {
		return
	}
	if s := mavenSum.FindStringSubmatch(text); s != nil {
		m.sum(of(number(s[1]), executor.TestCounts{Failed: number(s[2]) + number(s[3]), Skipped: number(s[4])}))
		return
	}
	if !strings.HasPrefix(text, "[ERROR] ") {
		return
	}
	if s := mavenHead.FindStringSubmatch(text); s != nil {
		name := s[1]
		if o := mavenOld.FindStringSubmatch(name); o != nil { // method(class), of older releases
			name = o[2] + "." + o[1]
		}
		m.test(name)
	} else if s := mavenJava.FindStringSubmatch(text); s != nil {
		m.say(s[1] + ":" + s[2] + ":" + s[3] + ": " + s[4])
	} else if s := mavenGoal.FindStringSubmatch(text); s != nil {
		_, why, _ := strings.Cut(s[2], ": ")
		m.say(s[1] + ": " + strings.TrimSuffix(why, " -> [Help 1]"))
	}
}

// say adds an error, which is told once more at the end.
func (m *maven) say(why string) {
	if !slices.ContainsFunc(m.found, func(f *finding) bool { return f.why == why }) {
		m.says(why)
	}
	m.cur = nil
}

var (
	gradleSum  = lazyregexp.New(`^(\d+) tests? completed, (\d+ failed(?:, \d+ skipped)?)$`)
	gradleFail = lazyregexp.New(`^(\S.*?) > (.+) FAILED$`)
)

// gradle reads what a test task prints; counts only when a test failed, because it
// prints none otherwise.
type gradle struct{ report }

func (g *gradle) line(text string) {
	switch {
	case g.cur != nil && g.cur.why == "" && strings.HasPrefix(text, "    "):
		g.cur.why = strings.TrimPrefix(strings.TrimSpace(text), "java.lang.")
	case strings.HasSuffix(text, " FAILED") && strings.Contains(text, " > "):
		if m := gradleFail.FindStringSubmatch(text); m != nil && !strings.HasPrefix(text, "> ") {
			g.test(strings.TrimSuffix(m[1]+"."+strings.ReplaceAll(m[2], " > ", "."), "()"))
		}
	case strings.Contains(text, " completed, "):
		if m := gradleSum.FindStringSubmatch(text); m != nil {
			g.sum(of(number(m[1]), tally(m[2])))
		}
	default:
		g.cur = nil
	}
}

func (g *gradle) told() *report { return g.summed() }
