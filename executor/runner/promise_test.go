package runner

import (
	"os"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// A promise counts beside a success that was reported, where a gate may ask for it;
// any other outcome outranks it.
func TestAPromiseBesideAnOutcome(t *testing.T) { // S1-42, execution §4
	const last = "All is done.\n<promise>DONE</promise>"
	for name, c := range map[string]struct {
		reported, answer string
		final            bool
		promise, result  string
	}{
		"a success":           {`{"result":"success"}`, last, true, "DONE", "success"},
		"without a promise":   {`{"result":"success"}`, "All is done.", true, "", "success"},
		"a failure":           {`{"result":"failed"}`, last, true, "", "failed"},
		"partial":             {`{"result":"partial"}`, last, true, "", "partial"},
		"no final word":       {`{"result":"success"}`, last, false, "", "success"},
		"what is no outcome":  {`{"result":"maybe"}`, last, true, "", ""},
		"nothing is reported": {"", last, true, "DONE", ""},
	} {
		run := executor.AgentRun{Files: t.TempDir(), Name: "agent-1"}
		if c.reported != "" {
			if err := os.WriteFile(run.OutcomeFile(), []byte(c.reported), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out executor.AgentEnded
		(&Turn{run: run}).answer(&out, End{Final: c.final, Answer: c.answer})
		if out.Outcome.Promise != c.promise || out.Outcome.Result != c.result {
			t.Errorf("%s: got %+v, want promise %q, result %q", name, out.Outcome, c.promise, c.result)
		}
	}
}
