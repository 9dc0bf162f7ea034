package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

const goJSON = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestGood"}
{"Action":"output","Package":"m/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"pass","Package":"m/a","Test":"TestGood","Elapsed":0.25}
{"Action":"output","Package":"m/a","Test":"TestBad/one","Output":"    a_test.go:12: got 1, want 2\n"}
{"Action":"output","Package":"m/a","Test":"TestBad/one","Output":"    --- FAIL: TestBad/one (0.00s)\n"}
{"Action":"fail","Package":"m/a","Test":"TestBad/one","Elapsed":0}
{"Action":"fail","Package":"m/a","Test":"TestBad","Elapsed":0}
{"Action":"skip","Package":"m/a","Test":"TestLater","Elapsed":0}
{"Action":"output","Package":"m/a","Output":"FAIL\n"}
{"Action":"fail","Package":"m/a","Elapsed":0.3}
not JSON at all
{"Action":"output","Package":"m/b","Output":"panic: in init\n"}
{"Action":"fail","Package":"m/b","Elapsed":0.1}
`

const junitXML = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="s" tests="4">
<testcase classname="pkg.Class" name="works" time="0.5"/>
<testcase classname="pkg.Class" name="breaks" time="0.1"><failure message="1 != 2">at Class.java:7</failure></testcase>
<testcase classname="pkg.Class" name="throws"><error message="boom"/></testcase>
<testcase classname="pkg.Class" name="waits"><skipped/></testcase>
</testsuite></testsuites>`

func TestTestResultsAreCounted(t *testing.T) { // S1-26..29, K31
	heredoc := func(name, text string) string { return "cat > " + name + " <<'EOF'\n" + text + "\nEOF\n" }
	for name, c := range map[string]struct {
		run    string
		counts *executor.TestCounts
		failed []string
		tests  string
		hint   string // in the message
	}{
		"go test -json": {heredoc("o", goJSON) + "cat o; exit 1", &executor.TestCounts{Passed: 1, Failed: 2, Skipped: 1}, []string{"m/a.TestBad/one", "m/a.TestBad", "m/b"}, "fail", "2 of 4 tests failed: m/a.TestBad/one: a_test.go:12: got 1, want 2; m/b\n--- FAIL: m/a.TestBad/one\n    a_test.go:12: got 1, want 2\n--- FAIL: m/a.TestBad\npanic: in init\n"},
		"JUnit XML at a usual place": {
			heredoc("junit.xml", junitXML) + "echo; exit 1", &executor.TestCounts{Passed: 1, Failed: 2, Skipped: 1}, []string{"pkg.Class.breaks", "pkg.Class.throws"}, "fail", "2 of 4 tests failed: pkg.Class.breaks: 1 != 2; pkg.Class.throws",
		},
		"JUnit XML that the output names": {
			"mkdir x; " + heredoc("x/of-my-own.xml", junitXML) + "echo \"generated xml file: $PWD/x/of-my-own.xml\"; exit 1", &executor.TestCounts{Passed: 1, Failed: 2, Skipped: 1}, []string{"pkg.Class.breaks", "pkg.Class.throws"}, "fail", "Class.java:7",
		},
		"TAP":                                  {"printf 'TAP version 13\\n1..4\\nok 1 - a\\nnot ok 2 - b c\\nok 3 - d # SKIP no net\\nnot ok 4 - e # TODO later\\n'; exit 1", &executor.TestCounts{Passed: 1, Failed: 1, Skipped: 2}, []string{"b c"}, "fail", "1 of 4 tests failed: b c\n"},
		"ok in prose is no TAP":                {"echo ok then; exit 1", nil, nil, "skip", "exit code 1: ok then"},
		"names from plain output":              {"printf -- '--- FAIL: TestX (0.00s)\\n    x_test.go:3: no\\nFAIL\\n'; exit 1", nil, []string{"TestX"}, "fail", "x_test.go:3: no"},
		"other XML is none":                    {heredoc("report.xml", "<coverage/>") + "exit 1", nil, nil, "skip", "exit code 1"},
		"an old report is none":                {heredoc("junit.xml", junitXML) + "touch -d '2001-01-01' junit.xml; exit 1", nil, nil, "skip", ""},
		"a report that is named and not there": {"echo \"generated xml file: $PWD/gone.xml\"; exit 1", nil, nil, "skip", ""},
		"a directory is none":                  {"mkdir junit.xml; exit 1", nil, nil, "skip", ""},
		"a link out of the worktree is none":   {heredoc("../out.xml", junitXML) + "ln -s ../out.xml junit.xml; exit 1", nil, nil, "skip", ""},
		"broken XML adds what it holds":        {heredoc("junit.xml", junitXML[:len(junitXML)-80]) + "exit 1", &executor.TestCounts{Passed: 1, Failed: 2}, []string{"pkg.Class.breaks", "pkg.Class.throws"}, "fail", ""},
		"passing tests":                        {"echo '{\"Action\":\"pass\",\"Package\":\"m\",\"Test\":\"T\"}'", &executor.TestCounts{Passed: 1}, nil, "pass", ""},
		"a failed point without a plan":        {"echo 'not ok 3 - it adds'; exit 1", nil, []string{"it adds"}, "skip", "exit code 1"},
		"a tool's own names alone":             {"echo '{\"Action\":\"pass\",\"Package\":\"m\",\"Test\":\"T\"}'; echo 'not ok 3 - it adds'; exit 1", &executor.TestCounts{Passed: 1}, nil, "fail", "exit code 1"},
		"only skipped tests":                   {"echo '{\"Action\":\"skip\",\"Package\":\"m\",\"Test\":\"T\"}'", &executor.TestCounts{Skipped: 1}, nil, "skip", ""},
		"a lost exit code is told of":          {heredoc("o", goJSON) + "cat o | cat", &executor.TestCounts{Passed: 1, Failed: 2, Skipped: 1}, []string{"m/a.TestBad/one", "m/a.TestBad", "m/b"}, "fail", "lose its exit code"},
		"results behind a flood of other text": {"yes noise | head -c 3000000; echo '{\"Action\":\"fail\",\"Package\":\"m\",\"Test\":\"T\"}'; exit 1", &executor.TestCounts{Failed: 1}, []string{"m.T"}, "fail", "1 of 1 tests failed: m.T\n"},
		"go test -json that did not end":       {heredoc("o", `{"Action":"output","Package":"m","Test":"T","Output":"panic: it died\n"}`) + "cat o; exit 1", nil, nil, "skip", "\npanic: it died\n"},
		"a report beside go test -json":        {heredoc("junit.xml", junitXML) + `echo '{"Action":"skip","Package":"m"}'; exit 1`, nil, nil, "skip", "exit code 1"},
		"a package that is fine":               {`echo '{"Action":"fail","Package":"m/a"}'; echo '{"Action":"pass","Package":"m/b"}'; exit 1`, nil, []string{"m/a"}, "skip", "exit code 1: m/a\n"},
		"a report that is found twice": {
			heredoc("junit.xml", junitXML) + heredoc("report.xml", "<coverage/>") + "echo written to junit.xml; exit 1", &executor.TestCounts{Passed: 1, Failed: 2, Skipped: 1}, []string{"pkg.Class.breaks", "pkg.Class.throws"}, "fail", "",
		},
		"a report as large as can be": {
			heredoc("junit.xml", junitXML) + "truncate -s 33554432 junit.xml; exit 1", &executor.TestCounts{Passed: 1, Failed: 2, Skipped: 1}, []string{"pkg.Class.breaks", "pkg.Class.throws"}, "fail", "",
		},
		"a report that is too large is none":    {heredoc("junit.xml", junitXML) + "truncate -s 33554433 junit.xml; exit 1", nil, nil, "skip", "exit code 1"},
		"a case that does not end adds nothing": {heredoc("junit.xml", junitXML[:strings.Index(junitXML, "</failure>")]) + "exit 1", &executor.TestCounts{Passed: 1}, nil, "fail", "exit code 1"},
		"words of failure in what passes":       {"printf -- '--- FAIL: TestX (0.00s)\\nok  \\tm\\t0.01s\\n'", nil, nil, "pass", ""},
		"no test was run":                       {"printf 'Ran 0 tests in 0.000s\\n\\nOK\\n'", &executor.TestCounts{}, nil, "skip", ""},
		"only skipped tests of what fails":      {"echo '{\"Action\":\"skip\",\"Package\":\"m\",\"Test\":\"T\"}'; exit 1", &executor.TestCounts{Skipped: 1}, nil, "fail", "exit code 1"},
		"the path of the worktree is left out":  {"echo $PWD/a.go:1:2: undefined: x; exit 1", nil, nil, "skip", "exit code 1: a.go:1:2: undefined: x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ask(t, ir.Gate{Run: c.run})
			r.Dir = filepath.Join(r.Dir, "w")
			if err := os.Mkdir(r.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			got, err := Command{}.Judge(t.Context(), r)
			if strings.Contains(got.Message, `"Action"`) {
				t.Errorf("what is for machines is told:\n%s", got.Message)
			}
			if err != nil || !reflect.DeepEqual(got.Counts, c.counts) || !reflect.DeepEqual(got.Failed, c.failed) || got.Tests != c.tests || !strings.Contains(got.Message, c.hint) {
				t.Errorf("got %+v (counts %+v), %v; want %+v, %v, %s, a message with %q", got, got.Counts, err, c.counts, c.failed, c.tests, c.hint)
			}
			b, err := os.ReadFile(filepath.Join(r.Files, "gate-1.1-verify.tests.jsonl"))
			if (err == nil) != (c.counts != nil && *c.counts != executor.TestCounts{}) {
				t.Errorf("results kept: %q, %v", b, err)
			}
		})
	}
}

func TestFeedbackBeginsWithWhatMatters(t *testing.T) {
	got, err := Command{}.Judge(t.Context(), ask(t, ir.Gate{
		Run: `echo 'main.go:7:2: undefined: foo'; yes 'some noise of a build' | head -n 2000; echo 'make: *** [all] Error 2'; exit 2`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got.Message, "\n")
	if lines[0] != "exit code 2: main.go:7:2: undefined: foo" || lines[1] != "some noise of a build" || !strings.HasSuffix(strings.TrimSpace(got.Message), "make: *** [all] Error 2") || len(got.Message) > executor.MaxNote {
		t.Errorf("got %d bytes:\n%.200s\n…\n%s", len(got.Message), got.Message, got.Message[max(0, len(got.Message)-100):])
	}
}

func TestEvidenceIsKept(t *testing.T) { // S3-12, L3-02
	for script, word := range map[string]string{"echo fine": "success", "echo broken; exit 4": "failure"} {
		r := ask(t, ir.Gate{Run: script, Evidence: true})
		r.Effect.Commit, r.Digest = "c0ffee", "d1gest"
		got, err := Command{}.Judge(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(r.Files, word+"-1.1-verify.json"))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); got.Evidence != hex.EncodeToString(sum[:]) {
			t.Errorf("the digest is %q", got.Evidence)
		}
		var doc map[string]any
		if err := json.Unmarshal(b, &doc); err != nil || doc["commit"] != "c0ffee" || doc["gate_digest"] != "d1gest" || doc["command"] != script || doc["verdict"] != string(got.Verdict) || doc["exit_code"] == nil {
			t.Errorf("evidence %s, %v", b, err)
		}
		said := strings.TrimSuffix(strings.Fields(script)[1], ";") + "\n"
		sum := sha256.Sum256([]byte(said))
		if want := []any{map[string]any{"file": "gate-1.1-verify.log", "digest": hex.EncodeToString(sum[:]), "bytes": float64(len(said)), "tail": said}}; !reflect.DeepEqual(doc["outputs"], want) {
			t.Errorf("outputs %v, want %v", doc["outputs"], want)
		}
	}
	red := ask(t, ir.Gate{Run: "exit 1", Evidence: true})
	red.Effect.Kind = executor.EffectRed
	if _, err := (Command{}).Judge(t.Context(), red); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"red-failure-1.1-verify.json", "red-1.1-verify.log"} {
		if _, err := os.Stat(filepath.Join(red.Files, name)); err != nil {
			t.Error(err)
		}
	}
	r := ask(t, ir.Gate{Run: "true"})
	if got, err := (Command{}).Judge(t.Context(), r); err != nil || got.Evidence != "" {
		t.Errorf("a gate that asks for none: %+v, %v", got, err)
	}
}

func TestMuchOutputOfAGate(t *testing.T) { // 100 MB: bounded memory, and what is expected is found in the middle
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Command{}.Judge(t.Context(), ask(t, ir.Gate{
		Run: "head -c 75000000 /dev/zero; echo ALL GOOD; head -c 75000000 /dev/zero", Expect: ir.Expect{StdoutContains: "ALL GOOD"},
	}))
	runtime.ReadMemStats(&after)
	if err != nil || got.Verdict != executor.Pass {
		t.Errorf("got %+v, %v", got, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 48<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func TestNeedlesAreFoundAcrossPieces(t *testing.T) {
	const text = "xxALL GOODyy"
	for size := 1; size <= len(text); size++ {
		for want, has := range map[string]bool{"ALL GOOD": true, "x": true, "yy": true, text: true, "ALL BAD": false, text + "y": false} {
			n := needle{text: []byte(want)}
			for i := 0; i < len(text); i += size {
				n.heard([]byte(text[i:min(i+size, len(text))]))
			}
			if n.found != has || len(n.rest) >= len(want) {
				t.Errorf("pieces of %d: %q found is %v, and %q is kept", size, want, n.found, n.rest)
			}
		}
	}
}

func TestAServerInTheBackgroundIsGoneAfterTheGate(t *testing.T) { // S3-31
	r := ask(t, ir.Gate{Run: `sh -c 'echo $$ > pid; exec sleep 300' & while ! test -s pid; do sleep 0.01; done; test -s pid`})
	got, err := Command{}.Judge(t.Context(), r)
	if err != nil || got.Verdict != executor.Pass {
		t.Fatalf("got %+v, %v", got, err)
	}
	b, err := os.ReadFile(filepath.Join(r.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(b)) + "/stat"); err == nil {
		t.Errorf("process %s survives", b)
	}
}

func TestVariablesOfAGateAreFilled(t *testing.T) {
	got, err := Command{}.Judge(t.Context(), ask(t, ir.Gate{
		Run: `test "$ON" = 'branch '${run.branch} && test "$TEXT" = '$${run.branch}'`,
		Env: map[string]string{"ON": "branch ${run.branch}", "TEXT": "$${run.branch}"},
	}))
	if err != nil || got.Verdict != executor.Pass {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAVerdictFitsIntoAnEvent(t *testing.T) {
	got, err := Command{}.Judge(t.Context(), ask(t, ir.Gate{Run: `for i in $(seq 100); do printf -- '--- FAIL: TestA%s<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<< (0.00s)\n' $i; done; yes '<<<<<<<<<<<<<<<<' | head -n 500; exit 1`}))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(got); err != nil || len(b) > 3800 || got.Message == "" || len(got.Failed) == 0 {
		t.Errorf("%d bytes, %v: %+v", len(b), err, got)
	}
}

func FuzzVerdict(f *testing.F) {
	for _, s := range []string{
		`{"status":"pass","message":"m"}`, "```json\n{\"status\":\"fail\",\"message\":\"m\"}\n```", `{"status":"stop","message":"m","details":{"a":[1,2]}}`,
		"APPROVED", "REJECTED: x", `{"status":"pass","message":"m"} `, "````json\n```\n````", `{"status":"pass","status":"fail","message":""}`,
	} {
		f.Add(s)
	}
	schema, err := schemaOf(ir.Gate{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, why := readVerdict(answers([]byte(s), ""), schema)
		if (why == nil) != (v.status != "") {
			t.Fatalf("status %q and %v", v.status, why)
		}
		if why == nil {
			var m struct{ Status, Message string }
			if err := json.Unmarshal(v.raw, &m); err != nil || !strings.Contains(ends.Replace(s), string(v.raw)) {
				t.Errorf("%q is not in the answer: %v", v.raw, err)
			}
		}
		word, not := readWord([]string{s}, schema)
		for _, pass := range []bool{v.status == executor.Pass, not == nil && word.status == executor.Pass} {
			if !pass {
				continue
			}
			for _, other := range []string{"FAIL: no test\n\n" + s, "{\"status\": \"stop\"}\n\n" + s, s + "\nFAIL", "- **Verdict:** rejected\n" + s} {
				again, _ := readVerdict([]string{other}, schema)
				said, _ := readWord([]string{other}, schema)
				if again.status == executor.Pass || !strings.Contains(other, `"status"`) && said.status == executor.Pass {
					t.Errorf("%q is a pass", other)
				}
			}
		}
	})
}

func FuzzResults(f *testing.F) {
	f.Add(goJSON)
	f.Add(junitXML)
	f.Add("1..2\nok 1\nnot ok 2 - x # TODO y\n")
	path := filepath.Join(f.TempDir(), "o")
	f.Fuzz(func(t *testing.T, s string) {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		r := readResults(t.TempDir(), time.Time{}, nil, path)
		r.junit(strings.NewReader(s))
		var out executor.GateJudged
		r.into(&out)
		if r.counts.Passed < 0 || len(out.Failed) > maxFailed {
			t.Errorf("got %+v", out)
		}
		if _, err := feedback("why", r, path, path); err != nil {
			t.Error(fmt.Errorf("feedback: %w", err))
		}
	})
}

func TestAnUnusableSchemaIsAnErrorOfThePolicy(t *testing.T) {
	for _, raw := range []string{"{", `{"type": 7}`, `{"$ref": "https://example.com/s.json"}`} {
		if s, err := schemaOf(ir.Gate{OutputSchema: json.RawMessage(raw)}); err == nil || s != nil || !strings.Contains(err.Error(), "Fix it in the policy") {
			t.Errorf("%s: got %v, %v", raw, s, err)
		}
	}
}

func TestAnAnswerInAFileHasALimit(t *testing.T) {
	schema, err := schemaOf(ir.Gate{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "answer.json")
	for size, want := range map[int]string{maxAnswer: "", maxAnswer + 1: "the answer has more than"} {
		frame := len(`{"status":"pass","message":""}`)
		if err := os.WriteFile(file, []byte(`{"status":"pass","message":"`+strings.Repeat("m", size-frame)+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := readVerdict(answers(nil, file), schema)
		if want == "" && (err != nil || v.status != executor.Pass) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes: status %q, %v", size, v.status, err)
		}
	}
}

// What a report says of a test, and what it does not.
func TestACaseOfJUnit(t *testing.T) {
	for name, c := range map[string]struct {
		report junitCase
		want   testResult
	}{
		"a time":                {junitCase{Name: "a", Class: "C", Time: "1.5"}, testResult{Name: "C.a", State: "pass", Millis: 1500}},
		"a time that is none":   {junitCase{Name: "a", Time: "soon"}, testResult{Name: "a", State: "pass"}},
		"one before its start":  {junitCase{Name: "a", Time: "-1"}, testResult{Name: "a", State: "pass"}},
		"one beyond all bounds": {junitCase{Name: "a", Time: "1e300"}, testResult{Name: "a", State: "pass"}},
		"a message that the text lacks": {
			junitCase{Name: "a", Failure: &junitSaid{Message: "1 != 2", Text: "\nat line 7\n"}},
			testResult{Name: "a", State: "fail", Output: "1 != 2\nat line 7", why: "1 != 2"},
		},
		"a message that the text has": {
			junitCase{Name: "a", Error: &junitSaid{Message: "1 != 2", Text: "1 != 2 at line 7"}},
			testResult{Name: "a", State: "fail", Output: "1 != 2 at line 7", why: "1 != 2"},
		},
		"no message": {junitCase{Name: "a", Failure: &junitSaid{Text: "broken"}}, testResult{Name: "a", State: "fail", Output: "broken", why: "broken"}},
		"skipped":    {junitCase{Name: "a", Skipped: &junitSaid{}}, testResult{Name: "a", State: "skip"}},
	} {
		if got := c.report.result(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// What is said of a point of TAP, and what is only printed between points.
func TestPointsOfTAP(t *testing.T) {
	type want struct{ name, state, why string }
	for name, c := range map[string]struct {
		lines string
		want  []want
	}{
		"a reason":                     {"1..1\nnot ok 1 - a\n  ---\n  error: 'it broke'\n  ...\n", []want{{"a", "fail", "it broke"}}},
		"a reason below its key":       {"1..1\nnot ok 1 - a\n  ---\n  error: |-\n    Expected:\n    1 is not 2\n  code: x\n  ...\n", []want{{"a", "fail", "Expected: 1 is not 2"}}},
		"a folded reason":              {"1..1\nnot ok 1 - a\n  message: >\n    broke\n", []want{{"a", "fail", "broke"}}},
		"a comment":                    {"1..1\nnot ok 1 - a\n# it broke\n", []want{{"a", "fail", "it broke"}}},
		"the counts of all":            {"not ok 1 - a\n# tests 1\n# it ended\n1..1\n", []want{{"a", "fail", ""}}},
		"behind its end":               {"1..2\nnot ok 1 - a\n  ...\nerror: of something else\nok 2 - b\n", []want{{"a", "fail", ""}, {"b", "pass", ""}}},
		"behind a later plan":          {"not ok 1 - a\n1..1\nerror: of something else\n", []want{{"a", "fail", ""}}},
		"of a point that is fine":      {"1..2\nnot ok 1 - a\nok 2 - b\nerror: none\n", []want{{"a", "fail", ""}, {"b", "pass", ""}}},
		"a point that is out of line":  {"1..1\n  not ok 1 - printed\nok 1 - a\n", []want{{"a", "pass", ""}}},
		"a plan that is out of line":   {"  1..1\nok 1 - a\n", nil},
		"only the plan of a block":     {"# Subtest: s\n    ok 1 - a\n    1..1\n", nil},
		"a block":                      {"# Subtest: s\n    ok 1 - a\n    # Subtest: deep\n        not ok 1 - b\n        1..1\n    not ok 2 - deep\n    1..2\nnot ok 1 - s\n1..1\n", []want{{"s > a", "pass", ""}, {"s > deep > b", "fail", ""}}},
		"two blocks":                   {"# Subtest: s\n    ok 1 - a\n    1..1\nok 1 - s\n# Subtest: u\n    ok 1 - c\n    1..1\nok 2 - u\n1..2\n", []want{{"s > a", "pass", ""}, {"u > c", "pass", ""}}},
		"a point of no block":          {"1..1\n    not ok 1 - printed\nok 1 - a\n", []want{{"a", "pass", ""}}},
		"a plan before its blocks":     {"1..1\n# Subtest: s\n    ok 1 - a\n    1..1\nok 1 - s\n", []want{{"s > a", "pass", ""}}},
		"a comment that begins as one": {"1..1\n# Subtests follow\nok 1 - a\n", []want{{"a", "pass", ""}}},
		"a reason that a plan ends":    {"not ok 1 - a\n  error: |-\n1..1\nsomething else\n", []want{{"a", "fail", ""}}},
		"behind a deep block":          {"# Subtest: s\n    # Subtest: deep\n        ok 1 - b\n        1..1\n    ok 1 - deep\n    ok 2 - c\n    1..2\nok 1 - s\nok 2 - d\n1..2\n", []want{{"s > deep > b", "pass", ""}, {"s > c", "pass", ""}, {"d", "pass", ""}}},
		"a block below 20 others":      {"1..1\n" + strings.Repeat(" ", 80) + "# Subtest: deep\n    not ok 1 - printed\nok 1 - a\n", []want{{"a", "pass", ""}}},
	} {
		r, s := tapReader{}, &results{}
		for line := range strings.Lines(c.lines) {
			r.line(strings.TrimSuffix(line, "\n"))
		}
		r.into(s)
		var got []want
		for _, p := range s.tests {
			got = append(got, want{p.Name, p.State, p.why})
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Why a test of go test -json failed: what it says of itself, or that it panicked.
func TestWhyAGoTestFailed(t *testing.T) {
	for output, want := range map[string]string{
		"    a_test.go:12: got 1, want 2\n": "a_test.go:12: got 1, want 2",
		"panic: runtime error: index out of range [recovered, repanicked]\n\ngoroutine 6 [running]:\n": "panic: runtime error: index out of range",
		"fatal error: all goroutines are asleep - deadlock!\n":                                         "fatal error: all goroutines are asleep - deadlock!",
		"    a_test.go:3: before\npanic: after\n":                                                      "panic: after",
		"nothing\n":                "",
		"a.go:3: cannot open it\n": "a.go:3: cannot open it", // of package log
		"    a_test.go:3: it says:\n        \t--- PASS: TestX (0.00s)\nFAIL\tm\t0.005s\n    a_test.go:4: got 1\n": "a_test.go:4: got 1",
		"FAIL\tm\t0.005s\n": "",
	} {
		if got := whyGo(output); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

// What no test tool says, no file of results says: a package that did not build is counted once,
// a program that died in the middle of a test is quoted.
func TestWhatDidNotEndIsQuoted(t *testing.T) {
	s := &results{}
	g := newGoTest(s)
	for _, line := range []string{
		`{"Action":"output","Package":"m","Test":"TestA","Output":"panic: it died\n"}`,
		`{"Action":"output","Package":"m","Test":"TestB","Output":"still running\n"}`,
		`{"Action":"output","Package":"m/y","Output":"panic: in init\n"}`,
		`{"ImportPath":"m/x","Action":"build-fail"}`, `{"ImportPath":"m/x [m/x.test]","Action":"build-fail"}`,
		`{"Action":"fail","Test":"TestOfNoPackage","Elapsed":0}`,
	} {
		g.line(line)
	}
	g.end()
	if got := s.text.String(); got != "--- FAIL: TestOfNoPackage\npanic: it died\npanic: in init\n" {
		t.Errorf("it quotes %q", got)
	}
	if want := []string{"m/x", "TestOfNoPackage"}; !reflect.DeepEqual(s.failed, want) {
		t.Errorf("failed are %q, want %q", s.failed, want)
	}
}

// Of very many tests the first are kept, and more of those that failed; secrets are taken out
// of them, and what a test that passed printed is left out.
func TestVeryManyTests(t *testing.T) {
	s := &results{redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }}
	for i := range maxTests + 2 {
		s.add(testResult{Name: fmt.Sprint("ok", i), State: "pass", Output: "much"})
	}
	if len(s.tests) != maxTests || s.tests[0].Output != "" {
		t.Errorf("%d tests are kept, the first with %q", len(s.tests), s.tests[0].Output)
	}
	for i := range maxTests + 2 {
		s.add(testResult{Name: fmt.Sprint("bad", i), State: "fail", Output: "hunter2", why: "first\nsecond"})
	}
	if len(s.tests) != 2*maxTests || len(s.failed) != maxTests || len(s.found) != maxFindings {
		t.Errorf("%d tests, %d names, %d reasons are kept", len(s.tests), len(s.failed), len(s.found))
	}
	if got := s.tests[maxTests].Output; got != "***" || s.found[0].why != "first" {
		t.Errorf("of a failed one: %q, %q", got, s.found[0].why)
	}
	if want := (executor.TestCounts{Passed: maxTests + 2, Failed: maxTests + 2}); s.counts != want {
		t.Errorf("counted are %+v", s.counts)
	}
}
