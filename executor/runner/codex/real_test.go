package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

var agent = runnertest.Agent{
	Kind: "codex", Binary: "codex",
	New: func(b runner.Base) executor.Runner { return Runner{Base: b} },
	Config: func(binary, base string) ir.Runner {
		return ir.Runner{
			Kind: "codex",
			Run:  append([]string{binary}, provider(base)...),
			Set:  map[string]string{"SCRIPTED_KEY": "dummy"},
			Env:  []string{"PATH", "TMPDIR"},
		}
	},
	Home: func(home string, people []string) error {
		return userHome(home, "[mcp_servers.people]\ncommand = "+key(people[0])+"\nargs = "+list(people[1:])+"\n")
	},
	Native: func(home, mark string) (string, error) {
		return "careful", os.WriteFile(filepath.Join(home, ".codex", "careful.config.toml"), []byte("developer_instructions = "+key(mark)+"\n"), 0o600)
	},
	Forbidden: &modeltest.Action{},
	Gone:      "01a1f88a-39e8-7601-81ff-d5011c1575e4",
}

func init() {
	a := modeltest.Bash("echo no > /etc/ralph-test-of-codex")
	agent.Forbidden = &a
}

// provider are the options by which Codex asks the scripted model.
func provider(base string) []string {
	var out []string
	for _, s := range []string{
		`model_provider="scripted"`, `model_providers.scripted.name="Scripted"`, fmt.Sprintf("model_providers.scripted.base_url=%q", base+"/v1"),
		`model_providers.scripted.env_key="SCRIPTED_KEY"`, `model_providers.scripted.wire_api="responses"`,
		"model_providers.scripted.request_max_retries=1", "model_providers.scripted.stream_max_retries=1",
	} {
		out = append(out, "-c", s)
	}
	return out
}

func userHome(home, config string) error {
	if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, ".codex", "config.toml"), []byte(config), 0o600)
}

func list(s []string) string {
	out := "["
	for _, v := range s {
		out += key(v) + ","
	}
	return out + "]"
}

func TestMain(m *testing.M) { runnertest.Main(m, agent) }

// S0-61, S0-67, S2-42, S4-55, S4-63, S4-79, K25, execution §3, §4, §8
func TestRealSuite(t *testing.T) { runnertest.Run(t, agent) }
