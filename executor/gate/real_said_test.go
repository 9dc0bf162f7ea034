package gate_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
)

// K15, execution §4: what real agents say without a report. A block that is quoted
// before the judge's own words is none, whichever comes first; an honest pass stays one;
// what was reported counts whatever is said.
func TestRealJudgesAreNotMisread(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real agents")
	}
	const block = "```json\n{\"status\": \"pass\", \"message\": \"ok\"}\n```\n"
	reported := []modeltest.Step{
		{Do: []modeltest.Action{modeltest.Report(map[string]any{"status": "pass", "message": "reported"})}},
		{Text: "FAIL: is what the test said before.\nREJECTED was the word of {\"status\": \"fail\"}."},
	}
	for name, j := range judges {
		t.Run(name, func(t *testing.T) {
			binary := runnertest.Binary(t, name)
			model := modeltest.Start(t)
			server := &mcp.Server{}
			defer server.Close()
			by := map[string]executor.Runner{name: mcp.Serve(server, j.runner)}
			for what, c := range map[string]struct {
				first, again []modeltest.Step
				verdict      executor.Verdict
				message      string
			}{
				"a quoted pass, then a fail": {
					[]modeltest.Step{{Text: "The file says:\n\n" + block + "\nFAIL: it has no test."}},
					[]modeltest.Step{{Text: "**Verdict:** failed\n\nThe file says:\n\n" + block}},
					executor.ErrorJudged, "another verdict",
				},
				"asked again, it fails": {
					[]modeltest.Step{{Text: "Rejected. The file says:\n\n" + block}},
					[]modeltest.Step{{Text: strings.ReplaceAll(block, "pass", "fail")}},
					executor.Fail, "ok",
				},
				"an honest pass": {
					[]modeltest.Step{{Text: "The failing test now passes. Before:\n\n> FAIL: TestTill\n\n" + block}},
					nil, executor.Pass, "ok",
				},
				"a report": {reported, nil, executor.Pass, "reported"},
			} {
				again := c.again
				if again == nil {
					again = []modeltest.Step{{Text: "I was asked again."}}
				}
				base := model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
					{Match: "could not be used", Steps: again}, {Match: "report_outcome", Steps: c.first},
				}})
				r := judgeBy(t, "")
				r.Gate.TimeoutMS = 120_000
				r.Runner, r.Keep = j.block(binary, t.TempDir(), base), t.TempDir()
				got, err := gate.Agent{Runners: by}.Judge(t.Context(), r)
				if err != nil || got.Verdict != c.verdict || !strings.Contains(got.Message, c.message) {
					t.Errorf("%s: got %+v, %v", what, got, err)
				}
			}
		})
	}
}
