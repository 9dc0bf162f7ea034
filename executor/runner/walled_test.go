package runner

import (
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// "model" lets a turn reach what its runner names, else the usual hosts, and nothing that
// ralph itself passes to the program.
func TestModelStandsForTheHostsOfTheRunner(t *testing.T) {
	const tools = `mcp_servers={"ralph"={url="http://127.0.0.1:4444/turn"}}`
	for name, c := range map[string]struct {
		runner   ir.Runner
		env      []string
		services []wall.Forward
		hosts    []string
		private  []string
		forward  []string
	}{
		"the usual ones":    {runner: ir.Runner{Kind: "codex", Run: []string{"codex"}}, hosts: []string{"a.example", "api.openai.com", "chatgpt.com", "auth.openai.com"}},
		"of the usual path": {runner: ir.Runner{Kind: "claude"}, hosts: []string{"a.example", "api.anthropic.com"}},
		"by a variable": {
			runner: ir.Runner{Kind: "claude"}, env: []string{"ANTHROPIC_BASE_URL=https://models.intra.example/v1"},
			hosts: []string{"a.example", "models.intra.example:443"}, private: []string{"models.intra.example:443"},
		},
		"not by another variable": {
			runner: ir.Runner{Kind: "claude", Set: map[string]string{"REGISTRY": "https://packages.intra.example"}}, env: []string{"REGISTRY=https://packages.intra.example"},
			hosts: []string{"a.example", "api.anthropic.com"},
		},
		"by OpenCode's own": {
			runner: ir.Runner{Kind: "acp", Run: []string{"opencode", "acp"}}, env: []string{`OPENCODE_CONFIG_CONTENT={"baseURL":"http://127.0.0.1:9090/v1"}`},
			hosts: []string{"a.example"}, forward: []string{"127.0.0.1:9090"},
		},
		"by an option": {
			runner: ir.Runner{Kind: "codex", Run: []string{"codex", "-c", `model_providers.x.base_url="http://localhost:8080/v1"`}},
			hosts:  []string{"a.example"}, forward: []string{"127.0.0.1:8080"},
		},
		"which is a service, too": {
			runner: ir.Runner{Kind: "codex", Run: []string{"codex", "-c", `base_url="http://127.0.0.1:8080/v1"`}}, services: []wall.Forward{{At: "127.0.0.1:8080", To: "127.0.0.1:8080"}},
			hosts: []string{"a.example"}, forward: []string{"127.0.0.1:8080"},
		},
	} {
		w := inside(executor.AgentRun{
			Runner: c.runner, Step: &ir.Step{}, Node: &ir.Node{}, Wall: &wall.Spec{Egress: &wall.Egress{Hosts: []string{"a.example", Model}}, Forward: c.services},
		}, append(slices.Clone(c.runner.Run), "exec", "-c", tools), c.env)
		forward := lists.Map(w.Forward, func(f wall.Forward) string { return f.At })
		if !slices.Equal(w.Egress.Hosts, c.hosts) || !slices.Equal(w.Egress.Private, c.private) || !slices.Equal(forward, c.forward) {
			t.Errorf("%s: hosts %q, private %q, forward %q; want %q, %q, %q", name, w.Egress.Hosts, w.Egress.Private, forward, c.hosts, c.private, c.forward)
		}
	}
}
