//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
)

// teamPolicy gives the sprints of the demo to real agents: 1.2a to Claude Code, its
// parallel sibling to OpenCode, the merge of the two to Codex, what is about
// credentials to OpenCode over ACP. They are told to use the model at @MODEL@.
const teamPolicy = `
locals {
  home = ["HOME=HOMEDIR", "PATH", "GOCACHE=CACHEDIR", "GOFLAGS", "GOPATH", "GOMODCACHE"]
}
runner "claude" {
  kind = "claude"
  run  = ["BIN/claude"]
  env  = concat(local.home, ["ANTHROPIC_BASE_URL=@MODEL@", "ANTHROPIC_API_KEY=dummy"])
}
runner "opencode" {
  kind = "opencode"
  run  = ["BIN/opencode"]
  env  = concat(local.home, ["OPENCODE_DISABLE_AUTOUPDATE=1"])
}
runner "codex" {
  kind = "codex"
  run  = ["BIN/codex"]
  env  = concat(local.home, ["CODEX_HOME=HOMEDIR/.codex", "SCRIPTED_KEY=dummy"])
}
runner "acp" {
  kind = "acp"
  run  = ["BIN/opencode", "acp"]
  env  = concat(local.home, ["OPENCODE_DISABLE_AUTOUPDATE=1"])
}
runner "tester" {
  kind = "command"
  run  = ["sh", "-c", file("agents/tester.sh")]
  env  = concat(local.home, ["TMPDIR"])
}
model "scripted" {
  id       = "m1"
  provider = "scripted"
}
agent "ann" {
  runner       = runner.claude
  model        = "scripted"
  capabilities = ["implement"]
  access       = "write"
}
agent "bob" {
  runner       = runner.opencode
  model        = "scripted"
  capabilities = ["implement"]
  access       = "write"
}
agent "cyd" {
  runner       = runner.codex
  model        = "scripted"
  capabilities = ["implement"]
  access       = "write"
}
agent "dan" {
  runner       = runner.acp
  model        = "scripted"
  capabilities = ["implement"]
  access       = "write"
}
agent "tester" {
  runner       = runner.tester
  capabilities = ["test"]
  access       = "read"
}
agent "reviewer" {
  runner       = runner.claude
  model        = "scripted"
  capabilities = ["review"]
  access       = "read"
}
gate "unit" {
  kind    = "command"
  run     = "go test ./..."
  protect = ["**/*_test.go", "go.mod"]
}
gate "qa" {
  kind   = "agent"
  agent  = agent.tester
  prompt = "Try every acceptance criterion in this worktree. Name those that do not hold."
  sees   = ["acceptance"]
}
gate "blind-review" {
  kind  = "review"
  agent = agent.reviewer
}
policy "default" {
  default = true
  step "implement" {
    agent   = node.key == "1.2b" ? agent.bob : node.key == "1.3" ? agent.cyd : node.key == "2.1" ? agent.dan : agent.ann
    gates   = [gate.unit, gate.qa]
    timeout = "5m"
    stall {
      after = "4m"
    }
    retry {
      attempts = 3
      initial  = "1s"
    }
  }
}
worktree {
  min_free = "50MB"
}
`

// coderScript lets the demo's scripted coder work in an agent's shell: so the real
// agents do what the scripts do, with their own tools.
func coderScript(key, step, prompt, feedback string) modeltest.Action {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	return modeltest.Bash(fmt.Sprintf(
		`d=$(mktemp -d) && printf %%s %s > "$d/feedback" && printf %%s %s | RALPH_NODE=%s RALPH_STEP=%s RALPH_FEEDBACK="$d/feedback" RALPH_OUTCOME="$d/outcome" sh agents/coder.sh`,
		quote(feedback), quote(prompt), key, step))
}

func TestRealAgentsEndWithTheTreeOfTheScriptedDemo(t *testing.T) { // S4-55, execution §3
	for _, name := range []string{"claude", "opencode", "codex"} {
		runnertest.Binary(t, name)
	}
	bin := filepath.Dir(runnertest.Binary(t, "claude"))
	model := modeltest.Start(t)
	works := func(match, key, step, prompt, feedback string) modeltest.Rule {
		return modeltest.Rule{Match: match, Steps: []modeltest.Step{
			{Do: []modeltest.Action{coderScript(key, step, prompt, feedback)}},
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "did " + key + " " + step})}},
			{Text: "Done."},
		}}
	}
	sprint := func(key string) string { return `step "implement" of sprint ` + key + "." }
	base := model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
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
	}})

	d := newDemo(t)
	patient := filepath.Join(d.top, "demo.hcl") // on a machine with much else to do
	d.write(patient, strings.ReplaceAll(d.read("ralph.hcl"), `timeout = "1m"`, `timeout = "10m"`))
	want := d.apply("scripts", patient)
	policy := filepath.Join(d.top, "team.hcl")
	text := strings.NewReplacer("HOMEDIR", d.home, "CACHEDIR", d.cache, "BIN", bin, "@MODEL@", base).Replace(teamPolicy)
	d.write(policy, text)
	d.write(filepath.Join(d.home, ".config/opencode/opencode.json"), fmt.Sprintf(`{"model":"scripted/m1","small_model":"scripted/m1","enabled_providers":["scripted"],
		"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":"%s/v1","apiKey":"dummy"},
		"models":{"m1":{"name":"m1","tool_call":true,"limit":{"context":200000,"output":8000}}}}}}`, base))
	d.write(filepath.Join(d.home, ".codex/config.toml"), fmt.Sprintf("model_provider = \"scripted\"\n[model_providers.scripted]\nname = \"Scripted\"\nbase_url = \"%s/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n"+
		"[sandbox_workspace_write]\nwritable_roots = [%q]\n", base, d.cache)) // as a user does whose tools keep a cache at home
	got := d.apply("agents", policy)
	if got != want {
		t.Errorf("the agents ended with another tree:\n%s", d.git("diff", want, got))
	}
	if missed := model.Missed(base); len(missed) > 0 {
		t.Errorf("the model was asked what it has no answer to: %q", missed)
	}
	for key, who := range map[string]string{"1.2a": "ann", "1.2b": "bob", "1.3": "cyd", "2.1": "dan"} {
		if out := d.ralph("session", key); !strings.Contains(out, who) {
			t.Errorf("ralph session %s does not name %s:\n%s", key, who, out)
		}
	}
}

// demo is the demo's project, in a repository of its own.
type demo struct {
	t                     *testing.T
	top, dir, home, cache string
}

func newDemo(t *testing.T) *demo {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{t: t, top: top, dir: filepath.Join(top, "links"), home: filepath.Join(top, "home")}
	find := exec.Command("go", "env", "GOCACHE") // an empty one takes a minute to fill
	find.Env = append(os.Environ(), "HOME="+userHome)
	cache, err := find.Output()
	if err != nil {
		t.Fatal(err)
	}
	d.cache = strings.TrimSpace(string(cache))
	if err := os.CopyFS(d.dir, os.DirFS("../../examples/demo/project")); err != nil {
		t.Fatal(err)
	}
	d.write(filepath.Join(d.home, ".keep"), "")
	d.git("init", "-q", "-b", "main", ".")
	d.git("config", "user.name", "demo")
	d.git("config", "user.email", "demo@example.org")
	d.git("add", "-A")
	d.git("commit", "-q", "-m", "links: the skeleton")
	d.ralph("compile", "plans/links.md", "-o", filepath.Join(top, "first.json"))
	d.git("commit", "-q", "-a", "-m", "plans: compile")
	return d
}

// apply compiles the plan with a policy in a clone, applies it, and returns the tree
// that the integration branch ends with, fetched.
func (d *demo) apply(name, policy string) string {
	d.t.Helper()
	here := *d
	d.git("clone", "-q", d.dir, filepath.Join(d.top, name))
	here.dir = filepath.Join(d.top, name)
	here.git("config", "user.name", "demo")
	here.git("config", "user.email", "demo@example.org")
	inside := filepath.Base(policy) // policies are read inside of the project
	d.write(filepath.Join(here.dir, inside), d.read(policy))
	policy = inside
	here.ralph("compile", "plans/links.md", "-o", "epic.json", "--policy", policy)
	out := here.ralph(append([]string{"apply", "epic.json"}, unconfined()...)...)
	if !strings.Contains(out, "5 of 5 sprints done") || !strings.Contains(out, "merge #1: the conflict is resolved") {
		d.t.Errorf("%s did not do what the demo promises:\n%s", name, out)
	}
	d.git("fetch", "-q", here.dir, "ralph/links/integration")
	*d = here
	return d.git("rev-parse", "ralph/links/integration^{tree}")
}

func (d *demo) write(path, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *demo) read(path string) string {
	d.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.dir, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

func (d *demo) run(name string, args ...string) string {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = d.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GOFLAGS=" + os.Getenv("GOFLAGS"),
		"GOCACHE=" + d.cache, "GOPATH=" + filepath.Join(d.top, "go"),
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		d.t.Fatalf("%s %s: %v\n%s%s%s", name, strings.Join(args, " "), err, &out, &errs, d.said())
	}
	return strings.TrimSpace(out.String())
}

// said is the end of what each agent said in its turns.
func (d *demo) said() string {
	var b strings.Builder
	turns, _ := filepath.Glob(filepath.Join(d.dir, ".git/ralph/*/attempts/*/*/*.out"))
	for _, path := range turns {
		text := d.read(path)

		fmt.Fprintf(&b, "--- %s\n%s\n", path, text[max(0, len(text)-1500):])
	}
	return b.String()
}

func (d *demo) git(args ...string) string { return d.run("git", args...) }

func (d *demo) ralph(args ...string) string {
	ralph, err := exec.LookPath("ralph")
	if err != nil {
		d.t.Fatal(err)
	}
	return d.run(ralph, args...)
}
