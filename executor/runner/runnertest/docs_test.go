package runnertest_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/runner/acp"
	"github.com/ralph-compiler/ralph/executor/runner/claude"
	"github.com/ralph-compiler/ralph/executor/runner/codex"
	"github.com/ralph-compiler/ralph/executor/runner/command"
	"github.com/ralph-compiler/ralph/executor/runner/opencode"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
)

var update = flag.Bool("update", false, "rewrite the table in docs/agents.md")

// Marks in docs/agents.md around what is generated.
const (
	begins = "<!-- made by make generate -->\n"
	ends   = "<!-- end of what is made -->\n"
)

// columns are the runners, in the order of docs/agents.md.
var columns = []runnertest.Column{
	{Title: "`claude`", Kind: "claude", Runner: claude.Runner{}},
	{Title: "`opencode`", Kind: "opencode", Runner: &opencode.Runner{}},
	{Title: "`codex`", Kind: "codex", Runner: &codex.Runner{}},
	{Title: "`opencode acp`", Kind: "acp opencode", Runner: acp.Runner{}},
	{Title: "`command`", Kind: "command", Runner: &command.Runner{}},
}

func TestDocsAreCurrent(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "agents.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begins)
	old, after, closed := strings.Cut(rest, ends)
	if !ok || !closed {
		t.Fatalf("%s has no marks around the table", file)
	}
	want := "\n" + runnertest.Table(columns...) + "\n"
	if old == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not current: make generate", file)
	}
	if err := os.WriteFile(file, []byte(before+begins+want+ends+after), 0o600); err != nil {
		t.Fatal(err)
	}
}
