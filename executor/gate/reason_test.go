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
