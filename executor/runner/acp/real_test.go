package acp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// openCode is a real program that speaks ACP.
var openCode = runnertest.Agent{
	Kind: "acp opencode", Binary: "opencode",
	New:     func(b runner.Base) executor.Runner { return Runner{Base: b} },
	Config:  openCodeConfig,
	Gone:    "ses_e003b9ceffffqM8K3EhyGAG1U",
	Refused: []string{"opencode.json", ".opencode/opencode.json", ".opencode/plugin/planted.js", ".opencode/plugins/planted.js"},
	Quiet:   30 * time.Second,
	Parts:   4,
}

// openCodeConfig is the runner's block for OpenCode with a model at base.
func openCodeConfig(binary, base string) ir.Runner {
	model := map[string]any{
		"name": "m1", "tool_call": true,
		"limit": map[string]int{"context": 200_000, "output": 8000}, "cost": map[string]int{"input": 3, "output": 15},
	}
	config, _ := json.Marshal(map[string]any{ // texts and numbers always can
		"autoupdate": false, "share": "disabled", "model": "scripted/m0", "small_model": "scripted/m0", "enabled_providers": []string{"scripted"},
		"provider": map[string]any{"scripted": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
			"options": map[string]any{"baseURL": base + "/v1", "apiKey": "dummy"},
			"models":  map[string]any{"m0": model, "m1": model},
		}},
	})
	return ir.Runner{
		Kind: "acp", Run: []string{binary, "acp"}, Prompt: "stdin", Outcome: "optional",
		Set: map[string]string{
			"OPENCODE_CONFIG_CONTENT": string(config), "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1",
		},
	}
}

// S4-55, S4-56; the suite of all runners, with opencode acp.
func TestRealSuite(t *testing.T) { runnertest.Run(t, openCode) }

// execution §3: an agent that only reads is refused what it asks for. S4-73
func TestRealEditIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: real programs")
	}
	binary := runnertest.Binary(t, "opencode")
	model := modeltest.Start(t)
	base := model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{{Match: "the prompt", Steps: []modeltest.Step{
		{Do: []modeltest.Action{modeltest.Bash("echo x > shell.txt")}}, {Text: "I write.", Do: []modeltest.Action{modeltest.Write("made.txt", "x")}}, {Text: "I wrote."},
	}}}})
	r := executortest.AgentRun(t, openCodeConfig(binary, base))
	r.Model, r.Alias, r.Read = "m1", ir.Model{ID: "m1", Provider: "scripted"}, true
	r.Runner.Set["HOME"], r.Runner.Set["OPENCODE_PERMISSION"] = t.TempDir(), `{"edit":"ask","bash":"ask"}`
	got, err := Runner{Base: runnertest.Base()}.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "made.txt")); err == nil {
		t.Error("it edited")
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "shell.txt")); err != nil {
		t.Errorf("its shell was refused, too: %v", err)
	}
	out, err := os.ReadFile(runner.File(r, runner.OutExt))
	if err != nil || !strings.Contains(string(out), "refused: this agent may not change files") || got.Outcome.Result == "success" {
		t.Errorf("got %+v, %v; shown:\n%s", got.Outcome, err, out)
	}
}
