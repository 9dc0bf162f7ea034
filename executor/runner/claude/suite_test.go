package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// refused is what no agent may do with its editing tools: write outside its worktree.
var refused = modeltest.Write("/nowhere/at/all.txt", "x")

// agent is real Claude Code in front of the scripted model.
var agent = runnertest.Agent{
	Kind: "claude", Binary: "claude",
	New: func(b runner.Base) executor.Runner { return Runner{Base: b} },
	Config: func(binary, base string) ir.Runner {
		return ir.Runner{Kind: "claude", Run: []string{binary}, Env: []string{"PATH"}, Set: map[string]string{
			"ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "dummy", "CLAUDE_CODE_MAX_RETRIES": "1",
		}}
	},
	Home: func(home string, people []string) error {
		b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"people": map[string]any{"type": "stdio", "command": people[0], "args": people[1:]}}})
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(home, ".claude.json"), b, 0o600)
	},
	Native: func(home, mark string) (string, error) {
		dir := filepath.Join(home, ".claude", "agents")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		return "native", os.WriteFile(filepath.Join(dir, "native.md"), []byte("---\nname: native\ndescription: an agent of the user's\n---\n\n"+mark+"\n"), 0o600)
	},
	Person: func(t testing.TB, r executor.AgentRun, session, text string) {
		if err := speak(r.Runner.Set["HOME"], session, text); err != nil {
			t.Fatal(err)
		}
	},
	Forbidden: &refused,
	Gone:      "00000000-0000-4000-8000-000000000000",
	Editors:   editing,
	Quiet:     10 * time.Second,
}

func TestMain(m *testing.M) { runnertest.Main(m, agent) }

// The suite of all runners.
func TestRealSuite(t *testing.T) { runnertest.Run(t, agent) }
