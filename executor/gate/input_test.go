package gate_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/ir"
)

// inputOf is what the judge of a gate was given.
func inputOf(t *testing.T, r executor.GateRun) map[string]any {
	t.Helper()
	got, err := gate.Agent{Runners: runners}.Judge(t.Context(), r)
	if err != nil || got.Verdict != executor.Pass {
		t.Fatalf("got %+v, %v", got, err)
	}
	b, err := os.ReadFile(filepath.Join(r.Files, "gate-1.1-qa.input.json"))
	if err != nil {
		t.Fatal(err)
	}
	var input map[string]any
	if err := json.Unmarshal(b, &input); err != nil {
		t.Fatal(err)
	}
	return input
}

// A judge sees what the gate shows it, and of the sprint nothing else.
func TestAJudgeSeesWhatTheGateShows(t *testing.T) { // S0-53
	const pass = `echo '{"status":"pass","message":"ok"}'`
	optional := []string{"acceptance", "diff_file", "goal", "prompt", "section", "tasks"}
	for name, c := range map[string]struct{ sees, want []string }{
		"nothing is said": {nil, []string{"acceptance", "diff_file", "tasks"}},
		"acceptance":      {[]string{"acceptance"}, []string{"acceptance"}},
		"the diff":        {[]string{"diff"}, []string{"diff_file"}},
		"tasks":           {[]string{"tasks"}, []string{"tasks"}},
		"the prompt":      {[]string{"prompt"}, []string{"prompt"}},
		"the plan":        {[]string{"plan"}, []string{"goal", "section"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := judgeBy(t, pass)
			r.Gate.Sees = c.sees
			input := inputOf(t, r)
			got := slices.DeleteFunc(slices.Sorted(maps.Keys(input)), func(k string) bool { return !slices.Contains(optional, k) })
			if !slices.Equal(got, c.want) {
				t.Errorf("it sees %q, want %q", got, c.want)
			}
		})
	}
	r := judgeBy(t, pass)
	r.Node.Tasks = []ir.Task{{Text: "write the form", Detail: []string{"two fields", "one button"}}}
	r.Earlier = []executor.GateJudged{{Gate: "unit", Verdict: executor.Pass, Message: "3 of 3", Counts: &executor.TestCounts{Passed: 3}}}
	input := inputOf(t, r)
	if b, _ := json.Marshal([]any{input["tasks"], input["verdicts"]}); !strings.Contains(string(b), `["write the form\ntwo fields\none button"]`) ||
		!strings.Contains(string(b), `"gate":"unit"`) || !strings.Contains(string(b), `"verdict":"pass"`) || !strings.Contains(string(b), `"message":"3 of 3"`) {
		t.Errorf("tasks and verdicts: %s", b)
	}
}

// A gate may have no diff, an input schema may name nothing, and no output schema is a plain one.
func TestAJudgeIsAskedForWhatThereIs(t *testing.T) {
	r := judgeBy(t, `cp "$RALPH_PROMPT" prompt; echo '{"status":"pass","message":"ok"}'`)
	r.Diff, r.Gate.OutputSchema = nil, nil
	if _, has := inputOf(t, r)["diff_file"]; has {
		t.Error("it is told of a diff that is not there")
	}
	b, err := os.ReadFile(filepath.Join(r.Dir, "prompt"))
	if contract := "- \"status\" (one of \"pass\", \"fail\", \"stop\")\n- \"message\" (string)\n"; err != nil || !strings.HasSuffix(string(b), contract) || strings.Contains(string(b), "## The change") {
		t.Errorf("the prompt does not end with the contract: %s, %v", b, err)
	}
	all := len(inputOf(t, r))
	for _, schema := range []string{`{"type":"object"}`, `true`, `null`} {
		r.Gate.InputSchema = json.RawMessage(schema)
		if got := inputOf(t, r); len(got) != all {
			t.Errorf("%s: it is given %v", schema, got)
		}
	}
	r.Gate.InputSchema = json.RawMessage(`{"properties":{"branch":{}}}`)
	if got := inputOf(t, r); len(got) != 1 {
		t.Errorf("it is given %v", got)
	}
}

// What is kept of a question holds no secret.
func TestTheInputIsKeptWithoutSecrets(t *testing.T) {
	r := judgeBy(t, `echo '{"status":"pass","message":"ok"}'`)
	r.Node.Title = "Log in with hunter2 <b>"
	r.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	if got := inputOf(t, r)["title"]; got != "Log in with [redacted] <b>" {
		t.Errorf("the title is kept as %q", got)
	}
	if b, err := os.ReadFile(filepath.Join(r.Files, "gate-1.1-qa.input.json")); err != nil || !strings.Contains(string(b), "<b>") {
		t.Errorf("it is escaped as HTML, or not there: %s, %v", b, err)
	}
}
