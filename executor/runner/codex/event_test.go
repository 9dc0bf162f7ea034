package codex

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

func TestCommandsAreShownWithoutTheShellAroundThem(t *testing.T) {
	t.Parallel()
	for cmd, want := range map[string]string{
		`/bin/bash -lc 'cat AGENTS.md'`:                "cat AGENTS.md",
		`/bin/bash -lc ls`:                             "ls",
		"/bin/bash -lc 'cat > a <<'\"'EOF'\nit\nEOF\"": "cat > a <<'EOF'\nit\nEOF",
		`/bin/zsh -lc "echo \"a\" \$b"`:                `echo "a" $b`,
		`make test`:                                    `make test`,
		`ssh host 'bash -lc x'`:                        `ssh host 'bash -lc x'`,
		`/bin/bash -lc two words`:                      `/bin/bash -lc two words`,
	} {
		if got := bare(cmd); got != want {
			t.Errorf("%s: got %s, want %s", cmd, got, want)
		}
	}
}

// Who is confined is told how to log in there.
func TestARefusedLoginInASandboxSaysWhatToDo(t *testing.T) {
	t.Parallel()
	r := executor.AgentRun{Agent: "dev", Runner: ir.Runner{Kind: "codex"}, Wall: &wall.Spec{}}
	for message, want := range map[string]bool{
		"unexpected status 401 Unauthorized: no": true,
		"Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.": true,
		"unexpected status 400 Bad Request: no": false,
	} {
		f := &executor.Failure{Class: classify(message, false), Err: errors.New("codex: " + message)}
		if got := (Runner{}).named(r, f).Error(); strings.Contains(got, "ralph login codex") != want {
			t.Errorf("%q becomes %q", message, got)
		}
	}
}
