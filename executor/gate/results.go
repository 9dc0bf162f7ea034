package gate

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lines"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
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
	why    string  // it failed, in a line
}

// results are what test tools reported while a gate ran.
type results struct {
	seen    bool // some tool reported for machines
	ran     bool // some tool ran tests
	counted bool // and said how many
	counts  executor.TestCounts
	failed  []string // in order, without repetition
	tests   []testResult
	found   []finding       // what is wrong
	text    strings.Builder // what failed tests printed, for people
	redact  func(string) string
}

// plain takes what steers a terminal and secrets out of what a file of a tool says.
func (s *results) plain(text string) string {
	if text = clean(text); s.redact != nil {
		text = s.redact(text)
	}
	return text
}

// add takes a test that a tool reported and returns how it is kept.
func (s *results) add(t testResult) testResult {
	s.seen, s.ran, s.counted = true, true, true
	switch t.State {
	case "pass":
		s.counts.Passed++
	case "fail":
		s.counts.Failed++
		t.Name, t.why, t.Output = s.plain(t.Name), s.plain(t.why), text.Head(s.plain(t.Output), testOutput)
		s.broke(t.Name, firstSaid(t.why))
	case "skip":
		s.counts.Skipped++
	}
	if t.State != "fail" {
		t.Output = ""
	}
	if len(s.tests) < maxTests || t.State == "fail" && len(s.tests) < 2*maxTests {
		s.tests = append(s.tests, t)
	}
	return t
}

// broke takes what failed, and why in a line.
func (s *results) broke(name, why string) {
	s.fail(name)
	if len(s.found) < maxFindings {
		s.found = append(s.found, finding{name, why})
	}
}

// firstSaid is the first line of a text that says something.
func firstSaid(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(text)
}

func (s *results) fail(name string) {
	if name != "" && len(s.failed) < maxTests && !slices.Contains(s.failed[:min(len(s.failed), 1000)], name) {
		s.failed = append(s.failed, name)
	}
}

// note keeps what a failed test printed, as far as feedback has room for it.
func (s *results) note(printed string) {
	if s.text.Len() < 2*executor.MaxNote {
		s.text.WriteString(text.Head(printed, 2*executor.MaxNote))
	}
}

// readResults finds what test tools reported: go test -json and TAP in the
// output, JUnit XML in files that are there by convention or that the output
// names, and that were written since the gate began. What cannot be read is not
// there: the verdict does not depend on it.
func readResults(dir string, begun time.Time, redact func(string) string, outputs ...string) *results {
	s := &results{redact: redact}
	for _, path := range outputs {
		s.readOutput(path)
	}
	if !s.seen {
		s.readJUnit(dir, begun, outputs)
	}
	return s
}

// readOutput reads go test -json and TAP.
func (s *results) readOutput(path string) {
	g := newGoTest(s)
	tap := tapReader{}
	_ = eachLine(path, func(line string) {
		if strings.HasPrefix(line, "{") {
			g.line(line)
			return
		}
		tap.line(line)
	})
	g.end()
	if !s.seen {
		tap.into(s)
	}
}

// eachLine calls f with each line of a file; of a line that is very long only
// with its beginning.
func eachLine(path string, f func(line string)) error {
	file, err := regular.OpenOwn(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return eachOf(file, f)
}

// eachEnd calls f with the lines of the first and of the last n bytes of a file.
func eachEnd(path string, n int64, f func(line string)) error {
	file, err := regular.OpenOwn(path)
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size <= 2*n {
		return eachOf(io.NewSectionReader(file, 0, size), f)
	}
	if err := eachOf(io.NewSectionReader(file, 0, n), f); err != nil {
		return err
	}
	first := true // and broken
	return eachOf(io.NewSectionReader(file, size-n, n), func(line string) {
		if !first {
			f(line)
		}
		first = false
	})
}

func eachOf(from io.Reader, f func(line string)) error {
	in := lines.Cutter{Max: maxLine, Each: func(b []byte, _ bool) error {
		f(strings.TrimRight(string(b), "\r"))
		return nil
	}}
	_, err := io.Copy(&in, from)
	return errors.Join(err, in.Close())
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
	_, err := keep(filepath.Join(r.Files, turn(r)+".tests.jsonl"), []byte(b.String()), r.Redact)
	return err
}

// into puts the results into a verdict.
func (s *results) into(out *executor.GateJudged) {
	if out.Verdict == executor.Pass && s.counts.Failed == 0 {
		s.failed = nil // words of a tool that tests one
	}
	for _, name := range s.failed[:min(len(s.failed), maxFailed)] {
		out.Failed = append(out.Failed, text.Head(clean(name), 100))
	}
	out.Tests = "skip"
	if !s.ran {
		return
	}
	out.Tests = string(out.Verdict)
	if !s.counted || s.counts == (executor.TestCounts{}) && out.Verdict != executor.Pass { // it did not come to its tests
		return
	}
	c := s.counts
	out.Counts = &c
	switch {
	case c.Failed > 0:
		out.Tests = "fail"
	case c.Passed == 0 && out.Verdict == executor.Pass:
		out.Tests = "skip"
	}
}
