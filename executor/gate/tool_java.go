package gate

import (
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
type maven struct {
	counts *executor.TestCounts
	cur    *finding
	tests  []*finding
	found  []finding
}

func (m *maven) line(text string) {
	if m.cur != nil { // the exception stands in the line below the name
		if text != "" && text[0] != '[' {
			m.cur.why = strings.TrimPrefix(strings.TrimSpace(text), "java.lang.")
		}
		m.cur = nil
	}
	if !strings.HasPrefix(text, "[") {
		return
	}
	if s := mavenSum.FindStringSubmatch(text); s != nil {
		failed, skipped := number(s[2])+number(s[3]), number(s[4])
		m.counts = plus(m.counts, executor.TestCounts{Passed: max(number(s[1])-failed-skipped, 0), Failed: failed, Skipped: skipped})
		return
	}
	if !strings.HasPrefix(text, "[ERROR] ") || len(m.tests)+len(m.found) >= maxFindings {
		return
	}
	if s := mavenHead.FindStringSubmatch(text); s != nil {
		name := s[1]
		if o := mavenOld.FindStringSubmatch(name); o != nil { // method(class), of older releases
			name = o[2] + "." + o[1]
		}
		m.cur = &finding{test: name}
		m.tests = append(m.tests, m.cur)
	} else if s := mavenJava.FindStringSubmatch(text); s != nil {
		m.say(s[1] + ":" + s[2] + ":" + s[3] + ": " + s[4])
	} else if s := mavenGoal.FindStringSubmatch(text); s != nil {
		_, why, _ := strings.Cut(s[2], ": ")
		m.say(s[1] + ": " + strings.TrimSuffix(why, " -> [Help 1]"))
	}
}

func (m *maven) say(why string) {
	for _, f := range m.found {
		if f.why == why {
			return // it is told once more at the end
		}
	}
	m.found = append(m.found, finding{why: why})
}

func (m *maven) told() told {
	t := told{tests: m.counts != nil, counts: m.counts}
	for _, f := range m.tests {
		t.add(*f)
	}
	for _, f := range m.found {
		t.add(f)
	}
	return t
}

var (
	gradleSum  = lazyregexp.New(`^(\d+) tests? completed, (\d+) failed(?:, (\d+) skipped)?$`)
	gradleFail = lazyregexp.New(`^(\S.*?) > (.+) FAILED$`)
)

// gradle reads what a test task prints; counts only when a test failed, because it
// prints none otherwise.
type gradle struct {
	counts *executor.TestCounts
	cur    *finding
	found  []*finding
}

func (g *gradle) line(text string) {
	switch {
	case g.cur != nil && g.cur.why == "" && strings.HasPrefix(text, "    "):
		g.cur.why = strings.TrimPrefix(strings.TrimSpace(text), "java.lang.")
	case strings.HasSuffix(text, " FAILED") && strings.Contains(text, " > "):
		if m := gradleFail.FindStringSubmatch(text); m != nil && len(g.found) < maxFindings && !strings.HasPrefix(text, "> ") {
			g.cur = &finding{test: strings.TrimSuffix(m[1]+"."+strings.ReplaceAll(m[2], " > ", "."), "()")}
			g.found = append(g.found, g.cur)
		}
	case strings.Contains(text, " completed, "):
		if m := gradleSum.FindStringSubmatch(text); m != nil {
			failed, skipped := number(m[2]), number(m[3])
			g.counts = plus(g.counts, executor.TestCounts{Passed: max(number(m[1])-failed-skipped, 0), Failed: failed, Skipped: skipped})
		}
	default:
		g.cur = nil
	}
}

func (g *gradle) told() told {
	t := told{tests: g.counts != nil, counts: g.counts}
	for _, f := range g.found {
		if g.counts != nil {
			t.add(*f)
		}
	}
	return t
}
