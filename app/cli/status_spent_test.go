//go:build unix

package cli

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

// What nobody knows is not said to be nothing, also after a run in which only gates
// were at work: the headline of status is the sum of its rows.
func TestWhatIsUnknownIsNotNothing(t *testing.T) {
	t.Parallel()
	epic := executortest.Epic([]string{"1.1"})
	r := newApplyRepo(t, epic)
	r.run(exit.Done)
	gate := epic.Gates["check"]
	gate.Run = "test -s out-1.1.txt"
	epic.Gates["check"] = gate
	r.epic(epic)
	r.run(exit.Done)
	status := func(args ...string) string {
		cmd := exec.Command("ralph", append([]string{"status"}, args...)...)
		cmd.Dir = r.dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if out := status(); !strings.Contains(out, "spent: tokens unknown, cost unknown") {
		t.Errorf("status says\n%s", out)
	}
	var s record.StatusJSON
	if err := json.Unmarshal([]byte(status("--json")), &s); err != nil || s.Run.SpentInAll.Tokens != nil || s.Run.SpentInAll.USDMicro != nil {
		t.Errorf("status --json: %+v, %v", s.Run.SpentInAll, err)
	}
}
