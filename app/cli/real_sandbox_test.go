//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// needsSandbox skips where this machine makes no sandbox of a kind, unless
// RALPH_SANDBOX_REQUIRE names it.
func needsSandbox(t *testing.T, kind wall.Kind) {
	t.Helper()
	err := tried(kind)
	switch {
	case err == nil:
	case slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), string(kind)):
		t.Fatalf("RALPH_SANDBOX_REQUIRE names %s, and there is no such sandbox here: %v", kind, err)
	default:
		t.Skipf("NOT TESTED: this machine makes no sandbox of %s: %v", kind, err)
	}
}

// insidePolicy is teamPolicy for a sandbox of a kind, whose home holds none of the user's
// settings: all of them are in the policy. At landlock, where OpenCode cannot be, others do its part.
func insidePolicy(base, kind string) string {
	team := teamPolicy
	if kind == string(wall.Landlock) {
		team = strings.NewReplacer("runner       = runner.opencode", "runner       = runner.codex", "runner       = runner.acp", "runner       = runner.claude").Replace(team)
	}
	opencode := fmt.Sprintf(`{"model":"scripted/m1","small_model":"scripted/m1","enabled_providers":["scripted"],"provider":{"scripted":`+
		`{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":"%s/v1","apiKey":"dummy"},`+
		`"models":{"m1":{"name":"m1","tool_call":true,"limit":{"context":200000,"output":8000}}}}}}`, base)
	return strings.NewReplacer(
		`run  = ["BIN/codex"]`, fmt.Sprintf(`run  = ["BIN/codex", "-c", "model_provider=scripted", "-c", %q, "-c", %q, "-c", %q, "-c", %q]`,
			`model_providers.scripted.name="Scripted"`, `model_providers.scripted.base_url="`+base+`/v1"`,
			`model_providers.scripted.env_key="SCRIPTED_KEY"`, `model_providers.scripted.wire_api="responses"`),
		`"CODEX_HOME=HOMEDIR/.codex", `, "",
		`["OPENCODE_DISABLE_AUTOUPDATE=1"]`, fmt.Sprintf(`["OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", %q]`, "OPENCODE_CONFIG_CONTENT="+opencode),
		`    timeout = "5m"`, "    session = \"resume\"\n    timeout = \"5m\"",
		"worktree {\n", "sandbox \"default\" {\n  kind    = \""+kind+"\"\n  network = [\"model\"]\n}\nworktree {\n  layout   = \"clone\"\n",
	).Replace(team)
}

// teamScenario is what the model does of the demo's plan. inside is put before what an
// agent does in its shell.
func teamScenario(inside string) modeltest.Scenario {
	works := func(match, key, step, prompt, feedback string) modeltest.Rule {
		do := coderScript(key, step, prompt, feedback)
		do.Bash.Cmd = inside + do.Bash.Cmd
		return modeltest.Rule{Match: match, Steps: []modeltest.Step{
			{Text: "I begin with " + key + ".", Do: []modeltest.Action{do}},
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "did " + key + " " + step})}},
			{Text: "Done."},
		}}
	}
	sprint := func(key string) string { return `step "implement" of sprint ` + key + "." }
	return modeltest.Scenario{Rules: []modeltest.Rule{
		{Match: "A person asks you", Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Bash(inside + "ls")}}, {Text: "Because of bcrypt."}}},
		{Match: "You review a change without knowing", Steps: []modeltest.Step{
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"status": "pass", "message": "no token in the code"})}},
			{Text: "Reviewed."},
		}},
		works("'get nothing' answered", "1.2a", "implement", "Sprint 1.2a:", "get nothing"),
		works(`step "merge" of sprint 1.3.`, "1.3", "merge", "commands.go", ""),
		works(sprint("1.1"), "1.1", "implement", "Sprint 1.1:", ""),
		works(sprint("1.2a"), "1.2a", "implement", "Sprint 1.2a:", ""),
		works(sprint("1.2b"), "1.2b", "implement", "Sprint 1.2b:", ""),
		works(sprint("1.3"), "1.3", "implement", "Sprint 1.3:", ""),
		works(sprint("2.1"), "2.1", "implement", "Sprint 2.1:", ""),
	}}
}

// Each real agent that can work in a sandbox does the demo's plan in one, with its gates
// and the review; each answers about it afterwards, inside, too.
func TestRealAgentsWorkInASandbox(t *testing.T) {
	for _, name := range []string{"claude", "opencode", "codex"} {
		runnertest.Binary(t, name)
	}
	for kind, tried := range map[string]wall.Kind{"auto": wall.Namespaces, "landlock": wall.Landlock} {
		t.Run(kind, func(t *testing.T) {
			if tried == wall.Landlock && os.Getenv("RALPH_ATTACKS") != "all" {
				t.Skip("NOT TESTED: it takes minutes; RALPH_ATTACKS=all tries it")
			}
			needsSandbox(t, tried)
			realAgentsInside(t, kind)
		})
	}
}

func realAgentsInside(t *testing.T, kind string) {
	bin := filepath.Dir(runnertest.Binary(t, "claude"))
	model := modeltest.Start(t)
	d := newDemo(t)
	// Who works outside finds the file, and fails.
	outside := filepath.Join(d.home, "private")
	d.write(outside, "secret")
	unseen := "test ! -e " + outside + " && "
	if kind == string(wall.Landlock) { // where it can be seen, and not read
		unseen = "! cat " + outside + " 2>/dev/null && "
	}
	base := model.Load(t, teamScenario(unseen))

	patient := filepath.Join(d.top, "demo.hcl") // on a machine with much else to do
	d.write(patient, strings.ReplaceAll(d.read("ralph.hcl"), `timeout = "1m"`, `timeout = "10m"`))
	want := d.apply("scripts", patient)
	policy := filepath.Join(d.top, "team.hcl")
	d.write(policy, strings.NewReplacer("HOMEDIR", d.home, "CACHEDIR", d.cache, "BIN", bin, "@MODEL@", base).Replace(insidePolicy(base, kind)))
	got := d.apply("agents", policy)
	if got != want {
		t.Errorf("the agents ended with another tree:\n%s", d.git("diff", want, got))
	}
	remembers := false
	for _, r := range model.Requests(base) {
		if strings.Contains(r.Human(), "'get nothing' answered") && strings.Contains(strings.Join(r.Said, "\n"), "I begin with 1.2a.") {
			remembers = true
		}
	}
	if !remembers {
		t.Error("the second attempt of 1.2a does not remember its first")
	}
	here := *d
	here.dir = filepath.Join(d.top, "agents")
	for key, who := range map[string]string{"1.2a": "ann", "1.2b": "bob", "1.3": "cyd", "2.1": "dan"} {
		if out := here.ralph("session", key); !strings.Contains(out, who) {
			t.Errorf("ralph session %s does not name %s:\n%s", key, who, out)
		}
		ask := []string{"ask", key, "why bcrypt? you of " + key}
		if who == "dan" { // OpenCode has no copies over ACP
			ask = append(ask, "--in-session")
		}
		if out := here.ralph(ask...); !strings.HasSuffix(out, "Because of bcrypt.") {
			t.Errorf("ralph ask %s answers\n%s", key, out)
		}
	}
	if missed := model.Missed(base); len(missed) > 0 {
		t.Errorf("the model was asked what it has no answer to: %q", missed)
	}
}
