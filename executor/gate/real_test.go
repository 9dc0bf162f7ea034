package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/claude"
	"github.com/ralph-compiler/ralph/executor/runner/codex"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// judges are real programs in front of a scripted model.
var judges = map[string]struct {
	runner executor.Runner
	block  func(binary, home, base string) ir.Runner
}{
	"claude": {claude.Runner{Base: runner.Base{Grace: 2 * time.Second}}, func(binary, home, base string) ir.Runner {
		return ir.Runner{Kind: "claude", Run: []string{binary}, Env: []string{"PATH"}, Set: map[string]string{"HOME": home, "ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "dummy"}}
	}},
	"codex": {codex.Runner{Base: runner.Base{Grace: 2 * time.Second}}, func(binary, home, base string) ir.Runner {
		run := []string{binary}
		for _, o := range []string{
			`model_provider="scripted"`, `model_providers.scripted.name="S"`, fmt.Sprintf("model_providers.scripted.base_url=%q", base+"/v1"),
			`model_providers.scripted.env_key="SCRIPTED_KEY"`, `model_providers.scripted.wire_api="responses"`,
		} {
			run = append(run, "-c", o)
		}
		return ir.Runner{Kind: "codex", Run: run, Env: []string{"PATH"}, Set: map[string]string{"HOME": home, "SCRIPTED_KEY": "dummy"}}
	}},
}

// K15, S4-48, L0-10, execution §3, §4: real agents as judges. One that only talks is
// asked again in its session, and reports there; a wrong shape is refused in the same
// turn; a blind one has no get_context.
func TestRealJudgesReport(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real agents")
	}
	for name, j := range judges {
		t.Run(name, func(t *testing.T) {
			binary := runnertest.Binary(t, name)
			model := modeltest.Start(t)
			server := &mcp.Server{}
			defer server.Close()
			by := map[string]executor.Runner{name: mcp.Serve(server, j.runner)}
			report := func(status, message string) modeltest.Step {
				return modeltest.Step{Do: []modeltest.Action{modeltest.Report(map[string]any{"status": status, "message": message})}}
			}
			for kind, judge := range map[string]executor.Gate{"agent": gate.Agent{Runners: by}, "review": gate.Review{Runners: by}} {
				base := model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
					{Match: "could not be used", Steps: []modeltest.Step{report("perhaps", "x"), report("fail", "no test"), {Text: `It said {"status":"pass"} before.`}}},
					{Match: "report_outcome", Steps: []modeltest.Step{{Text: "Looks good to me."}}},
				}})
				r := judgeBy(t, "")
				r.Gate.Kind, r.Gate.TimeoutMS = kind, 120_000
				r.Runner, r.Context = j.block(binary, t.TempDir(), base), json.RawMessage(`{"goal":"SECRET GOAL"}`)
				r.Keep = t.TempDir()
				if kind == "review" {
					r.Dir = ""
				}
				var mu sync.Mutex
				var sessions []executor.AgentSession
				r.Record = func(_ context.Context, b executor.Body) error {
					mu.Lock()
					defer mu.Unlock()
					if s, ok := b.(executor.AgentSession); ok {
						sessions = append(sessions, s)
					}
					return nil
				}
				got, err := judge.Judge(t.Context(), r)
				if err != nil || got.Verdict != executor.Fail || got.Message != "no test" {
					t.Errorf("%s: got %+v, %v", kind, got, err)
				}
				if len(sessions) != 2 || sessions[0].Session != sessions[1].Session || sessions[1].Fresh {
					t.Errorf("%s: it was asked in %+v", kind, sessions)
				}
				var tools, results []string
				for _, q := range model.Requests(base) {
					if q.Protocol != "" && !q.Side() {
						tools, results = q.ToolNames(), q.Results
					}
				}
				context := slices.ContainsFunc(tools, func(n string) bool { return strings.HasSuffix(n, "get_context") })
				if context != (kind == "agent") {
					t.Errorf("%s: the tools are %q", kind, tools)
				}
				if len(results) != 2 || !strings.Contains(results[0], "/status") || !strings.Contains(results[1], "Recorded") {
					t.Errorf("%s: it was told %q", kind, results)
				}
			}
		})
	}
}
