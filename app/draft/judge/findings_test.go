package judge

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
)

// What a planner is told beside errors is what is counted: notes that --strict makes an
// error are warnings, too.
func TestFindingsAreWarnings(t *testing.T) {
	e, _ := diag.Lookup("implicit-agents")
	got := Findings(diag.List{diag.New(e.Code, diag.Range{}, "nobody was named")}, nil)
	if e.Severity != diag.Note || len(got) != 1 || !got[0].Warning || !strings.HasPrefix(got[0].Text, "warning[implicit-agents]") {
		t.Errorf("severity %s: %+v", e.Severity, got)
	}
}
