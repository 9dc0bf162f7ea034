package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// loginScenario is a model whose agents go on with their session once.
func loginScenario() modeltest.Scenario {
	work := func(match, begin, cmd string) modeltest.Rule {
		return modeltest.Rule{Match: match, Steps: []modeltest.Step{
			{Text: begin, Do: []modeltest.Action{modeltest.Bash(cmd)}},
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "did it"})}},
			{Text: "Done."},
		}}
	}
	return modeltest.Scenario{Rules: []modeltest.Rule{
		{Match: `"status"`, Steps: []modeltest.Step{
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"status": "pass", "message": "fine"})}}, {Text: "Judged."},
		}},
		work("nothing was done twice", "I go on.", `echo yes > "twice-$RALPH_NODE.txt"`),
		work("", "I begin.", `ls -R ~/.codex ~/.claude "$CODEX_HOME" 2> /dev/null; echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`),
	}}
}

// loggedInSite is a site whose agents are a real program that has no key.
func loggedInSite(t *testing.T, r ir.Runner) *site {
	t.Helper()
	return codexSite(t, "unused", nil, func(e *ir.Epic) {
		e.Runners["codex"] = r
		for name, a := range e.Agents {
			a.Model = "m1"
			e.Agents[name] = a
		}
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Session = "resume"
			e.Nodes[i].Steps[0].Limits.TimeoutMS = 600_000
		}
		g := e.Gates["check"]
		g.Run = `test -e "twice-$RALPH_NODE.txt" || { echo nothing was done twice; exit 1; }`
		e.Gates["check"] = g
	})
}

// worked checks that all turns were the login's, and that each attempt went on with its session.
func (s *site) worked(model *modeltest.Server, base, token string) {
	s.t.Helper()
	remember := 0
	for _, r := range model.Turns(base) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+token {
			s.t.Errorf("a turn came with Authorization %q", got)
		}
		if strings.Contains(r.Human(), "nothing was done twice") && slices.Contains(r.Said, "I begin.") {
			remember++
		}
	}
	if remember == 0 {
		s.t.Error("no agent went on with its session")
	}
	if missed := model.Missed(base); len(missed) > 0 {
		s.t.Errorf("the model was asked what it has no answer to: %q", missed)
	}
}

// The real Codex is logged in by its own program, once for all sandboxes.
func TestRealCodexWorksWithALoginOfRalphs(t *testing.T) {
	codex := runnertest.Binary(t, "codex")
	model := modeltest.Start(t)
	base := model.Load(t, loginScenario())
	run := []string{codex}
	for _, c := range []string{
		`model_provider="scripted"`, `model_providers.scripted.name="Scripted"`, fmt.Sprintf("model_providers.scripted.base_url=%q", base+"/v1"),
		`model_providers.scripted.requires_openai_auth=true`, `model_providers.scripted.wire_api="responses"`,
	} {
		run = append(run, "-c", c)
	}
	s := loggedInSite(t, ir.Runner{Kind: "codex", Run: run, Env: []string{"PATH", "HOME", "CODEX_HOME"}})
	s.write("ralph.hcl", fmt.Sprintf("runner \"codex\" {\n  kind = \"codex\"\n  run  = [%q]\n}\n", codex))
	s.logins("sk-of-a-test\n", exit.Done, "codex", "--", "--with-api-key")
	s.apply(exit.Done)
	s.worked(model, base, "sk-of-a-test")
	for _, file := range below(t, filepath.Join(s.top, "home/.local/state/ralph/logins")) {
		if strings.Contains(file, "sessions/") || strings.Contains(file, "sqlite") {
			t.Errorf("%s of one sandbox is in all of them", file)
		}
	}
	if _, err := os.Stat(filepath.Join(s.top, "home/.codex")); err == nil {
		t.Error("there is a ~/.codex now")
	}
}

// The real Claude Code finds the credentials that a login left, and keeps everything else in
// the home directory of its sandbox.
func TestRealClaudeWorksWithALoginOfRalphs(t *testing.T) {
	claude := runnertest.Binary(t, "claude")
	model := modeltest.Start(t)
	base := model.Load(t, loginScenario())
	s := loggedInSite(t, ir.Runner{Kind: "claude", Run: []string{claude}, Env: []string{"PATH", "HOME"}, Set: map[string]string{"ANTHROPIC_BASE_URL": base}})
	if got := s.ralph("apply"); got.code != exit.Waiting || !strings.Contains(got.all(), "log in inside ralph's sandboxes with ralph login claude, or set ANTHROPIC_API_KEY") {
		t.Errorf("without a login: exit %d\n%s", got.code, got.all())
	}
	s.write("../bin/claude", `#!/bin/sh
echo '{"claudeAiOauth":{"accessToken":"sk-ant-oat01-of-a-test","refreshToken":"sk-ant-ort01-of-a-test","expiresAt":4102444800000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}' > "$CLAUDE_CONFIG_DIR/.credentials.json"
`)
	s.logins("", exit.Done, "claude")
	s.ralph("retry", "1.1")
	s.apply(exit.Done)
	s.worked(model, base, "sk-ant-oat01-of-a-test")
	if files := below(t, filepath.Join(s.top, "home/.local/state/ralph/logins")); !slices.Equal(files, []string{"claude/claude/login/.credentials.json"}) {
		t.Errorf("beside the login there is %q", files)
	}
	if _, err := os.Stat(filepath.Join(s.top, "home/.claude")); err == nil {
		t.Error("there is a ~/.claude now")
	}
}
