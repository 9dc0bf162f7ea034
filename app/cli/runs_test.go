//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

// The run that is at work is one of the runs, and so is one that was killed and not
// gone on with; neither has an end or an exit code yet. S4-53
func TestRunsListsTheOneThatHasNotEnded(t *testing.T) {
	t.Parallel()
	s := newSite(t, `while [ ! -e "$TOP/log/go" ]; do sleep 0.1; done
`+siteWork, executortest.Epic([]string{"1.1"}))
	run := s.start("apply")
	s.until("the agent is at work", func() bool { return s.noted("agents", "1.1.implement-1") > 0 })
	listed := func(want string) {
		t.Helper()
		if got := s.ralph("runs").out; !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
		var printed struct{ Runs []map[string]any }
		err := json.Unmarshal([]byte(s.ralph("runs", "--json").out), &printed)
		if list := printed.Runs; err != nil || len(list) != 1 || list[0]["exit"] != nil || list[0]["ended"] != nil || !strings.HasPrefix(want, list[0]["outcome"].(string)) {
			t.Errorf("%v: %v", err, printed)
		}
		if got := s.ralph("runs", "--jsonl").out; got != "" {
			t.Errorf("a line for a run that has not ended: %s", got)
		}
	}
	listed("at work")
	run.signal(syscall.SIGKILL)
	run.wait()
	listed("killed")
	if err := os.WriteFile(s.file("../log/go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.apply(exit.Done)
	if got := s.ralph("runs", "--jsonl").out; strings.Count(got, "\n") != 2 || !strings.Contains(got, `"exit":0`) || !strings.Contains(got, `"exit":null,`) || !strings.Contains(got, `"outcome":"killed"`) {
		t.Errorf("afterwards: %s", got)
	}
	if got := s.ralph("runs").out; !strings.Contains(got, "at least ") || strings.Contains(got, " 3 ") {
		t.Errorf("a killed run has no exit code and lived on after its last event: %s", got)
	}
}
