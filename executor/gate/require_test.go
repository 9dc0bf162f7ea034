package gate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
)

// S0-95, execution §4: a pass that is not all that the gate requires is a fail that says
// so, and one that lacks a field is no verdict. Other verdicts stay.
func TestAPassHasWhatTheGateRequires(t *testing.T) {
	const open = `{"type":"object","required":["status","message"],"properties":{"status":{"enum":["pass","fail","stop"]},"message":{"type":"string"},"details":{"type":"object"}}}`
	coverage := map[string]string{"coverage_percent": ">= 80"}
	several := map[string]string{"coverage_percent": ">= 80", "complete": "== true", "level": `!= "low"`}
	for name, c := range map[string]struct {
		schema  string
		require map[string]string
		answers []string // of its turns
		verdict executor.Verdict
		message string
	}{
		"what holds passes":          {typed, coverage, []string{`"pass","message":"ok","coverage_percent":80`}, executor.Pass, "ok"},
		"what does not hold fails":   {typed, coverage, []string{`"pass","message":"ok","coverage_percent":79.5`}, executor.Fail, "coverage_percent is 79.5, and the gate requires >= 80\nok"},
		"a fail stays a fail":        {typed, coverage, []string{`"fail","message":"bad","coverage_percent":90`}, executor.Fail, "bad"},
		"a fail needs no field":      {typed, coverage, []string{`"fail","message":"bad"`}, executor.Fail, "bad"},
		"a stop stays a stop":        {typed, coverage, []string{`"stop","message":"bad","coverage_percent":1`}, executor.Stop, "bad"},
		"a field that is missing":    {typed, coverage, []string{`"pass","message":"ok"`, `"pass","message":"ok"`}, executor.ErrorJudged, "coverage_percent is missing, and the gate requires that it is >= 80"},
		"asked again, it has it":     {typed, coverage, []string{`"pass","message":"ok"`, `"pass","message":"second","coverage_percent":81`}, executor.Pass, "second"},
		"in details":                 {open, coverage, []string{`"pass","message":"ok","details":{"coverage_percent":81}`}, executor.Pass, "ok"},
		"only in details":            {open, coverage, []string{`"pass","message":"ok","coverage_percent":81`, `"pass","message":"ok","coverage_percent":81`}, executor.ErrorJudged, "details.coverage_percent is missing"},
		"of another type":            {open, coverage, []string{`"pass","message":"ok","details":{"coverage_percent":"81"}`, `"pass","message":"ok","details":{"coverage_percent":null}`}, executor.ErrorJudged, "details.coverage_percent is null, and it must be a number"},
		"all of several hold":        {open, several, []string{`"pass","message":"ok","details":{"coverage_percent":81,"complete":true,"level":"high"}`}, executor.Pass, "ok"},
		"each that does not is said": {open, several, []string{`"pass","message":"ok","details":{"coverage_percent":1,"complete":false,"level":"low"}`}, executor.Fail, "details.complete is false, and the gate requires == true\ndetails.coverage_percent is 1, and the gate requires >= 80\ndetails.level is \"low\", and the gate requires != \"low\"\nok"},
		"one that is missing outweighs": {open, several, []string{
			`"pass","message":"ok","details":{"coverage_percent":1,"level":"low"}`, `"pass","message":"ok","details":{"coverage_percent":1,"level":"low"}`,
		}, executor.ErrorJudged, "details.complete is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			r := judgeBy(t, "")
			r.Runner.Kind, r.Gate.OutputSchema, r.Gate.Require, r.Gate.Evidence = "fake", json.RawMessage(c.schema), c.require, true
			var left turns
			for _, a := range c.answers {
				left = append(left, says(`{"status":`+a+`}`, ""))
			}
			got, err := gate.Agent{Runners: map[string]executor.Runner{"fake": &left}}.Judge(t.Context(), r)
			if err != nil || got.Verdict != c.verdict || !strings.Contains(got.Message, c.message) || len(left) > 0 {
				t.Errorf("got %+v, %v, %d turns were not taken; want %s with %q", got, err, len(left), c.verdict, c.message)
			}
			if (got.Verdict == executor.Pass || got.Verdict == executor.ErrorJudged) != (got.Signature == "") {
				t.Errorf("%s has the signature %q", got.Verdict, got.Signature)
			}
			there, err := filepath.Glob(filepath.Join(r.Files, "*-1.1-qa.json"))
			if err != nil {
				t.Fatal(err)
			}
			kept := slices.ContainsFunc(there, func(f string) bool { return strings.HasPrefix(filepath.Base(f), "failure-") })
			if kept != (got.Verdict != executor.Pass && got.Verdict != executor.ErrorJudged) {
				files, _ := os.ReadDir(r.Files)
				t.Errorf("%s keeps %v of %v", got.Verdict, there, files)
			}
		})
	}
}

// S0-95: a review that is said in words has no fields.
func TestAReviewInWordsLacksWhatTheGateRequires(t *testing.T) {
	r := judgeBy(t, "")
	r.Runner.Kind, r.Gate.Kind, r.Gate.Require = "fake", "review", map[string]string{"coverage_percent": ">= 80"}
	r.Dir = ""
	left := turns{says("", "Fine.\nAPPROVED"), says("", `{"status":"pass","message":"ok","coverage_percent":80}`)}
	got, err := gate.Review{Runners: map[string]executor.Runner{"fake": &left}}.Judge(t.Context(), r)
	if err != nil || got.Verdict != executor.Pass || got.Message != "ok" || len(left) > 0 {
		t.Errorf("got %+v, %v, %d turns were not taken", got, err, len(left))
	}
}
