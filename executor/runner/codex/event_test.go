package codex

import (
	"testing"
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
