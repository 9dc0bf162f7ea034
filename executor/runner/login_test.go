package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// A login is there for a runner that has no other, and moves nothing else.
func TestALoginIsMountedWhereNothingStandsForIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, env string
		none      bool // of ralph's
		fenced    bool // where nothing holds it in place
		at        string
		host      bool
	}{
		"of Claude Code":              {kind: "claude", at: "CLAUDE_SECURESTORAGE_CONFIG_DIR", host: true},
		"of Codex":                    {kind: "codex", env: "CODEX_HOME=/home/user/.codex", at: "CODEX_HOME"},
		"but a key":                   {kind: "claude", env: "ANTHROPIC_API_KEY=k"},
		"but a token":                 {kind: "claude", env: "CLAUDE_CODE_OAUTH_TOKEN=k"},
		"but a cloud of the user's":   {kind: "claude", env: "CLAUDE_CODE_USE_BEDROCK=1"},
		"but a key of Codex":          {kind: "codex", env: "CODEX_API_KEY=k"},
		"but not that of a provider":  {kind: "codex", env: "OPENAI_API_KEY=k", at: "CODEX_HOME"},
		"of another kind":             {kind: "acp"},
		"that is not there":           {kind: "codex", none: true},
		"of Claude Code, at landlock": {kind: "claude", fenced: true},
		"of Codex, at landlock":       {kind: "codex", fenced: true},
	} {
		top := t.TempDir()
		w := &wall.Spec{Login: &wall.Login{Dir: filepath.Join(top, "dir"), Own: filepath.Join(top, "own")}, Egress: &wall.Egress{Hosts: []string{Model}}}
		if c.none {
			w.Login = nil
		}
		if c.fenced {
			w.Kind = wall.Landlock
		}
		r := executor.AgentRun{Runner: ir.Runner{Kind: c.kind}, Wall: w}
		got, env := loggedIn(r, []string{"PATH=/bin", c.env})
		if c.at == "" {
			if got != w || len(env) != 2 {
				t.Errorf("a login %s: %+v, %q", name, got, env)
			}
			continue
		}
		at := filepath.Join(top, "dir", "login")
		if Value(env, c.at) != at || len(got.Mounts) < 2 || got.Mounts[1] != (wall.Mount{From: at, Write: true}) || slices.Contains(env, c.env) && strings.HasPrefix(c.env, c.at) {
			t.Errorf("a login %s: %+v, %q", name, got.Mounts, env)
		}
		if slices.Contains(got.Egress.Hosts, "platform.claude.com") != c.host || len(w.Mounts) > 0 || len(w.Egress.Hosts) != 1 {
			t.Errorf("a login %s reaches %q; what it was made of: %+v", name, got.Egress.Hosts, w)
		}
	}
}

func TestALoginThatSomebodyChangedIsNotMounted(t *testing.T) {
	t.Parallel()
	shared, private := t.TempDir(), t.TempDir()
	if err := Logins["codex"].Ready(shared); err != nil {
		t.Fatal(err)
	}
	if err := Logins["codex"].Ready(shared); err != nil {
		t.Errorf("once more: %v", err)
	}
	rules := filepath.Join(LoginDir(shared), "rules")
	if err := errors.Join(os.Remove(rules), os.Symlink(private, rules)); err != nil {
		t.Fatal(err)
	}
	if err := Logins["codex"].Ready(shared); err == nil || !strings.Contains(err.Error(), rules) {
		t.Errorf("a link to a directory of the user's: %v", err)
	}
}

func TestWhatToDoAboutALogin(t *testing.T) {
	t.Parallel()
	refused := errors.New("agent dev: 401")
	for kind, want := range map[string]string{
		"claude": "agent dev: 401: log in inside ralph's sandboxes with ralph login claude, or set ANTHROPIC_API_KEY",
		"acp":    "agent dev: 401",
	} {
		if got := Unauthorized(executor.AgentRun{Runner: ir.Runner{Kind: kind}, Wall: &wall.Spec{}}, refused).Error(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got := Unauthorized(executor.AgentRun{Runner: ir.Runner{Kind: "claude"}}, refused); got != refused {
		t.Errorf("without a sandbox: %v", got)
	}
}
