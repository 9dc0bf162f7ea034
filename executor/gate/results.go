package gate

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// Bounds of what is kept of test results.
const (
	maxTests   = 10_000   // in the file of results
	maxFailed  = 10       // names in the event
	maxLine    = 64 << 10 // bytes of a line of output that is looked at
	testOutput = 2000     // bytes of a test's output
)

// testResult is one test, as the file of results has it.
type testResult struct {
	Name   string  `json:"name"`
	State  string  `json:"state"` // pass, fail, skip
	Millis float64 `json:"ms"`
	Output string  `json:"output,omitempty"` // of a failed one, clipped
}

// results are what test tools reported while a gate ran.
type results struct {
	seen   bool // some tool reported
	counts executor.TestCounts
	failed []string // in order, without repetition
	tests  []testResult
	text   strings.Builder // what failed tests printed, for people
}

func (s *results) add(t testResult) {
	s.seen = true
	switch t.State {
	case "pass":
		s.counts.Passed++
	case "fail":
		s.counts.Failed++
		s.fail(t.Name)
	case "skip":
		s.counts.Skipped++
	}
	if t.State != "fail" {
		t.Output = ""
	}
	t.Output = executor.Clip(clean(t.Output), testOutput)
	if len(s.tests) < maxTests || t.State == "fail" && len(s.tests) < 2*maxTests {
		s.tests = append(s.tests, t)
	}
}

func (s *results) fail(name string) {
	if name != "" && len(s.failed) < maxTests && !slices.Contains(s.failed[:min(len(s.failed), 1000)], name) {
		s.failed = append(s.failed, name)
	}
}

// note keeps what a failed test printed, as far as feedback has room for it.
func (s *results) note(text string) {
	if s.text.Len() < 2*executor.MaxNote {
		s.text.WriteString(executor.Clip(text, 2*executor.MaxNote))
	}
}

// readResults finds what test tools reported: go test -json and TAP in the
// output, JUnit XML in files that are there by convention or that the output
// names, and that were written since the gate began. What cannot be read is not
// there: the verdict does not depend on it.
func readResults(dir string, begun time.Time, outputs ...string) *results {
	s := &results{}
	for _, path := range outputs {
		s.readOutput(path)
	}
	if !s.seen {
		s.readJUnit(dir, begun, outputs)
	}
	return s
}

var (
	tapLine = regexp.MustCompile(`^(not )?ok\b(?: +\d+)?(?: *-? *)([^#]*?)\s*(?:#\s*(\w+).*)?$`)
	tapPlan = regexp.MustCompile(`^(?:1\.\.\d+|TAP version \d+)`)
)

// readOutput reads go test -json and TAP.
func (s *results) readOutput(path string) {
	g := newGoTest(s)
	tap := false
	var oks []testResult
	_ = eachLine(path, func(line string) {
		if strings.HasPrefix(line, "{") {
			g.line(line)
			return
		}
		tap = tap || tapPlan.MatchString(line)
		if !strings.HasPrefix(line, "ok") && !strings.HasPrefix(line, "not ok") || len(oks) >= 2*maxTests {
			return
		}
		m := tapLine.FindStringSubmatch(line)
		if m == nil {
			return
		}
		t := testResult{Name: m[2], State: "pass"}
		word := strings.ToLower(m[3])
		switch {
		case strings.HasPrefix(word, "skip") || word == "todo": // a failing todo is none
			t.State = "skip"
		case m[1] != "":
			t.State = "fail"
		}
		oks = append(oks, t)
	})
	g.end()
	if !tap || s.seen {
		return
	}
	for _, t := range oks {
		s.add(t)
	}
}

// eachLine calls f with each line of a file; of a line that is very long only
// with its beginning.
func eachLine(path string, f func(line string)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, maxLine)
	for {
		b, err := in.ReadSlice('\n')
		f(strings.TrimRight(string(b), "\r\n"))
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of it
			_, err = in.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// keepTests writes one line of JSON for each test.
func (s *results) keepTests(r executor.GateRun) error {
	if len(s.tests) == 0 {
		return nil
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, t := range s.tests {
		if err := e.Encode(t); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.Files, turn(r)+".tests.jsonl"), []byte(b.String()), 0o600)
}

// into puts the results into a verdict.
func (s *results) into(out *executor.GateJudged) {
	for _, name := range s.failed[:min(len(s.failed), maxFailed)] {
		out.Failed = append(out.Failed, executor.Clip(clean(name), 100))
	}
	if !s.seen {
		return
	}
	c := s.counts
	out.Counts = &c
	switch {
	case c.Failed > 0:
		out.Tests = "fail"
	case c.Passed == 0 && c.Skipped > 0 && out.Verdict == executor.Pass:
		out.Tests = "skip"
	}
}
