package claude

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// S4-76, S4-132: the agents that Claude Code knows.
func TestNatives(t *testing.T) {
	home := t.TempDir()
	r := executortest.AgentRun(t, ir.Runner{Kind: "claude", Set: map[string]string{"HOME": home}})
	project, user := filepath.Join(r.Dir, ".claude", "agents"), filepath.Join(home, ".claude", "agents")
	for path, text := range map[string]string{
		project + "/qa.md":      "---\nname: qa\ndescription: looks at it\ntools: Read, Bash\nmodel: opus\n---\nLook.\n",
		project + "/sub/dev.md": "---\r\nname: dev\r\ndescription: >\r\n  writes\r\n  it\r\nmodel: inherit\r\n---\r\nWrite.\r\n",
		project + "/notes.md":   "no front matter",
		project + "/x.txt":      "---\nname: x\n---\n",
		user + "/dev.md":        "---\nname: dev\ndescription: another\n---\n",
		user + "/listed.md":     "---\nname: listed\ndescription: d\ntools:\n  - Read\n  - Write\n---\n",
		user + "/without.md":    "---\nname: without\ndescription: d\ndisallowedTools: Edit, Write, NotebookEdit, MultiEdit\n---\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := hasty.Natives(t.Context(), r)
	want := []executor.Native{
		{Name: "qa", Description: "looks at it", Model: "opus", Provider: "anthropic", Path: project + "/qa.md"},
		{Name: "dev", Description: "writes it", Provider: "anthropic", Path: project + "/sub/dev.md", Write: true},
		{Name: "listed", Description: "d", Provider: "anthropic", Path: user + "/listed.md", Write: true},
		{Name: "without", Description: "d", Provider: "anthropic", Path: user + "/without.md"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

// S0-112: how a person joins.
func TestJoin(t *testing.T) {
	r := executortest.AgentRun(t, ir.Runner{Kind: "claude"})
	if got := hasty.Join(r, "abc").Argv; !reflect.DeepEqual(got, []string{"claude", "--resume", "abc"}) {
		t.Errorf("got %q", got)
	}
}
