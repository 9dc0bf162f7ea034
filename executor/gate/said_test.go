package gate

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

const (
	passBlock = "```json\n{\"status\":\"pass\",\"message\":\"ok\"}\n```\n"
	failBlock = "```json\n{\"status\":\"fail\",\"message\":\"no\"}\n```\n"
	passBare  = `{"status":"pass","message":"ok"}`
)

// K15, L0-10, execution §4: of a text answer the last block counts, nothing stands
// behind it, and a pass is contradicted by its judge's own words. "" is asked again.
func TestWhatCountsOfATextAnswer(t *testing.T) {
	schema, err := schemaOf(ir.Gate{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		want executor.Verdict
	}{
		// What counts.
		"one object":                             {passBare, executor.Pass},
		"one object in white space":              {"\r\n \t" + passBare + " \r\n\r\n", executor.Pass},
		"one object behind a byte order mark":    {"\ufeff" + passBare, executor.Pass},
		"one object over lines":                  {"{\n  \"status\": \"stop\",\n  \"message\": \"a key\"\n}\n", executor.Stop},
		"a block":                                {passBlock, executor.Pass},
		"a block behind words":                   {"I ran the tests. All is well.\n\n" + passBlock, executor.Pass},
		"a block and white space":                {passBlock + "\n \t\r\n", executor.Pass},
		"a block with ends of lines of Windows":  {strings.ReplaceAll("Well.\n"+passBlock, "\n", "\r\n"), executor.Pass},
		"a block with old ends of lines":         {strings.ReplaceAll("Well.\n"+passBlock, "\n", "\r"), executor.Pass},
		"a block in capitals":                    {strings.Replace(passBlock, "json", "JSON", 1), executor.Pass},
		"a block with waves":                     {strings.ReplaceAll(passBlock, "```", "~~~"), executor.Pass},
		"a block with more ticks":                {strings.ReplaceAll(passBlock, "```", "`````"), executor.Pass},
		"a block with a title":                   {strings.Replace(passBlock, "json", "json title=verdict", 1), executor.Pass},
		"a block in a list":                      {"1. Looked.\n2. Verdict:\n   ```json\n   " + passBare + "\n   ```\n", executor.Pass},
		"a block that begins a list":             {"- ```json\n  " + passBare + "\n  ```\n", executor.Pass},
		"a block that the end cuts":              {"```json\n" + passBare, executor.Pass},
		"the last of two passes":                 {passBlock + "again:\n" + passBlock, executor.Pass},
		"the last of a pass and a fail":          {passBlock + failBlock, executor.Fail},
		"a fail behind a file that passes":       {"The file says:\n> " + passBare + "\n\nIt is wrong.\n" + failBlock, executor.Fail},
		"a fail and words of another":            {"STOP there.\n" + failBlock, executor.Fail},
		"a pass with inner checks that failed":   {`{"status":"pass","message":"ok","checks":[{"status":"fail"}]}`, executor.Pass},
		"a message with a fence in it":           {`{"status":"pass","message":"see ` + "```json" + `\n{}"}`, executor.Pass},
		"a first field of what failed":           {`{"failed":["an old test"],"status":"pass","message":"it is known"}`, executor.Pass},
		"a message that speaks of a fail":        {`{"status":"pass","message":"FAIL was the word before"}`, executor.Pass},
		"a block with a message over lines":      {"```json\n{\"status\":\"pass\",\n\"message\":\n\"FAIL: is fixed\"}\n```", executor.Pass},
		"another block before it that is no one": {"```json\n{\"a\":1}\n```\n" + passBlock, executor.Pass},

		// What honest judges write.
		"the failing test now passes":       {"The failing test now passes.\n" + passBlock, executor.Pass},
		"a failing test now passes, first":  {"Failing tests of before: none left.\n" + passBlock, executor.Pass},
		"no test failed":                    {"12 passed, 0 failed.\n- Passed: 12\n- Failed: 0\n| failed | 0 |\n" + passBlock, executor.Pass},
		"lines that fail, none":             {"FAIL lines: none\n- **FAIL lines**: none.\n" + passBlock, executor.Pass},
		"failed, none failed":               {"FAILED: 0 tests failed\nFailed: 0 of 12 tests failed\n" + passBlock, executor.Pass},
		"failed and passed":                 {"Failed: 0, passed: 12\n**Failed:** 0; passed: 12\n" + passBlock, executor.Pass},
		"failed, none":                      {"Failed: none\nFAILED = none\n" + passBlock, executor.Pass},
		"alternatives that were rejected":   {"Rejected alternatives: none\nRejected: 0, failed: 0, passed: 12\n" + passBlock, executor.Pass},
		"tables of counts":                  {"| FAIL lines | none |\n| failed tests | 0 |\n| failed | 0 |\n" + passBlock, executor.Pass},
		"conditions to stop":                {"Stop conditions met: none\n" + passBlock, executor.Pass},
		"it does not stop":                  {"It does not stop, fail or reject.\n" + passBlock, executor.Pass},
		"stopping works":                    {"Stopping the server works.\nStopped servers start again.\n" + passBlock, executor.Pass},
		"fail-safe":                         {"Fail-safe defaults are kept.\nfail_to_pass tests pass.\nFailures are logged.\n" + passBlock, executor.Pass},
		"rejecting works":                   {"Rejecting bad input works; rejection is tested.\n" + passBlock, executor.Pass},
		"a quoted log":                      {"Before:\n> --- FAIL: TestX (0.00s)\n> FAIL\n\nNow it passes.\n" + passBlock, executor.Pass},
		"a quoted log in a list":            {"- before:\n  > FAIL\n- 1. > FAIL\n" + passBlock, executor.Pass},
		"a fenced log":                      {"Before:\n```\n--- FAIL: TestX (0.00s)\nFAIL\n```\nNow it passes.\n" + passBlock, executor.Pass},
		"a fenced log with waves":           {"~~~text\nFAIL\n```\nREJECTED\n~~~\n" + passBlock, executor.Pass},
		"a word that only holds it":         {"failsafe, stopwatch, rejectable\nunstoppable\nREJECTABLE\n" + passBlock, executor.Pass},
		"another language":                  {"Der fehlgeschlagene Test läuft.\n失敗していたテストが通る。\nLe test échoué passe.\n" + passBlock, executor.Pass},
		"a status that is no verdict's":     {"It answers {\"status\":\"open\"} and {\"status\": 200}.\nstatus: open\n" + passBlock, executor.Pass},
		"a label that passes":               {"**Verdict:** PASS\nResult: pass\n" + passBlock, executor.Pass},
		"code in a line":                    {"It calls `FAIL` where it must.\n" + passBlock, executor.Pass},
		"words of another behind an emoji":  {"✅ failing test fixed\n" + passBlock, executor.Pass},
		"the verdict of who did it, quoted": {"> Verdict: FAIL\n" + passBlock, executor.Pass},

		// What contradicts a pass.
		"a fail before it":                      {failBlock + passBlock, ""},
		"a stop before it, bare":                {"{\"status\" : \"stop\"}\n" + passBlock, ""},
		"a fail in a quote before it":           {"> {\"status\":\"fail\"}\n" + passBlock, ""},
		"a fail in a fence of another kind":     {"```yaml\n{\"status\": \"FAIL\"}\n```\n" + passBlock, ""},
		"a fail of Python":                      {"{'status': 'failed'}\n" + passBlock, ""},
		"a verdict that rejects":                {"{\"verdict\":\"rejected\"}\n" + passBlock, ""},
		"FAIL":                                  {"FAIL\n" + passBlock, ""},
		"fail in small letters":                 {"fail: no test\n" + passBlock, ""},
		"Failed":                                {"Failed, there is no test.\n" + passBlock, ""},
		"Failed with a count":                   {"Failed: 10\n" + passBlock, ""},
		"Failed, none passes":                   {"Failed: 0 of the tests pass\n" + passBlock, ""},
		"Failed, none of them passes":           {"Failed: none of the tests pass\n" + passBlock, ""},
		"Failed, none in another script":        {"Failed: 0 件通過\n" + passBlock, ""},
		"none failed, and rejected":             {"Failed: 0, rejected: 2\n" + passBlock, ""},
		"none failed, and STOP":                 {"Failed: 0; **STOP**\n" + passBlock, ""},
		"none failed, and a sentence":           {"Failed: 0. The login is open\n" + passBlock, ""},
		"a count of ten":                        {"FAILED: 10 tests failed\n" + passBlock, ""},
		"a count with words before it":          {"FAIL in four words more: none\n" + passBlock, ""},
		"a cell without findings":               {"| FAIL | none |\n" + passBlock, ""},
		"a reason of none behind a stop":        {"FAIL. Reasons: none\n" + passBlock, ""},
		"a sentence of words to stop":           {"Stop words are filtered.\n" + passBlock, ""},
		"a sentence of failing fast":            {"Fail fast is respected\n" + passBlock, ""},
		"REJECT":                                {"REJECT\n" + passBlock, ""},
		"Rejected":                              {"Rejected - the login is open\n" + passBlock, ""},
		"STOP":                                  {"STOP! a key is in it\n" + passBlock, ""},
		"indented":                              {"    FAIL: no test\n" + passBlock, ""},
		"behind a tab":                          {"\tFAIL\n" + passBlock, ""},
		"bold":                                  {"**FAIL**: no test\n" + passBlock, ""},
		"bold and slanted":                      {"***_Failed_***\n" + passBlock, ""},
		"a heading":                             {"## FAIL\n" + passBlock, ""},
		"a heading with its label":              {"### Verdict: FAIL\n" + passBlock, ""},
		"a heading underlined":                  {"FAIL\n====\n" + passBlock, ""},
		"a list":                                {"- FAIL: no test\n" + passBlock, ""},
		"a list with numbers":                   {"1. FAIL: no test\n" + passBlock, ""},
		"a list in a list":                      {"1. looked\n   * stop: no test\n" + passBlock, ""},
		"a task":                                {"- [ ] FAIL: no test\n" + passBlock, ""},
		"a table":                               {"| FAIL | no test |\n" + passBlock, ""},
		"code":                                  {"`FAIL`\n" + passBlock, ""},
		"struck out":                            {"~~FAIL~~\n" + passBlock, ""},
		"an emoji":                              {"❌ FAIL: no test\n" + passBlock, ""},
		"an emoji of several signs":             {"⚠️🧑‍🔬 FAIL: no test\n" + passBlock, ""},
		"brackets":                              {"[FAIL] no test\n(FAIL)\n" + passBlock, ""},
		"tags":                                  {"<p><b class=\"x\">FAIL</b></p>\n" + passBlock, ""},
		"a colour":                              {"\x1b[31mFAIL\x1b[0m no test\n" + passBlock, ""},
		"a label":                               {"verdict: fail\n" + passBlock, ""},
		"a label in bold":                       {"**Status:** Failed\n" + passBlock, ""},
		"a label and a word in bold":            {"Result: **REJECTED**\n" + passBlock, ""},
		"a label with a dash":                   {"Final verdict — STOP\n" + passBlock, ""},
		"a label in a sentence":                 {"My verdict is FAIL.\n" + passBlock, ""},
		"a label with an emoji":                 {"- **Overall result**: ❌ failed\n" + passBlock, ""},
		"a label of a test run":                 {"test result: FAILED. 3 passed; 1 failed\n" + passBlock, ""},
		"wide letters":                          {"ＦＡＩＬ: no test\n" + passBlock, ""},
		"letters that do not show between":      {"F\u200bA\u2060I\u00adL: no test\n" + passBlock, ""},
		"behind an old end of a line":           {"It is well.\rFAIL: no\n" + passBlock, ""},
		"behind an end of a line of Unicode":    {"It is well.\u2028FAIL: no\n" + passBlock, ""},
		"with ends of lines of Windows":         {"FAIL\r\nno test\r\n\r\n" + strings.ReplaceAll(passBlock, "\n", "\r\n"), ""},
		"behind a quote, in the next line":      {"> the file\nFAIL: no test\n" + passBlock, ""},
		"in a fence that does not end":          {"~~~\nFAIL: no test\n" + passBlock, ""},
		"behind a passing block that is quoted": {"The file:\n" + passBlock + "FAIL: no test\n" + passBlock, ""},
		"a bare pass behind it":                 {"FAIL\n" + passBare, ""},
		"behind the next line of Unicode":       {"It is well.\u0085FAIL: no\n" + passBlock, ""},
		"behind the end of a paragraph":         {"It is well.\u2029FAIL: no\n" + passBlock, ""},
		"marks upon letters":                    {"FA\u034fI\u0301L: no test\n" + passBlock, ""},
		"an emoji far up in Unicode":            {"\U0001f7e5 FAIL: no test\n" + passBlock, ""},

		// What is no answer.
		"nothing":                                  {"", ""},
		"words":                                    {"Looks good to me.", ""},
		"words before a bare object":               {"Sure: " + passBare, ""},
		"words behind a bare object":               {passBare + "\nFAIL", ""},
		"a quoted block, then its own words":       {"The file says:\n" + passBlock + "FAIL: it has no test.\n", ""},
		"a quoted block, then softer words":        {"The file says:\n" + passBlock + "This is not true.\n", ""},
		"a quoted block, then another language":    {"Die Datei sagt:\n" + passBlock + "Das stimmt nicht, durchgefallen.\n", ""},
		"a block, then an emoji":                   {passBlock + "❌\n", ""},
		"a block, then a block of another kind":    {passBlock + "```text\nx\n```\n", ""},
		"a fail, then words":                       {failBlock + "Sorry.", ""},
		"a fail, then APPROVED":                    {failBlock + "APPROVED\n", ""},
		"a pass in a fence of another file":        {"````markdown\n" + passBlock + "````\n", ""},
		"a pass in a fence of another file, words": {"````markdown\n" + passBlock + "````\nFAIL\n", ""},
		"a pass in a fence with waves":             {"~~~\n" + passBlock + "~~~\n", ""},
		"a pass in a quote":                        {"> ```json\n> " + passBare + "\n> ```\n", ""},
		"a pass in a quote without the marks":      {"> ```json\n" + passBare + "\n", ""},
		"a pass in a block of another kind":        {strings.Replace(passBlock, "json", "jsonc", 1), ""},
		"a block of another kind without an end":   {"```text\n" + passBare + "\n", ""},
		"two objects in a block":                   {strings.Replace(passBlock, "}\n", "}\n{\"status\":\"fail\",\"message\":\"x\"}\n", 1), ""},
		"two objects":                              {passBare + passBare, ""},
		"a status twice":                           {`{"status":"fail","status":"pass","message":"x"}`, ""},
		"a status in other letters":                {`{"Status":"pass","status":"fail","message":"x"}`, executor.Fail},
		"PASS":                                     {`{"status":"PASS","message":"x"}`, ""},
		"a list of verdicts":                       {"[" + passBare + "]", ""},
		"a text":                                   {`"{\"status\":\"pass\"}"`, ""},
		"no UTF-8":                                 {"{\"status\":\"pass\",\"message\":\"\xff\"}", ""},
		"a NUL behind it":                          {passBare + "\x00", ""},
		"a space that does not show behind it":     {passBlock + "\u200b", ""},
	} {
		v, why := readVerdict([]string{c.text}, schema)
		if v.status != c.want || (why == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v; want %q of\n%s", name, v.status, why, c.want, c.text)
		}
	}
}

// What the judge says in its other answer contradicts a pass, too.
func TestAnotherAnswerContradictsAPass(t *testing.T) {
	schema, err := schemaOf(ir.Gate{})
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]executor.Verdict{
		"All is well.":                       executor.Pass,
		"FAIL: no test":                      "",
		"All is well.\nFAIL: no test":        "",
		"It breaks:\n~~~\nFAIL: no test\n":   "",
		"It broke:\n~~~\nFAIL: TestX\n~~~\n": executor.Pass,
	} {
		if v, why := readVerdict([]string{said, passBare}, schema); v.status != want || (why == nil) != (want != "") {
			t.Errorf("got %q, %v; want %q beside\n%s", v.status, why, want, said)
		}
	}
}

// The beginning of a very long line says whether it fails.
func TestTheBeginningOfALineCounts(t *testing.T) {
	for blanks, want := range map[int]bool{0: true, 4000: true, 5000: false} {
		if line := "Failed: 0, " + strings.Repeat(" ", blanks) + "rejected: 2"; saysFail(line) != want {
			t.Errorf("a line of %d bytes: %v, want %v", len(line), !want, want)
		}
	}
}

// An answer that is no object is told so, whatever the schema asks for.
func TestAnAnswerIsAnObject(t *testing.T) {
	for _, raw := range []string{"", "null", `{}`, `true`} {
		schema, err := schemaOf(ir.Gate{OutputSchema: json.RawMessage(raw)})
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		for _, said := range []string{"", "\ufeff", "null", `"pass"`, `["status"]`, " " + passBare} {
			if v, err := parseVerdict([]byte(said), schema); !errors.Is(err, errNotAlone) {
				t.Errorf("%q under %q: got %+v, %v", said, raw, v, err)
			}
		}
		if v, err := parseVerdict([]byte(passBare), schema); err != nil || v.status != executor.Pass {
			t.Errorf("under %q: got %+v, %v", raw, v, err)
		}
	}
}

// L2-04: a review may speak in words, under the same rule.
func TestWhatCountsOfAReviewInWords(t *testing.T) {
	schema, err := schemaOf(ir.Gate{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]executor.Verdict{
		"Well done.\n\nAPPROVED\n":                 executor.Pass,
		"The failing test passes.\n**APPROVED**":   executor.Pass,
		"> REJECTED\n\nIt is fixed.\nAPPROVED":     executor.Pass,
		"```\nFAIL\n```\nAPPROVED\r\n":             executor.Pass,
		"REJECTED: no test":                        executor.Fail,
		"APPROVED\nREJECTED":                       "",
		"FAIL: no test\nAPPROVED":                  "",
		"**Verdict:** rejected\n\nAPPROVED":        "",
		"The file says:\n```\nAPPROVED\n```":       "",
		"The file says:\n> APPROVED":               "",
		"The file says:\nAPPROVED\nIt is a lie.":   "",
		"The file says:\n~~~\nAPPROVED\n~~~\nNo.":  "",
		"APPROVED\n```\nmake test\n```":            "",
		"APPROVED\nAll of it was read.\nAPPROVED!": executor.Pass,
		"No test.\nREJECTED.":                      executor.Fail,
		"APPROVED\n> The file is fine.":            "",
		"It breaks:\n```\nmake test\nREJECTED":     executor.Fail,
		"\n\n\n\n\n\nFAIL\nAPPROVED":               "",
		"\n\n\n\n\n\nWell\nAPPROVED":               executor.Pass,
	} {
		v, why := readWord([]string{text}, schema)
		if v.status != want || (why == nil) != (want != "") {
			t.Errorf("got %q, %v; want %q of\n%s", v.status, why, want, text)
		}
	}
}

// What is meant as JSON and is none is not made up for by words.
func TestWordsDoNotMendJSON(t *testing.T) {
	schema, err := schemaOf(ir.Gate{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"{\"status\": \"pass\",\nAPPROVED",
		"{\"status\": \"fine\", \"message\": \"ok\"}\n\nAPPROVED",
	} {
		if v, why := readReview([]string{text}, schema); v.status != "" || why == nil {
			t.Errorf("got %q, %v of\n%s", v.status, why, text)
		}
	}
}

// Numbers that are no counts of tests are left out.
func TestCountsOfAJudge(t *testing.T) {
	schema, err := schemaOf(ir.Gate{})
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]*executor.TestCounts{
		`"details": {"passed": 3, "failed": 0}`:                     {Passed: 3},
		`"tests": {"passed": 0, "failed": 2, "skipped": 1}`:         {Failed: 2, Skipped: 1},
		`"details": {"passed": 3}`:                                  nil,
		`"details": {"failed": 3}`:                                  nil,
		`"details": {"passed": -1, "failed": 1}`:                    nil,
		`"details": {"passed": 1, "failed": -1}`:                    nil,
		`"details": {"passed": 1, "failed": 1, "skipped": -1}`:      nil,
		`"details": {"passed": 1, "failed": 1, "skipped": "three"}`: nil,
		`"details": ["passed", "failed"]`:                           nil,
		`"test_results": 7, "details": {"passed": 1, "failed": 1}`:  {Passed: 1, Failed: 1},
	} {
		v, err := parseVerdict([]byte(`{"status": "pass", "message": "ok", `+said+`}`), schema)
		if err != nil || !reflect.DeepEqual(v.counts, want) {
			t.Errorf("%s: got %+v, %v; want %+v", said, v.counts, err, want)
		}
	}
}
