//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// realTeam is a site with a sprint for each real agent, in front of a scripted model.
func realTeam(t *testing.T, base string) *site {
	t.Helper()
	bin := filepath.Dir(runnertest.Binary(t, "claude"))
	for _, name := range []string{"opencode", "codex"} {
		runnertest.Binary(t, name)
	}
	kinds := map[string]ir.Runner{
		"claude":   {Run: []string{bin + "/claude"}, Set: map[string]string{"ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "dummy"}},
		"opencode": {Run: []string{bin + "/opencode"}, Set: map[string]string{"OPENCODE_DISABLE_MODELS_FETCH": "1"}},
		"codex":    {Run: []string{bin + "/codex"}, Set: map[string]string{"SCRIPTED_KEY": "dummy"}},
		"acp":      {Run: []string{bin + "/opencode", "acp"}, Set: map[string]string{"OPENCODE_DISABLE_MODELS_FETCH": "1"}},
	}
	s := newSite(t, "", executortest.Epic([]string{"1.1", "1.2", "1.3", "1.4"}, func(e *ir.Epic) {
		e.Models = map[string]ir.Model{"m": {ID: "m1", Provider: "scripted"}}
		delete(e.Runners, "sh")
		delete(e.Agents, "dev")
		for i, kind := range []string{"claude", "opencode", "codex", "acp"} {
			r := kinds[kind]
			r.Kind, r.Prompt, r.Env, r.Outcome = kind, "stdin", []string{"HOME", "PATH"}, "optional"
			e.Runners[kind], e.Agents[kind] = r, ir.Agent{Runner: kind, Access: "write", Model: "m"}
			step := &e.Nodes[i].Steps[0]
			step.Agent, step.Model, step.Limits.TimeoutMS = kind, "m", 300_000
		}
		e.Epic.Integration.Gates = []string{}
	}))
	s.write("../home/.config/opencode/opencode.json", fmt.Sprintf(`{"model":"scripted/m1","small_model":"scripted/m1","enabled_providers":["scripted"],
		"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":"%s/v1","apiKey":"dummy"},
		"models":{"m1":{"name":"m1","tool_call":true,"limit":{"context":200000,"output":8000}}}}}}`, base))
	s.write("../home/.codex/config.toml", fmt.Sprintf("model_provider = \"scripted\"\n[model_providers.scripted]\nname = \"Scripted\"\nbase_url = \"%s/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n", base))
	return s
}

// Each real agent is asked in a copy of its session, elsewhere than it worked, and
// remembers: S0-112, S0-114, S4-133, K25.
func TestRealAgentsOfEveryKindCanBeAsked(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real agents")
	}
	model := modeltest.Start(t)
	base := model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
		{Match: "A person asks you", Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Bash("pwd; ls")}}, {Text: "Because of bcrypt."}}},
		{Match: "This is a test of the connection", Steps: []modeltest.Step{
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "hello"})}}, {Text: "hello"},
		}},
		{Steps: []modeltest.Step{
			{Text: "I begin.", Do: []modeltest.Action{modeltest.Bash(`echo made > made.txt`)}},
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "made it"})}},
			{Text: "Done."},
		}},
	}})
	s := realTeam(t, base)
	hello := s.ralph("doctor", "--live")
	for _, kind := range []string{"claude", "opencode", "codex", "acp"} {
		if !regexp.MustCompile(`(?m)^ok +hello ` + kind + ` .*; report_outcome came back$`).MatchString(hello.out) {
			t.Errorf("doctor --live lacks a hello of %s:\n%s", kind, hello.all())
		}
	}
	s.apply(exit.Done, "--parallel", "2")
	for key, kind := range map[string]string{"1.1": "claude", "1.2": "opencode", "1.3": "codex", "1.4": "acp"} {
		said := s.ralph("session", key).out
		if _, joins, ok := strings.Cut(said, "* did the work. To join it:\n  cd "+words.QuoteArg(s.tree(key))+" && "); kind != "acp" && (!ok || !strings.Contains(joins, kind)) {
			t.Errorf("session of %s:\n%s", kind, said)
		}
		args := []string{"ask", key, "why bcrypt? you of " + key}
		got := s.ralph(args...)
		if kind == "acp" && got.code == exit.Input && strings.Contains(got.err, "--in-session") {
			got = s.ralph(append(args, "--in-session")...)
		}
		if got.code != exit.Done || !strings.HasSuffix(got.out, "Because of bcrypt.\n") {
			t.Errorf("%s: exit %d, it answers\n%s", kind, got.code, got.all())
			continue
		}
		var asked *modeltest.Request
		for _, r := range model.Requests(base) {
			if n := len(r.Humans); n > 0 && strings.Contains(r.Humans[n-1], "you of "+key) && r.Rounds > 0 {
				asked = &r
			}
		}
		if asked == nil {
			t.Errorf("%s: the model was never asked", kind)
			continue
		}
		if !strings.Contains(strings.Join(asked.Said, "\n"), "I begin.") {
			t.Errorf("%s does not remember: it said %q", kind, asked.Said)
		}
		if saw := strings.Join(asked.Results, "\n"); kind != "acp" && !strings.Contains(saw, s.tree(key)+".ask-") || !strings.Contains(saw, "made.txt") {
			t.Errorf("%s is asked where it sees\n%s", kind, saw)
		}
	}
	if missed := model.Missed(base); len(missed) > 0 {
		t.Errorf("the model was asked what it has no answer to: %q", missed)
	}
	if list := s.git("worktree", "list"); strings.Contains(list, ".ask-") {
		t.Errorf("left behind:\n%s", list)
	}
	if left := s.processes(); len(left) > 0 {
		for _, pid := range left {
			cmd, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("a process is left: %q", cmd)
		}
	}
}
