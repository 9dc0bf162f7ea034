package opencode

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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

// suite is the real program under the suite that every runner passes.
var suite = runnertest.Agent{
	Kind: "opencode", Binary: "opencode", Model: "scripted/m1", Parts: 2,
	Alias: ir.Model{ID: "m1", Provider: "scripted"},
	New:   func(b runner.Base) executor.Runner { return &Runner{Base: b} },
	Config: func(binary, base string) ir.Runner {
		return configured(binary, base)
	},
	Home: func(home string, people []string) error {
		return put(filepath.Join(home, ".config", "opencode", "opencode.json"), marshal(map[string]any{
			"mcp": map[string]any{"people": map[string]any{"type": "local", "command": people}},
		}))
	},
	Native: func(home, mark string) (string, error) {
		return "careful", put(filepath.Join(home, ".config", "opencode", "agent", "careful.md"), "---\ndescription: is careful\nmode: primary\n---\n\n"+mark+"\n")
	},
	Person: func(t testing.TB, r executor.AgentRun, session, text string) {
		if err := personWrites(t.Context(), r, session, text); err != nil {
			t.Error(err)
		}
	},
	Forbidden: &modeltest.Action{Write: &modeltest.WriteAction{Path: "../outside.txt", Content: "x"}},
	Gone:      "ses_00000000000000000000000000",
	Editors:   []string{"edit", "write", "patch", "apply_patch", "multiedit"},
	Refused:   []string{"opencode.json", ".opencode/opencode.json", ".opencode/plugin/planted.js", ".opencode/plugins/planted.js"},
	Quiet:     25 * time.Second,
}

func TestMain(m *testing.M) { runnertest.Main(m, suite) }

// Everything of execution §4 that an agent can meet, S4-55, S4-61..66, S4-68..70,
// S4-101..108, S0-61, S0-65, S0-67, S0-112, S0-114.
func TestRealSuite(t *testing.T) { runnertest.Run(t, suite) }

// configured is the block of a runner with one model at base.
func configured(binary, base string) ir.Runner {
	return ir.Runner{Kind: "opencode", Run: []string{binary}, Set: map[string]string{contentVar: marshal(map[string]any{
		"model": "scripted/m1", "small_model": "scripted/m1", "enabled_providers": []string{"scripted"},
		"provider": map[string]any{"scripted": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": map[string]any{"baseURL": base + "/v1", "apiKey": "dummy"},
			"models": map[string]any{"m1": map[string]any{
				"name": "m1", "tool_call": true, "limit": map[string]int{"context": 200000, "output": 8000}, "cost": map[string]int{"input": 3, "output": 15},
			}},
		}},
	})}}
}

// personWrites sends a message as a client that is attached to the server does, and
// returns when it stands in the session.
func personWrites(ctx context.Context, r executor.AgentRun, session, text string) error {
	dir, a, ok := serving(r.Keep, session, r.Wall != nil)
	if !ok {
		return fmt.Errorf("no server of %s has the session %s", r.Keep, session)
	}
	at := api{url: a.URL, password: a.Password, dir: r.Dir, http: http.DefaultClient}
	answered := make(chan error, 1)
	go func() { // as OpenCode's own clients do; it is answered when the turn ends
		answered <- at.call(ctx, http.MethodPost, "/session/"+session+"/message", map[string]any{
			"parts": []any{map[string]string{"type": "text", "text": text}},
		}, nil)
	}()
	for range time.Tick(100 * time.Millisecond) {
		select {
		case err := <-answered:
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
		default:
		}
		list, err := at.messages(ctx, session)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		for _, m := range list {
			for _, p := range m.Parts {
				if p.Text == text {
					return nil
				}
			}
		}
	}
	return nil
}

func put(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
