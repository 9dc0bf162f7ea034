package gate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/ir"
)

// S2-04, S2-05: the compiler's words are the feedback: what fits, how many there are,
// and where all of them stand.
func TestCompilesTellsWhatTheCompilerSays(t *testing.T) {
	finding := func(code string, warning bool) gate.PlanFinding {
		return gate.PlanFinding{Code: code, Text: "says[" + code + "]: " + strings.Repeat("x", 400) + "\n", Warning: warning}
	}
	var many []gate.PlanFinding
	for i := range 12 {
		many = append(many, finding(fmt.Sprintf("code-%d", i), false))
	}
	one, warn := finding("bad", false), finding("odd", true)
	for name, c := range map[string]struct {
		found   []gate.PlanFinding
		err     error
		attempt int // of three
		verdict executor.Verdict
		says    []string
		not     []string
	}{
		"nothing":                        {verdict: executor.Pass},
		"warnings fail nothing":          {found: []gate.PlanFinding{warn}, attempt: 2, verdict: executor.Pass},
		"an error":                       {found: []gate.PlanFinding{one, warn}, attempt: 1, verdict: executor.Fail, says: []string{"1 error (bad).", "says[bad]"}, not: []string{"odd", "all of them"}},
		"warnings, for the last attempt": {found: []gate.PlanFinding{warn, one}, attempt: 2, verdict: executor.Fail, says: []string{"1 error and 1 warning (bad).", "says[bad]", "says[odd]"}},
		"more than fits":                 {found: many, attempt: 1, verdict: executor.Fail, says: []string{"12 errors (code-0, code-1, code-2, …).", "The first 6 are here, all of them in "}, not: []string{"code-11"}},
		"a compiler that cannot":         {err: errors.New("no disk"), verdict: executor.ErrorJudged, says: []string{"no disk"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := filepath.Join(t.TempDir(), "plan-1")
			g := gate.Compiles{Check: func(context.Context, executor.GateRun) (gate.PlanReport, error) {
				return gate.PlanReport{Found: c.found}, c.err
			}}
			got, err := g.Judge(context.Background(), executor.GateRun{
				Name: "compiles", Files: files, Step: &ir.Step{Limits: ir.StepLimits{Attempts: 3}}, Effect: executor.Effect{Attempt: c.attempt},
			})
			if err != nil || got.Verdict != c.verdict {
				t.Fatalf("%s, %v: %s", got.Verdict, err, got.Message)
			}
			for _, s := range c.says {
				if !strings.Contains(got.Message, s) {
					t.Errorf("%q is missing:\n%s", s, got.Message)
				}
			}
			for _, s := range c.not {
				if strings.Contains(got.Message, s) {
					t.Errorf("%q is there:\n%s", s, got.Message)
				}
			}
			if c.verdict != executor.Fail {
				return
			}
			all, err := os.ReadFile(filepath.Join(files, "gate-compiles.txt"))
			if err != nil || strings.Count(string(all), "says[") < len(c.found)-1 {
				t.Errorf("%v: %s", err, all)
			}
			if got.Signature == "" {
				t.Error("the failure has no signature")
			}
		})
	}
}
