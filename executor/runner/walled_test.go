package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
		model    string
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
		"not by what else OpenCode is told": {
			runner: ir.Runner{Kind: "opencode"}, model: "anthropic/m", env: []string{`OPENCODE_CONFIG_CONTENT={"$schema":"https://opencode.ai/config.json","mcp":{"x":{"url":"https://tools.example"}}}`},
			hosts: []string{"a.example", "api.anthropic.com"},
		},
		"by OpenCode's provider": {
			runner: ir.Runner{Kind: "opencode"}, model: "openai/m", hosts: []string{"a.example", "api.openai.com"},
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
			Runner: c.runner, Model: c.model, Step: &ir.Step{}, Node: &ir.Node{}, Wall: &wall.Spec{Egress: &wall.Egress{Hosts: []string{"a.example", Model}}, Forward: c.services},
		}, append(slices.Clone(c.runner.Run), "exec", "-c", tools), c.env)
		forward := lists.Map(w.Forward, func(f wall.Forward) string { return f.At })
		if !slices.Equal(w.Egress.Hosts, c.hosts) || !slices.Equal(w.Egress.Private, c.private) || !slices.Equal(forward, c.forward) {
			t.Errorf("%s: hosts %q, private %q, forward %q; want %q, %q, %q", name, w.Egress.Hosts, w.Egress.Private, forward, c.hosts, c.private, c.forward)
		}
	}
}

// A sandbox that keeps a program from its model ends the turn, when that is certain and
// not before.
func TestASandboxThatRefusesTheModelEndsTheTurn(t *testing.T) {
	const add = `the model's host %s is refused by sandbox "default": add "model" to its network`
	claude := ir.Runner{Kind: "claude"}
	for name, c := range map[string]struct {
		runner  ir.Runner
		env     []string
		network []string // nil: no proxy
		refused string   // what the proxy refuses then, as a private host
		want    string   // "": the turn goes on
	}{
		"the host is not listed":          {claude, nil, []string{"example.com"}, "api.anthropic.com:443", fmt.Sprintf(add, "api.anthropic.com:443")},
		"another host is refused":         {claude, nil, []string{"example.com"}, "github.com:443", ""},
		"another host of it is listed":    {ir.Runner{Kind: "codex"}, nil, []string{"API.openai.com"}, "chatgpt.com:443", ""},
		"none of its hosts is listed":     {ir.Runner{Kind: "codex"}, nil, []string{"*.chatgpt.com", "api.openai.com:8443"}, "chatgpt.com:443", fmt.Sprintf(add, "chatgpt.com:443")},
		"all hosts are listed":            {claude, nil, []string{"*"}, "github.com:22", ""},
		"it is listed, and no good":       {claude, nil, []string{"model"}, "api.anthropic.com:443", `the model's host api.anthropic.com:443 is refused by sandbox "default": it is private`},
		"there is no network":             {claude, nil, nil, "", fmt.Sprintf(add, "api.anthropic.com:443")},
		"an own host is not listed":       {ir.Runner{Kind: "acp"}, []string{"OPENAI_BASE_URL=https://m.example:8443/v1"}, []string{"m.example"}, "m.example:8443", fmt.Sprintf(add, "m.example:8443")},
		"one on this machine":             {claude, []string{"ANTHROPIC_BASE_URL=http://localhost:8080"}, []string{"api.anthropic.com"}, "", fmt.Sprintf(add, "127.0.0.1:8080")},
		"which model a cloud has":         {claude, []string{"CLAUDE_CODE_USE_BEDROCK=1"}, []string{"bedrock.example"}, "api.anthropic.com:443", ""},
		"what a command needs, who knows": {ir.Runner{Kind: "command"}, nil, nil, "", ""},
	} {
		told := ""
		r := executor.AgentRun{Runner: c.runner, Agent: "ann", Step: &ir.Step{}, Node: &ir.Node{}, Wall: &wall.Spec{Name: "default"}}
		if c.network != nil {
			r.Wall.Egress = &wall.Egress{Hosts: c.network, Refused: func(d wall.Denial) { told = d.Host }}
		}
		ctx, end := context.WithCancelCause(t.Context())
		w := inside(r, []string{"program"}, c.env)
		heed(w, r, []string{"program"}, c.env, end)
		if c.refused != "" {
			if ctx.Err() != nil {
				t.Errorf("%s: it ends before anything is refused", name)
			}
			w.Egress.Refused(wall.Denial{Host: c.refused, Why: "it is private", Private: true})
			if told != c.refused {
				t.Errorf("%s: the record lacks it", name)
			}
		}
		got := Refused(ctx, r)
		switch {
		case got == nil && c.want != "", got != nil && got.Error() != "agent ann: "+c.want:
			t.Errorf("%s: got %v, want %q", name, got, c.want)
		case got != nil && !Is(got, executor.FailConfig):
			t.Errorf("%s: it is no configuration failure: %v", name, got)
		}
		end(nil)
	}
}

// What a program sends in a tunnel to its model, a test of its work say, is not the
// model's refusal.
func TestOddBytesToTheModelEndNoTurn(t *testing.T) {
	r := executor.AgentRun{Runner: ir.Runner{Kind: "claude"}, Agent: "ann", Step: &ir.Step{}, Node: &ir.Node{}, Wall: &wall.Spec{Name: "default"}}
	r.Wall.Egress = &wall.Egress{Hosts: []string{"model"}}
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	w := inside(r, []string{"program"}, nil)
	heed(w, r, []string{"program"}, nil, end)
	w.Egress.Refused(wall.Denial{Host: "api.anthropic.com:443", Why: "what was sent is not TLS"})
	if err := Refused(ctx, r); err != nil {
		t.Errorf("it ended the turn: %v", err)
	}
}

func TestWhereAPathOfASandboxIsOnTheMachine(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"codex", "file"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := wall.Spec{Kind: wall.Namespaces, Home: "/own", Mounts: []wall.Mount{
		{From: filepath.Join(top, "codex"), At: "/home/u/.codex"},
		{From: filepath.Join(top, "file"), At: "/home/u/.codex/a"},
		{From: filepath.Join(top, "none"), At: "/home/u/.claude", Optional: true},
		{At: "/home/u/.codex/hidden", Cover: true},
	}}
	for path, want := range map[string]string{
		"/home/u/.codex/b":        filepath.Join(top, "codex", "b"),
		"/home/u/.codex/a":        filepath.Join(top, "file"),
		"/home/u/.codex/a/c":      filepath.Join(top, "file", "c"),
		"/home/u/.codex/hidden/x": "",
		"/home/u/.codexes":        "/own/.codexes",
		"/home/u/.claude/x":       "/own/.claude/x",
		"/elsewhere":              "/elsewhere",
	} {
		if got := Outside(executor.AgentRun{Wall: &w}, []string{"HOME=/home/u"}, path); got != want {
			t.Errorf("%s is at %q, want %q", path, got, want)
		}
	}
	w.Kind = wall.Landlock
	if got := Outside(executor.AgentRun{Wall: &w}, []string{"HOME=/home/u"}, "/home/u/.codex/b"); got != "/own/.codex/b" {
		t.Errorf("with landlock it is at %q", got)
	}
}
