package gate

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

var (
	tapLine = lazyregexp.New(`^(not )?ok\b(?: +\d+)?(?: *-? *)([^#]*?)\s*(?:#\s*(\w+).*)?$`)
	tapPlan = lazyregexp.New(`^(?:1\.\.\d+|TAP version \d+)`)
	tapSub  = lazyregexp.New(`^# Subtest(?:: (.*))?$`)
	tapWhy  = lazyregexp.New(`^(?:error|message): *(.*)$`)
	tapSum  = lazyregexp.New(`^# *(?:tests|suites|pass|fail|failed|cancelled|skip|skipped|todo|duration_ms|time)\b[ =:]*[\d.]`)
)

// tapReader reads TAP with its subtests: the line that ends a block of them is no
// test of its own.
type tapReader struct {
	plan   bool
	titles []string // of the blocks that are open, by depth
	points []tapPoint
	said   bool // lines about the last point follow
	text   bool // the error goes on in the next line
}

type tapPoint struct {
	testResult
	depth int
}

func (t *tapReader) line(text string) {
	bare := strings.TrimLeft(text, " ")
	depth := (len(text) - len(bare)) / 4
	switch {
	case tapPlan.MatchString(bare) && depth*4 == len(text)-len(bare):
		t.plan, t.said = t.plan || depth == 0, false
	case strings.HasPrefix(bare, "# Subtest"):
		if m := tapSub.FindStringSubmatch(bare); m != nil && depth < 20 {
			t.titles = append(t.titles[:min(depth, len(t.titles))], m[1])
		}
	case (strings.HasPrefix(bare, "ok") || strings.HasPrefix(bare, "not ok")) && depth*4 == len(text)-len(bare):
		t.point(bare, depth)
	case t.said && t.text && bare != "":
		t.why(bare)
		t.text = strings.HasSuffix(bare, ":")
	case bare == "...", tapSum.MatchString(bare): // the end of what is said of a point; the counts of all
		t.said = false
	case t.said && strings.HasPrefix(bare, "#"):
		t.why(strings.TrimSpace(bare[1:]))
	case t.said:
		if m := tapWhy.FindStringSubmatch(bare); m != nil {
			if t.text = strings.HasPrefix(m[1], "|") || strings.HasPrefix(m[1], ">"); !t.text {
				t.why(strings.Trim(m[1], `"'`))
			}
		}
	}
}

func (t *tapReader) point(line string, depth int) {
	m := tapLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	t.said, t.text = false, false
	k := len(t.points)
	for k > 0 && t.points[k-1].depth > depth {
		k--
	}
	if k < len(t.points) { // it ends a block
		for i := k; i < len(t.points); i++ {
			t.points[i].depth = depth
		}
		return
	}
	if len(t.points) >= 2*maxTests || depth > 0 && len(t.titles) == 0 {
		return
	}
	over := slices.DeleteFunc(slices.Clone(t.titles[:min(depth, len(t.titles))]), func(s string) bool { return s == "" })
	p := tapPoint{testResult{Name: strings.Join(append(over, m[2]), " > "), State: "pass"}, depth}
	word := strings.ToLower(m[3])
	switch {
	case strings.HasPrefix(word, "skip") || word == "todo": // a failing todo is none
		p.State = "skip"
	case m[1] != "":
		p.State, t.said = "fail", true
	}
	t.points = append(t.points, p)
}

// why adds to what is said of the last point.
func (t *tapReader) why(text string) {
	if p := &t.points[len(t.points)-1]; len(p.why) < maxWhy {
		p.why = strings.TrimSpace(p.why + " " + text)
	}
}

func (t *tapReader) into(s *results) {
	if !t.plan {
		return
	}
	for _, p := range t.points {
		s.add(p.testResult)
	}
}
