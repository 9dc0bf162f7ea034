package gate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Of a long file the lines of both ends are read, without the one in which the last end begins.
func TestLinesOfBothEnds(t *testing.T) {
	for text, want := range map[string][]string{
		"1\n2\n3\n":                 {"1", "2", "3"},
		"12345678\n1234567890\n":    {"12345678", "1234567890"}, // twice 10 bytes
		"12345678\n\n12345678":      {"12345678", "", "12345678"},
		"1234567\nabc\nab\n12345\n": {"1234567", "ab", "ab", "12345"},
	} {
		var got []string
		if err := eachEnd(written(t, text), 10, func(line string) { got = append(got, line) }); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
}

// A package that does not compile is told of once, with its first error; so is one that died
// outside of a test.
func TestPackagesOfGoTest(t *testing.T) {
	s := &results{}
	g := newGoTest(s)
	for _, line := range []string{
		`{"ImportPath":"m/x","Action":"build-output","Output":"# m/x\n"}`,
		`{"ImportPath":"m/x","Action":"build-output","Output":"a.go:3:1: undefined: a\n"}`,
		`{"ImportPath":"m/x","Action":"build-output","Output":"a.go:4:1: undefined: b\n"}`,
		`{"ImportPath":"m/x","Action":"build-fail"}`,
		`{"ImportPath":"m/x [m/x.test]","Action":"build-output","Output":"a.go:3:1: undefined: a\n"}`,
		`{"ImportPath":"m/x [m/x.test]","Action":"build-fail"}`,
		`{"Action":"output","Package":"m/x","Output":"FAIL\tm/x [build failed]\n"}`,
		`{"Action":"fail","Package":"m/x","Elapsed":0}`,
		`{"Action":"output","Package":"m/y","Output":"FAIL\tm/y [build failed]\n"}`,
		`{"Action":"fail","Package":"m/y","Elapsed":0}`,
		`{"Action":"output","Package":"m/z","Output":"FAIL\tm/z [setup failed]\n"}`,
		`{"Action":"fail","Package":"m/z","Elapsed":0}`,
	} {
		g.line(line)
	}
	if want := []finding{{"m/x", "a.go:3:1: undefined: a"}}; !slices.Equal(s.found, want) {
		t.Errorf("found %q, want %q", s.found, want)
	}
	if want := []string{"m/x", "m/y", "m/z"}; !slices.Equal(s.failed, want) {
		t.Errorf("failed are %q, want %q", s.failed, want)
	}
	if got, want := s.text.String(), "# m/x\na.go:3:1: undefined: a\na.go:4:1: undefined: b\nFAIL\tm/z [setup failed]\n"; got != want {
		t.Errorf("told is %q, want %q", got, want)
	}
}

// A build that failed is a report of go test, even where nothing follows it.
func TestABuildThatFailedIsAReport(t *testing.T) {
	s := &results{}
	newGoTest(s).line(`{"ImportPath":"m/x","Action":"build-fail"}`)
	if !s.seen || s.ran {
		t.Errorf("seen: %v, ran: %v", s.seen, s.ran)
	}
}

// What is kept of tests that have not ended is bounded; what ended makes room.
func TestVeryManyOpenTests(t *testing.T) {
	s := &results{}
	g := newGoTest(s)
	for i := range maxOpen {
		g.line(fmt.Sprintf(`{"ImportPath":"m/p%d","Action":"build-output","Output":"x\n"}`, i))
		g.line(fmt.Sprintf(`{"ImportPath":"m/p%d","Action":"build-fail"}`, i))
	}
	for i := range maxOpen + 1 {
		g.line(fmt.Sprintf(`{"Action":"output","Package":"m","Test":"T%d","Output":"printed\n"}`, i))
	}
	for i := range maxOpen + 1 {
		g.line(fmt.Sprintf(`{"Action":"fail","Package":"m","Test":"T%d"}`, i))
	}
	if got := [3]string{s.tests[0].Output, s.tests[maxOpen-1].Output, s.tests[maxOpen].Output}; got != [3]string{"printed\n", "printed\n", ""} {
		t.Errorf("kept of the first, of the last that has room, of one more: %q", got)
	}
}

func TestVeryManyPoints(t *testing.T) {
	r, s := tapReader{}, &results{}
	for range 2*maxTests + 1 {
		r.line("ok 1 - a")
	}
	r.line("1..1")
	if r.into(s); s.counts.Passed != 2*maxTests {
		t.Errorf("%d points are kept", s.counts.Passed)
	}
}

func TestVeryManyCases(t *testing.T) {
	s := &results{}
	s.junit(strings.NewReader("<testsuite>" + strings.Repeat("<testcase/>", 20*maxTests+1)))
	if want := (executor.TestCounts{Passed: 20 * maxTests}); s.counts != want {
		t.Errorf("counted are %+v", s.counts)
	}
}

// A test that failed twice is named once, and kept twice, as it is.
func TestATestThatFailsTwice(t *testing.T) {
	s, r := &results{}, ask(t, ir.Gate{})
	for range 2 {
		s.add(testResult{Name: "a < b", State: "fail"})
	}
	if want := []string{"a < b"}; !slices.Equal(s.failed, want) || s.counts.Failed != 2 {
		t.Errorf("failed are %q, %d", s.failed, s.counts.Failed)
	}
	if err := errors.Join(os.MkdirAll(r.Files, 0o700), s.keepTests(r)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(r.Files, turn(r)+".tests.jsonl"))
	if want := strings.Repeat(`{"name":"a < b","state":"fail","ms":0}`+"\n", 2); err != nil || string(b) != want {
		t.Errorf("kept is %q, %v; want %q", b, err, want)
	}
}
