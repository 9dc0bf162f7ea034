package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
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
	long := gate.PlanFinding{Code: "bad", Text: "says[bad]: " + strings.Repeat("ä", 4000)}
	for name, c := range map[string]struct {
		found   []gate.PlanFinding
		err     error
		left    int // attempts after it
		verdict executor.Verdict
		says    []string
		not     []string
	}{
		"nothing":                        {verdict: executor.Pass},
		"warnings fail nothing":          {found: []gate.PlanFinding{warn}, left: 1, verdict: executor.Pass},
		"an error":                       {found: []gate.PlanFinding{one, warn}, left: 2, verdict: executor.Fail, says: []string{"1 error (bad).", "says[bad]"}, not: []string{"odd", "all of them"}},
		"warnings, for the last attempt": {found: []gate.PlanFinding{warn, one}, left: 1, verdict: executor.Fail, says: []string{"1 error and 1 warning (bad, odd).", "says[bad]", "says[odd]"}},
		"more than fits":                 {found: many, left: 2, verdict: executor.Fail, says: []string{"12 errors (code-0, code-1, code-2, …).", "The first 4 are here, all of them in ", "gate-compiles.txt"}, not: []string{"code-11"}},
		"one that does not fit":          {found: []gate.PlanFinding{long}, left: 2, verdict: executor.Fail, says: []string{"1 error (bad).", "Its beginning is here, all of it in ", "gate-compiles.txt", "says[bad]"}},
		"two, and not even the first fits": {
			found: []gate.PlanFinding{long, one}, left: 2, verdict: executor.Fail,
			says: []string{"2 errors (bad).", "Of the first the beginning is here, all of them in ", "says[bad]"},
		},
		"what JSON writes longer": {
			found: []gate.PlanFinding{{Code: "bad", Text: strings.Repeat("<", 900)}, one}, left: 2, verdict: executor.Fail,
			says: []string{"2 errors (bad).", "Of the first the beginning is here, all of them in "},
		},
		"what it comes to is the compiler's": {found: []gate.PlanFinding{one}, says: []string{"Says the judge: 1 error (bad)."}, verdict: executor.Fail},
		"a compiler that cannot":             {err: errors.New("no disk"), verdict: executor.ErrorJudged, says: []string{"no disk"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := filepath.Join(t.TempDir(), "plan-1")
			g := gate.Compiles{Check: func(context.Context, executor.GateRun) (gate.PlanReport, error) {
				return gate.PlanReport{Says: "Says the judge", Found: c.found}, c.err
			}}
			got, err := g.Judge(context.Background(), executor.GateRun{
				Name: "compiles", Files: files, Left: c.left,
			})
			if err != nil || got.Verdict != c.verdict {
				t.Fatalf("%s, %v: %s", got.Verdict, err, got.Message)
			}
			if b, err := json.Marshal(got); err != nil || len(got.Message) > executor.MaxNote || len(b) > 3600 || !utf8.ValidString(got.Message) {
				t.Errorf("%d bytes, %d as JSON, %v:\n%s", len(got.Message), len(b), err, got.Message)
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

func TestCompilesTellsHowLongItTook(t *testing.T) {
	g := gate.Compiles{Check: func(context.Context, executor.GateRun) (gate.PlanReport, error) {
		time.Sleep(3 * time.Millisecond)
		return gate.PlanReport{}, nil
	}}
	if got, err := g.Judge(t.Context(), executor.GateRun{Name: "compiles"}); err != nil || got.Millis < 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}
