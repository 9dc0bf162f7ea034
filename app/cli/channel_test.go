//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/command"
	"github.com/ralph-compiler/ralph/ir"
)

// withTools makes the ralph of these tests run shell scripts as Claude Code: they
// have the outcome channel as it has it, by the stdio proxy.
const withTools = "RALPH_TEST_TOOLS"

// tooled are the scripts. Each is told the tools of its turn in $TOOLS.
type tooled struct{ *command.Runner }

func (p tooled) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	set := map[string]string{"TOOLS": r.Tools.Name}
	maps.Copy(set, r.Runner.Set)
	maps.Copy(set, r.Tools.ProxyEnv)
	r.Runner.Set = set
	return p.Runner.Run(ctx, r)
}

// heedTools heeds withTools; the test's own binary calls it.
func heedTools() {
	if os.Getenv(withTools) != "" {
		run.Runners["claude"] = func(b runner.Base) executor.Runner { return tooled{&command.Runner{Base: b}} }
		run.RunnerKinds = []string{"claude", "command"}
	}
}

// useTools defines tool NAME ARGUMENTS, which calls a tool and prints what it says.
const useTools = `cat > /dev/null
tool() {
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}' \
		'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"'}}' | ralph mcp --attempt "$TOOLS" | tail -1
}
`

// What an agent and its judges report through the channel is what counts, from the
// first prompt to the report.
//
// S4-38, S4-39, S4-41..48, K15, execution §3, §4
func TestAgentsAndJudgesReportThroughTheChannel(t *testing.T) {
	epic := executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		run := func(script string) ir.Runner {
			return ir.Runner{Kind: "claude", Run: []string{"sh", "-c", useTools + script}, Prompt: "stdin", Env: []string{"PATH", "HOME"}, Outcome: "optional"}
		}
		// It is refused, mends its report, proposes work, and chatters at the end.
		e.Runners["sh"] = run(`
echo work > new.txt
tool report_outcome '{"result":"done","summary":"x"}' | grep -q '"isError":true' || exit 9
tool propose_work '{"title":"rotate the keys","text":"they never are"}' | grep -q Recorded || exit 9
tool get_context '{}' > context.txt
tool report_outcome '{"result":"success","summary":"reported by tool","created_issues":[{"title":"one more"}]}' | grep -q Recorded || exit 9
echo '{"result":"failed","summary":"said at the end"}'
`)
		// It reports a pass, and quotes a fail beside it.
		e.Runners["qa"] = run(`
tool get_context '{}' | grep -q 'what get_context tells' || exit 9
tool report_outcome '{"status":"perhaps","message":"x"}' | grep -q '/status' || exit 9
tool report_outcome '{"status":"pass","message":"reported by the judge"}' | grep -q Recorded || exit 9
echo 'Before it was {"status":"fail","message":"quoted"}'
`)
		// It asks for what it must not know.
		e.Runners["blind"] = run(`
tool get_context '{}' | grep -q 'unknown tool' || exit 9
tool report_outcome '{"status":"pass","message":"reported blindly"}' | grep -q Recorded || exit 9
`)
		e.Agents["dev"] = ir.Agent{Runner: "sh", Access: "write"}
		e.Agents["qa"], e.Agents["blind"] = ir.Agent{Runner: "qa", Access: "read"}, ir.Agent{Runner: "blind", Access: "read"}
		for name, kind := range map[string]string{"qa": "agent", "blind": "review"} {
			e.Gates[name] = ir.Gate{Kind: kind, From: "policy", Agent: name, Access: "read", Prompt: []string{"Try it."}, OnFailure: "retry", TimeoutMS: 60_000}
		}
		e.Nodes[0].Steps[0].Gates = []string{"check", "qa", "blind"}
		e.Nodes[0].Goal = "what get_context tells"
		e.Epic.Integration.Gates = []string{}
	})
	r := newApplyRepo(t, epic)
	t.Setenv(withTools, "1")
	r.run(exit.Done)

	var node record.ShowJSON
	if err := json.Unmarshal([]byte(r.ralph(exit.Done, "show", "1.1", "--json")), &node); err != nil {
		t.Fatal(err)
	}
	if len(node.Attempts) != 1 || node.Attempts[0].Outcome.Summary != "reported by tool" {
		t.Errorf("the attempts: %+v", node.Attempts)
	}
	verdicts := map[string]string{}
	for _, g := range node.Attempts[0].Gates {
		verdicts[g.Gate] = string(g.Verdict) + " " + g.Message
	}
	if verdicts["qa"] != "pass reported by the judge" || verdicts["blind"] != "pass reported blindly" {
		t.Errorf("the verdicts: %v", verdicts)
	}
	if got := r.git("show", "ralph/x/integration:context.txt"); !strings.Contains(got, "what get_context tells") {
		t.Errorf("the context is %s", got)
	}
	for _, ask := range [][]string{{"plan"}, {"status"}} {
		got := r.ralph(exit.Done, ask...)
		for _, want := range []string{"rotate the keys (1.1, dev)", "one more (1.1, dev)"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("ralph %s does not list %q once:\n%s", ask[0], want, got)
			}
		}
	}
	r.ralph(exit.Done, "report", "-o", "report.html")
	b, err := os.ReadFile(filepath.Join(r.dir, "report.html"))
	if err != nil || !strings.Contains(string(b), "rotate the keys") || !strings.Contains(string(b), "they never are") {
		t.Errorf("the report does not list the proposal (%v)", err)
	}
}
