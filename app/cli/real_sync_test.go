//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
)

// S4-132: agents of OpenCode's own, of the user's and of the project's.
func TestRealAgentsOfOpenCodeComeIntoThePolicy(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real OpenCode")
	}
	bin := runnertest.Binary(t, "opencode")
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, top: top, dir: filepath.Join(top, "project"), path: filepath.Dir(bin) + ":" + os.Getenv("PATH")}
	t.Cleanup(s.end)
	s.write("../home/.config/opencode/agent/mine.md", "---\ndescription: Mine\nmode: primary\n---\nYou are mine.\n")
	s.write(".opencode/agent/judge.md", "---\ndescription: Judges\nmode: primary\nmodel: anthropic/claude-x\npermission:\n  edit: deny\n---\nYou judge.\n")
	s.write(".claude/agents/dev.md", "---\nname: dev\n---\nYou develop.\n")
	s.write("ralph.hcl", `runner "oc" {
  kind = "opencode"
  env  = ["HOME", "PATH", "OPENCODE_DISABLE_MODELS_FETCH=1"]
}

agent "judge" {
  slug         = "another"
  runner       = runner.oc
  capabilities = ["review"] # mine
}
`)
	s.git("init", "-q", ".")
	got := s.ralph("sync-agents")
	if got.code != exit.Done {
		t.Fatalf("exit %d\n%s", got.code, got.all())
	}
	if now, want := s.read("ralph.hcl"), `agent "judge" {
  path         = ".opencode/agent/judge.md"
  runner       = runner.oc
  model        = "anthropic/claude-x"
  capabilities = ["review"] # mine
}
`; !strings.HasSuffix(now, want) {
		t.Errorf("ralph.hcl is\n%s\nwant at its end\n%s", now, want)
	}
	added := s.read("policies/agents.hcl")
	for _, want := range []string{
		"agent \"mine\" {\n  description  = \"Mine\"\n  slug         = \"mine\"\n  runner       = runner.oc\n  access       = \"write\"\n",
		"slug         = \"plan\"\n  runner       = runner.oc\n  access       = \"read\"\n",
		"agent \"dev\" {\n  path         = \".claude/agents/dev.md\"\n  runner       = runner.claude\n",
	} {
		if !strings.Contains(added, want) {
			t.Errorf("policies/agents.hcl is\n%s\nwant in it\n%s", added, want)
		}
	}
	if got := s.ralph("sync-agents", "--check"); got.code != exit.Done {
		t.Errorf("a second time: exit %d\n%s", got.code, got.all())
	}
	if got := s.ralph("validate", "ralph.hcl", "policies/agents.hcl"); got.code != exit.Done {
		t.Errorf("the policy is broken: %s", got.all())
	}
	if left := s.processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}
