package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/golden"
	"github.com/ralph-compiler/ralph/ir"
)

// Each testdata/reasons/NAME.txt is what a tool really printed; NAME.want is what is
// made of it.
func TestTheReasonIsTheLineThatSaysWhy(t *testing.T) { // S1-26, S1-27, S2-22, K31
	files, err := filepath.Glob("testdata/reasons/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			run := "cat " + path + "; exit 1"
			if strings.HasSuffix(name, "-pass") {
				run = "cat " + path
			}
			got, err := Command{}.Judge(t.Context(), ask(t, ir.Gate{Run: run}))
			if err != nil {
				t.Fatal(err)
			}
			first, rest, _ := strings.Cut(got.Message, "\n")
			var b strings.Builder
			fmt.Fprintf(&b, "%s\n", strings.TrimSpace(first))
			fmt.Fprintf(&b, "tests: %s", got.Tests)
			if c := got.Counts; c != nil {
				fmt.Fprintf(&b, " %d/%d/%d", c.Passed, c.Failed, c.Skipped)
			}
			b.WriteByte('\n')
			for _, f := range got.Failed {
				fmt.Fprintf(&b, "failed: %s\n", f)
			}
			golden.Check(t, strings.TrimSuffix(file, ".txt")+".want", []byte(b.String()))
			if strings.ContainsRune(got.Message, 0x1b) || strings.Contains(got.Message, "[0m") || len(got.Message) > executor.MaxNote {
				t.Errorf("escapes, or too long:\n%s", got.Message)
			}
			if end := lastOf(t, file); !strings.HasPrefix(end, "{") && got.Verdict != executor.Pass && !strings.Contains(rest, end) {
				t.Errorf("the end of the output, %q, is not told:\n%s", end, got.Message)
			}
		})
	}
}

// lastOf is the last line of a file that says something.
func lastOf(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(clean(string(b))), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

func TestNumbersOfASummary(t *testing.T) {
	for summary, want := range map[string]executor.TestCounts{
		"1 passed, 2 passing, 4 xpassed":                                      {Passed: 7},
		"1 failed, 2 failing, 1 error, 4 errors":                              {Failed: 8},
		"1 skipped, 2 pending, 4 todo, 8 ignored, 16 xfailed":                 {Skipped: 31},
		"3 warnings, 99999999999999999999 passed, 1000000001 failed in 1.2 s": {},
	} {
		if got := tally(summary); got != want {
			t.Errorf("%s: got %+v, want %+v", summary, got, want)
		}
	}
	if got := number("1000000000"); got != 1e9 {
		t.Errorf("very many are %d", got)
	}
	some := executor.TestCounts{Failed: 2, Skipped: 3}
	for total, passed := range map[int]int{9: 4, 4: 0} {
		if got := of(total, some); got != (executor.TestCounts{Passed: passed, Failed: 2, Skipped: 3}) {
			t.Errorf("of %d: got %+v", total, got)
		}
	}
	r := report{}
	r.sum(executor.TestCounts{Passed: 1, Failed: 2, Skipped: 4})
	r.sum(executor.TestCounts{Passed: 8, Failed: 16, Skipped: 32})
	if want := (executor.TestCounts{Passed: 9, Failed: 18, Skipped: 36}); *r.counts != want {
		t.Errorf("two runs: got %+v, want %+v", *r.counts, want)
	}
}

func TestFindingsOfAToolAreBounded(t *testing.T) {
	r := report{}
	for range maxFindings {
		r.test("a")
	}
	if r.test("one more"); len(r.found) != maxFindings || r.cur != nil {
		t.Errorf("%d are kept; lines are taken for %+v", len(r.found), r.cur)
	}
}

func TestAVeryLongLineIsCut(t *testing.T) {
	s := &results{}
	s.hear("", written(t, "a.go:1:2: "+strings.Repeat("x", 2*readLine)+"\n"))
	if len(s.found) != 1 || len(s.found[0].why) != readLine {
		t.Errorf("found %q", s.found)
	}
	if got := inside("", "a/b"); got != "a/b" {
		t.Errorf("without a worktree: %q", got)
	}
}

// The first four tests are named, as far as there is room.
func TestTheReasonNamesTheFirstTests(t *testing.T) {
	long := strings.Repeat("t", 90)
	for name, c := range map[string]struct {
		tests []string
		want  string
	}{
		"four": {[]string{"A", "B", "C", "D"}, "4 of 4 tests failed: A; B; C; D"},
		"six":  {[]string{"A", "B", "C", "D", "E", "F"}, "6 of 6 tests failed: A; B; C; D; and 2 more"},
		"long": {[]string{"A" + long, "B" + long, "C" + long}, "3 of 3 tests failed: A" + long + "; B" + long + "; and 1 more"},
	} {
		s := &results{}
		for _, name := range c.tests {
			s.add(testResult{Name: name, State: "fail"})
		}
		if got := s.reason(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestTheLastLineThatSaysSomething(t *testing.T) {
	for text, want := range map[string]string{
		"why\nexit status 1\nFAIL\n": "why",
		"exit status 1\nFAIL\n\n":    "FAIL",
		"\n":                         "",
	} {
		if got := lastSaid(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestTheReasonIsFoundAtBothEndsOfMuchOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector: millions of lines")
	}
	for name, run := range map[string]string{
		"at the beginning": `printf -- '--- FAIL: TestX (0.00s)\n    x_test.go:3: got 1, want 2\nFAIL\n'; yes noise | head -c 20000000; echo 'make: *** [Makefile:2: test] Error 1'; exit 2`,
		"at the end":       `yes noise | head -c 20000000; printf -- '\n--- FAIL: TestX (0.00s)\n    x_test.go:3: got 1, want 2\nFAIL\n'; echo 'make: *** [Makefile:2: test] Error 1'; exit 2`,
	} {
		got, err := Command{}.Judge(t.Context(), ask(t, ir.Gate{Run: run}))
		if err != nil || !strings.HasPrefix(got.Message, "exit code 2: TestX: x_test.go:3: got 1, want 2\n") || !strings.HasSuffix(got.Message, "Error 1\n") || got.Tests != "fail" {
			t.Errorf("%s: %v, tests %s\n%.400s", name, err, got.Tests, got.Message)
		}
	}
}

func TestTheSameFailedTestsAreTheSameFailure(t *testing.T) { // execution.md §4: names of failed tests, else lines
	sign := func(run string) string {
		t.Helper()
		got, err := Command{}.Judge(t.Context(), ask(t, ir.Gate{Run: run + "; exit 1"}))
		if err != nil {
			t.Fatal(err)
		}
		return got.Signature
	}
	const a, b = `printf 'FAILED (errors=1)\n'`, `printf 'ERROR: test_a (m.C.test_a)\nTraceback (most recent call last)\nKeyError: %s\nRan 1 test in 0.1s\n\nFAILED (errors=1)\n' `
	if sign("seq 1 2; "+b+"x") != sign("seq 3 9; "+b+"y") {
		t.Error("the same failed test is another failure")
	}
	if sign(b+"x") == sign(a) {
		t.Error("no named test is the same failure")
	}
	if sign("echo x.go:1:2: undefined: a") == sign("echo x.go:1:2: undefined: b") {
		t.Error("another error of a compiler is the same failure")
	}
}

func TestNoSecretIsInAReason(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	r := ask(t, ir.Gate{Evidence: true, Run: `printf '<testsuite><testcase name="reads"><failure message="` + strings.Repeat("x", maxWhy-8) + secret + ` is wrong">` +
		strings.Repeat("y", testOutput-10) + secret + `</failure></testcase></testsuite>' > junit.xml; exit 1`})
	r.Redact = func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	got, err := Command{}.Judge(t.Context(), r)
	if err != nil || !strings.Contains(got.Message, "reads: xxx") {
		t.Fatalf("got %+v, %v", got, err)
	}
	kept, err := os.ReadFile(filepath.Join(r.Files, "gate-1.1-verify.tests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the message": got.Message, "the results": string(kept)} {
		if strings.Contains(text, "hunter") {
			t.Errorf("%s holds a secret, or the beginning of one: %s", what, text)
		}
	}
}
