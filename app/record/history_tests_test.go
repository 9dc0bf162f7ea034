package record

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/ir"
)

// Results of tests are those of the verdict that is asked for, or none.
func TestResultsOfTestsFitTheirVerdict(t *testing.T) { // S1-26..29, K31
	path := filepath.Join(t.TempDir(), "gate-unit.tests.jsonl")
	text := `{"name":"TestA","state":"pass","ms":12.6}` + "\n" + `{"name":"TestB","state":"fail","ms":3,"output":"got hunter2secret"}` + "\n" + `{"name":"TestC","state":"skip","ms":0}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	hide, _ := redact.New(map[string]string{"KEY": "hunter2secret"})
	h := &Historian{redact: hide}
	want := []ir.TestResult{{Name: "TestA", State: "pass", Millis: 12}, {Name: "TestB", State: "fail", Millis: 3, Output: hide.String("got hunter2secret")}, {Name: "TestC", State: "skip"}}
	if got := h.readTests(path, ir.TestCounts{Passed: 1, Failed: 1, Skipped: 1}); !reflect.DeepEqual(got, want) || want[1].Output == "got hunter2secret" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for name, got := range map[string][]ir.TestResult{
		"of another verdict": h.readTests(path, ir.TestCounts{Passed: 3}),
		"gone":               h.readTests(path+"x", ir.TestCounts{Passed: 1}),
	} {
		if got != nil {
			t.Errorf("%s: got %+v, want none", name, got)
		}
	}
}
