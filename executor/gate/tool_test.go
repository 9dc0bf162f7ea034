package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// heard is what is made of an output.
func heard(t *testing.T, output string) *results {
	t.Helper()
	path := filepath.Join(t.TempDir(), "output")
	if err := os.WriteFile(path, []byte(output), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &results{}
	s.hear("", path)
	return s
}

// What real tools print in cases that no file of testdata/reasons holds.
func TestTheReasonOfRareOutput(t *testing.T) {
	const goRace = "--- FAIL: TestA (0.00s)\n    a_test.go:3: got 1, want 2\nFAIL\nFAIL\tm/a\t0.005s\n"
	const unitRule, mavenFailed, gradleEnd = "----------------------------------------------------------------------\n", "[ERROR] shop.CartTest.sums  Time elapsed: 0.001 s  <<< FAILURE!\n", "\n2 tests completed, 2 failed\n"
	const pytestOf = "_______________________________ test_total _______________________________\n\n    def test_total():\n>       assert total([5, 7]) == 12, \"the sum of two\"\nE       AssertionError: the sum of two\nE       assert 7 == 12\n\ntest_cart.py:4: AssertionError\n"
	const cargoFailed = "running 2 tests\ntest sums ... FAILED\ntest returns ... FAILED\n\nfailures:\n\n---- returns stdout ----\nError: \"no disk\"\n\n---- sums stdout ----\n"
	const cargoEnd = "\n\nfailures:\n    returns\n    sums\n\ntest result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
	const mochaTwo = "\n\n  1) sums\n\n  0 passing (4ms)\n  1 failing\n\n  1) sums:\n     Error: no disk\n      at Context.<anonymous> (a.js:1:1)\n\n"
	var steps, opened, many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&steps, "    a_test.go:%d: step %d\n", i+1, i)
	}
	for i := range maxOpen + 1 {
		fmt.Fprintf(&opened, "=== RUN   TestOf%d\n--- PASS: TestOf%d (0.00s)\n", i, i)
	}
	for i := range 12 {
		fmt.Fprintf(&many, "  %d) number %d:\n     Error: no %d\n      at Context.<anonymous> (a.js:1:1)\n\n", i+1, i+1, i+1)
	}
	for name, c := range map[string]struct {
		output string
		want   string
		failed []string
	}{
		// go test
		"a line that is no verdict":                    {"=== RUN   TestA\n    a_test.go:3: got, want:\n        --- want\n        +++ got\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:4: not --- that\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tm\t0.005s\n", "1 of 2 tests failed: TestB: b_test.go:4: not --- that", []string{"TestB"}},
		"it died after a test that passed":             {"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\npanic: after all tests\n\ngoroutine 1 [running]:\nFAIL\tm\t0.005s\n", "panic: after all tests", nil},
		"a program that is no test died":               {"panic: no database\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/ann/shop/main.go:3 +0x27\nexit status 2\n", "panic: no database", nil},
		"the next package died":                        {goRace + "panic: in init\n\ngoroutine 1 [running]:\nFAIL\tm/b\t0.005s\n", "TestA: a_test.go:3: got 1, want 2", []string{"TestA"}},
		"what a package after it says":                 {"--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tm/a\t0.005s\n    b_test.go:3: got 1, want 2\nok  \tm/b\t0.005s\n", "TestA", []string{"TestA"}},
		"a package after one that died":                {"panic: in init\n\ngoroutine 1 [running]:\nFAIL\tm/b\t0.005s\n" + goRace, "TestA: a_test.go:3: got 1, want 2", []string{"TestA"}},
		"it died in a test that did not end":           {"=== RUN   TestA\npanic: in a goroutine\n\ngoroutine 7 [running]:\nFAIL\tm\t0.005s\n", "TestA: panic: in a goroutine", []string{"TestA"}},
		"it died twice in a test":                      {"=== RUN   TestA\npanic: first\n\tpanic: second\npanic: third\n--- FAIL: TestA (0.00s)\nFAIL\tm\t0.005s\n", "1 of 1 tests failed: TestA: panic: first", []string{"TestA"}},
		"a test that passes prints a panic":            {"=== RUN   TestA\npanic: of a program that it ran\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:4: got 1\n--- FAIL: TestB (0.00s)\nFAIL\tm\t0.005s\n", "1 of 2 tests failed: TestB: b_test.go:4: got 1", []string{"TestB"}},
		"a time limit without a program":               {"\t\tTestA (1s)\n" + goRace, "TestA: a_test.go:3: got 1, want 2", []string{"TestA"}},
		"a stack behind a panic":                       {"--- FAIL: TestA (0.00s)\npanic: no [recovered]\n\t\tTestNot (of words)\n\tTestNorThis (1s)\nFAIL\tm\t0.005s\n", "TestA: panic: no", []string{"TestA"}},
		"a test goes on":                               {"=== RUN   TestA\n    a_test.go:3: got 1, want 2\n=== PAUSE TestA\n=== RUN   TestB\n=== CONT  TestA\n    a_test.go:5: end\n=== NAME  TestB\n    b_test.go:3: began\n=== NAME  TestA\n--- FAIL: TestA (0.00s)\n--- PASS: TestB (0.00s)\nFAIL\tm\t0.005s\n", "1 of 2 tests failed: TestA: a_test.go:3: got 1, want 2", []string{"TestA"}},
		"very many tests before it":                    {opened.String() + "=== RUN   TestA\n    a_test.go:3: got 1, want 2\n--- FAIL: TestA (0.00s)\nFAIL\tm\t0.005s\n", "1 of 2002 tests failed: TestA: a_test.go:3: got 1, want 2", []string{"TestA"}},
		"very many lines before it":                    {"--- FAIL: TestA (0.00s)\n" + steps.String() + "    a_test.go:77: got 1, want 2\n    a_test.go:78: step 41\nFAIL\tm\t0.005s\n", "TestA: a_test.go:77: got 1, want 2", []string{"TestA"}},
		"lines that do not say why":                    {"--- FAIL: TestA (0.00s)\n    a_test.go:3: step 1\n    a_test.go:4: \n    a_test.go:5: step 2\n    a_test.go:6: \nFAIL\tm\t0.005s\n", "TestA: a_test.go:5: step 2", []string{"TestA"}},
		"the first of two lines that say why":          {"--- FAIL: TestA (0.00s)\n    a_test.go:3: got 1\n    a_test.go:4: got 2\nFAIL\tm\t0.005s\n", "TestA: a_test.go:3: got 1", []string{"TestA"}},
		"what stands below no line":                    {"--- FAIL: TestA (0.00s)\n        \tError:      \tNot equal: \n        \texpected: 12\n    a_test.go:3: got 1\nFAIL\tm\t0.005s\n", "TestA: a_test.go:3: got 1", []string{"TestA"}},
		"a line behind a tab is of another program":    {"--- FAIL: TestA (0.00s)\n\tmain.go:3: not found\nFAIL\tm\t0.005s\n", "TestA", []string{"TestA"}},
		"a word at the end of what a test printed too": {"=== RUN   TestA\nprinted--- FAIL: TestA (0.00s)\n--- FAIL: is a word\nFAIL\tm\t0.005s\n", "1 of 1 tests failed: TestA", []string{"TestA"}},

		"a test that ends the program, and the next package died": {"=== RUN   TestA\nFAIL\tm/a\t0.005s\npanic: in init\n\ngoroutine 1 [running]:\nFAIL\tm/b\t0.005s\n", "panic: in init", nil},
		"lines of a package after one that died":                  {"panic: in init\n\ngoroutine 1 [running]:\nFAIL\tm/b\t0.005s\n\t\tTestNot (1s)\n" + goRace, "TestA: a_test.go:3: got 1, want 2", []string{"TestA"}},
		"it died twice in no test":                                {"panic: first\n\tpanic: second\npanic: third\n\ngoroutine 1 [running]:\nFAIL\tm\t0.005s\n", "panic: first", nil},
		"it died very often in a test":                            {"=== RUN   TestA\n" + strings.Repeat("panic: no\n", maxFindings+1) + "--- FAIL: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL\tm\t0.005s\n", "2 of 2 tests failed: TestA: panic: no; TestB", []string{"TestA", "TestB"}},

		// jest, vitest, mocha, node
		"jest: a title, and what another file printed": {"FAIL a.test.js\n  ● sums\n\nPASS b.test.js\n  ● Console\n\n    console.log\n      hello\n\nTests:       1 failed, 1 total\n", "1 of 1 tests failed: sums", []string{"sums"}},
		"jest: nothing but the title":                  {"FAIL a.test.js\n  ● sums\n\nPASS b.test.js\n  console.log\nTests:       1 failed, 1 total\n", "1 of 1 tests failed: sums", []string{"sums"}},
		"jest: what was expected is not at the top":    {"FAIL a.test.js\n  ● sums\n\n    first\n    second\n    Expected: one\n\nTests:       1 failed, 1 total\n", "1 of 1 tests failed: sums: first", []string{"sums"}},
		"vitest: words that are no summary":            {"the Tests  are slow\n FAIL  a.spec.ts > sums\nAssertionError: no\n      Tests  1 failed (1)\n", "1 of 1 tests failed: a.spec.ts > sums: AssertionError: no", []string{"a.spec.ts > sums"}},
		"mocha: more than nine":                        {"\n  0 passing (4ms)\n  12 failing\n\n" + many.String(), "12 of 12 tests failed: number 1: Error: no 1; number 2; number 3; number 4; and 8 more", []string{"number 1", "number 2", "number 3", "number 4", "number 5", "number 6", "number 7", "number 8", "number 9", "number 10", "number 11", "number 12"}},
		"mocha: numbers in an error":                   {strings.Replace(mochaTwo, "no disk", "missing are:\n  7 apples", 1), "1 of 1 tests failed: sums: Error: missing are: 7 apples", []string{"sums"}},
		"mocha: lines in an error":                     {strings.Replace(mochaTwo, "no disk", "missing are:\n\n  apples\n  pears", 1), "1 of 1 tests failed: sums: Error: missing are: apples", []string{"sums"}},
		"mocha: an error of digits":                    {strings.Replace(mochaTwo, "no disk", "not strictly equal:\n\n123 !== 7", 1), "1 of 1 tests failed: sums: Error: not strictly equal: 123 !== 7", []string{"sums"}},
		"mocha: two runs":                              {mochaTwo + strings.ReplaceAll(mochaTwo, "sums", "counts"), "2 of 2 tests failed: sums: Error: no disk; counts", []string{"sums", "counts"}},
		"mocha: a list before there is a failure":      {"\n  1) no failure\n\n  1 passing (2ms)\n\n  1) no failure:\n  0) nor this\n", "", nil},

		// Python
		"pytest -rN":                            {"=================================== FAILURES ===================================\n" + pytestOf + "________________________________ test_printed ________________________________\n\n1 failed in 0.01s\n", "1 of 1 tests failed: test_total: AssertionError: the sum of two", []string{"test_total"}},
		"pytest -qq":                            {"F                                                                        [100%]\n=========================== short test summary info ============================\nFAILED test_cart.py::test_total - AssertionError: the sum of two\n", "test_cart.py::test_total: AssertionError: the sum of two", []string{"test_cart.py::test_total"}},
		"pytest --tb=no, cut":                   {"FAILED test_cart.py::test_total - AssertionError: the su...\n1 failed in 0.01s\n", "1 of 1 tests failed: test_cart.py::test_total: AssertionError: the su...", []string{"test_cart.py::test_total"}},
		"pytest, cut":                           {pytestOf + "FAILED test_cart.py::test_total - AssertionError: the su...\n1 failed in 0.01s\n", "1 of 1 tests failed: test_cart.py::test_total: AssertionError: the sum of two", []string{"test_cart.py::test_total"}},
		"pytest of old, without why":            {pytestOf + "FAILED test_cart.py::test_total\n=========================== 1 failed in 0.01 seconds ===========================\n", "1 of 1 tests failed: test_cart.py::test_total: AssertionError: the sum of two", []string{"test_cart.py::test_total"}},
		"pytest, not cut":                       {pytestOf + "FAILED test_cart.py::test_total - Failed: another\n1 failed in 0.01s\n", "1 of 1 tests failed: test_cart.py::test_total: Failed: another", []string{"test_cart.py::test_total"}},
		"unittest: a program logs an exception": {"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nValueError: logged\n======================================================================\nFAIL: test_a (m.C.test_a)\n" + unitRule + "Traceback (most recent call last):\n  File \"m.py\", line 8, in test_a\nAssertionError: 7 != 12\n\n" + unitRule + "Ran 1 test in 0.001s\n\nFAILED (failures=1)\n", "1 of 1 tests failed: m.C.test_a: AssertionError: 7 != 12", []string{"m.C.test_a"}},
		"unittest: an exception that is cut":    {"FAIL: test_a (m.C.test_a)\n" + unitRule + "Traceback (most recent call last):\n\n  ...\nRan 1 test in 0.001s\n\nFAILED (failures=1)\n", "1 of 1 tests failed: m.C.test_a", []string{"m.C.test_a"}},
		"unittest: a logged exception, and the rest is cut": {"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nValueError: logged\nFAIL: test_a (m.C.test_a)\n" + unitRule + "Ran 1 test in 0.001s\n\nFAILED (failures=1)\n", "1 of 1 tests failed: m.C.test_a", []string{"m.C.test_a"}},
		"unittest after a run of trial":                     {"Ran 1 tests in 0.001s\n\nPASSED (successes=1)\nFAIL: test_a (m.C.test_a)\n" + unitRule + "Traceback (most recent call last):\n  File \"m.py\", line 8, in test_a\nAssertionError: 7 != 12\n\n" + unitRule + "Ran 1 test in 0.001s\n\nFAILED (failures=1)\n", "1 of 2 tests failed: m.C.test_a: AssertionError: 7 != 12", []string{"m.C.test_a"}},
		"unittest: two runs":                                {"Ran 2 tests in 0.001s\n\nFAILED (failures=1)\nRan 3 tests in 0.001s\n\nOK (skipped=1)\nRan 1 test in 0.001s\n\nOK\n", "1 of 6 tests failed", nil},
		"unittest: what was expected to fail did":           {"Ran 3 tests in 0.001s\n\nFAILED (expected failures=1, unexpected successes=1)\n", "1 of 3 tests failed", nil},

		// cargo
		"cargo: two lines of a panic":           {cargoFailed + "\nthread 'sums' (2) panicked at src/lib.rs:3:5:\nassertion `left == right` failed\n  left: 7\n right: 12\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n" + cargoEnd, "2 of 2 tests failed: sums: src/lib.rs:3:5: assertion `left == right` failed, left: 7, right: 12; returns", []string{"sums", "returns"}},
		"cargo: a panic with an empty line":     {cargoFailed + "\nthread 'sums' (2) panicked at src/lib.rs:3:5:\nfirst\n  second\n\nthird\n" + cargoEnd, "2 of 2 tests failed: sums: src/lib.rs:3:5: first second; returns", []string{"sums", "returns"}},
		"cargo: what is printed before a panic": {cargoFailed + "Error: printed\n\nthread 'sums' (2) panicked at src/lib.rs:3:5:\nrunning late\n" + cargoEnd, "2 of 2 tests failed: sums: src/lib.rs:3:5: running late; returns", []string{"sums", "returns"}},
		"cargo: two panics":                     {cargoFailed + "\nthread '<unnamed>' (2) panicked at src/lib.rs:3:5:\ninner\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\nthread 'sums' (3) panicked at src/lib.rs:4:5:\nouter\n" + cargoEnd, "2 of 2 tests failed: sums: src/lib.rs:3:5: inner; returns", []string{"sums", "returns"}},
		"cargo: a panic of Rust of old":         {cargoFailed + "thread 'sums' panicked at 'no disk', src/lib.rs:3:5\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n" + cargoEnd, "2 of 2 tests failed: sums: 'no disk', src/lib.rs:3:5; returns", []string{"sums", "returns"}},
		"cargo: a program panics after it":      {cargoFailed + cargoEnd + "thread 'main' (9) panicked at src/main.rs:2:5:\nboom\n", "2 of 2 tests failed: sums; returns", []string{"sums", "returns"}},
		"cargo: a program that is no test":      {"thread 'main' (9) panicked at src/main.rs:2:5:\nboom\n", "", nil},
		"cargo: a test returns an error":        {strings.Replace(cargoFailed, "test sums ... FAILED\n", "", 1) + cargoEnd, "2 of 2 tests failed: returns: Error: \"no disk\"", []string{"returns"}},
		"cargo: what is no verdict of a test":   {"running the build\nthe build --- FAILED\n", "", nil},
		"cargo: what panics prints an error":    {cargoFailed + "thread 'sums' (2) panicked at src/lib.rs:3:5:\nno disk\nError: printed\n" + cargoEnd, "2 of 2 tests failed: sums: src/lib.rs:3:5: no disk Error: printed; returns", []string{"sums", "returns"}},
		"cargo: a verdict in a test's own room": {"running 1 test\ntest src/lib.rs - total (line 1) - compile fail ... FAILED\n", "src/lib.rs - total (line 1)", []string{"src/lib.rs - total (line 1)"}},

		// maven, gradle
		"maven: a title without an exception":     {mavenFailed + "\norg.opentest4j.AssertionFailedError: of none\n", "shop.CartTest.sums", []string{"shop.CartTest.sums"}},
		"maven: two titles without an exception":  {mavenFailed + strings.Replace(mavenFailed, "sums", "breaks", 1) + "java.lang.AssertionError: no\n", "shop.CartTest.sums; shop.CartTest.breaks", []string{"shop.CartTest.sums", "shop.CartTest.breaks"}},
		"gradle: titles without exceptions":       {"shop.CartTest > sums FAILED\n\nshop.CartTest > breaks FAILED\n" + gradleEnd, "2 of 2 tests failed: shop.CartTest.sums; shop.CartTest.breaks", []string{"shop.CartTest.sums", "shop.CartTest.breaks"}},
		"gradle: whole exceptions":                {"shop.CartTest > sums() FAILED\n    java.lang.AssertionError: expected:<12> but was:<7>\n        at shop.CartTest.sums(CartTest.java:8)\n" + gradleEnd, "2 of 2 tests failed: shop.CartTest.sums: AssertionError: expected:<12> but was:<7>", []string{"shop.CartTest.sums"}},
		"gradle: what another test printed":       {"shop.CartTest > sums FAILED\n\nshop.CartTest > breaks STANDARD_OUT\n    hello\n" + gradleEnd, "2 of 2 tests failed: shop.CartTest.sums", []string{"shop.CartTest.sums"}},
		"gradle: a quote and an indented verdict": {"> shop.CartTest > sums FAILED\n  shop.CartTest > sums FAILED\n" + gradleEnd, "2 of 2 tests failed", nil},

		// compilers, linters, npm
		"a warning before an error":      {"cart.c:3:5: warning: unused variable 'i' [-Wunused-variable]\ncart.c:9:1: error: expected ';' before '}' token\n  cart.c:1:1: error: quoted\n", "cart.c:9:1: error: expected ';' before '}' token", nil},
		"npm: no such script, two times": {"npm error Missing script: \"build\"\nnpm error\nnpm error Missing script: \"build\"\n", "npm: Missing script: \"build\"", nil},
	} {
		s := heard(t, c.output)
		if got := s.reason(); got != c.want || !reflect.DeepEqual(s.failed, c.failed) {
			t.Errorf("%s: got %q, failed %q\nwant %q, failed %q", name, got, s.failed, c.want, c.failed)
		}
	}
}

// What says how many tests there were, and what does not.
func TestTheCountsOfRareOutput(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		want   *executor.TestCounts
		ran    bool
	}{
		"go test":                        {"ok  \tm\t0.005s\n", nil, true},
		"go test, not run again":         {"ok  \tm\t(cached)\n", nil, true},
		"go test of no tests":            {"?   \tm\t[no test files]\n", nil, false},
		"pytest -qq":                     {"FAILED test_cart.py::test_total - assert 7 == 12\n", nil, true},
		"mocha without tests":            {"\n\n  0 passing (2ms)\n\n", &executor.TestCounts{}, true},
		"vitest without tests":           {"      Tests  no tests\n", nil, true},
		"a count that is none":           {"test result: ok. 99999999999999999999 passed; 1 failed; 2 ignored; 0 measured\n", &executor.TestCounts{Failed: 1, Skipped: 2}, true},
		"node: what a test prints":       {"# fail 3\nℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\n", &executor.TestCounts{Passed: 2}, true},
		"unittest: what a test prints":   {"OK (skipped=3)\nFAILED\nRan 2 tests in 0.001s\n\nOK (skipped=1)\n", &executor.TestCounts{Passed: 1, Skipped: 1}, true},
		"unittest: what no test ends":    {"OK\n", nil, false},
		"unittest: what was not as said": {"Ran 4 tests in 0.001s\n\nFAILED (failures=1, errors=1, unexpected successes=1)\n", &executor.TestCounts{Passed: 1, Failed: 3}, true},
	} {
		s := heard(t, c.output)
		if s.ran != c.ran || s.counted != (c.want != nil) || c.want != nil && s.counts != *c.want {
			t.Errorf("%s: got %+v, counted %v, ran %v; want %+v, %v", name, s.counts, s.counted, s.ran, c.want, c.ran)
		}
	}
}

// However often a tool says more of a failure, what is kept of it is bounded.
func TestAFailureIsKeptInBoundedRoom(t *testing.T) {
	for name, c := range map[string]struct{ head, more, end string }{
		"go test":             {"--- FAIL: TestA (0.00s)\n    a_test.go:3: \n", "        \tError:      \tit is not so\n", ""},
		"go test, two values": {"--- FAIL: TestA (0.00s)\n    a_test.go:3: not equal\n", "        \texpected: 12\n", ""},
		"jest":                {"FAIL a.test.js\n  ● sums\n", "    Expected: 12\n", "Tests:       1 failed, 1 total\n"},
		"mocha":               {"  1 failing\n  1) sums:\n", "     and:\n", ""},
		"mocha, its title":    {"  1 failing\n  1) sums\n", "     and\n", ""},
		"node":                {"✖ failing tests:\n✖ sums (1.5ms)\n", "  and:\n", "ℹ fail 1\nℹ cancelled 0\n"},
		"cargo":               {"running 1 test\ntest sums ... FAILED\n---- sums stdout ----\nthread 'sums' panicked at src/lib.rs:3:5:\n", "and\n", ""},
	} {
		s := heard(t, c.head+strings.Repeat(c.more, 1000)+c.end)
		if len(s.found) != 1 || len(s.found[0].test) > 2*maxName || len(s.found[0].why) > 2*maxWhy || len(s.found[0].why)+len(s.found[0].test) < maxName {
			t.Errorf("%s: kept is %q", name, s.found)
		}
	}
}

// Tests that never end are followed up to a number.
func TestOpenGoTestsAreBounded(t *testing.T) {
	g := goListener{}
	for i := range maxOpen + 10 {
		g.line(fmt.Sprintf("=== RUN   TestOf%d", i))
	}
	for i := range 10 {
		g.line(fmt.Sprintf("--- FAIL: TestOf%d (0.00s)", i))
	}
	if len(g.open) != maxOpen-10 {
		t.Errorf("%d tests are followed, want %d", len(g.open), maxOpen-10)
	}
	for range maxFindings + 10 {
		g.line("panic: again")
		g.line("ok  \tm\t0.005s")
	}
	if len(g.tests) != maxFindings {
		t.Errorf("%d failures are kept, want %d", len(g.tests), maxFindings)
	}
}
