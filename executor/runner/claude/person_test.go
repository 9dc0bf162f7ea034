package claude

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// What an agent in a sandbox puts in the place of its transcript leads to none of the
// user's own.
func TestATranscriptIsReadInTheAgentsHomeAlone(t *testing.T) {
	user, home := t.TempDir(), t.TempDir()
	theirs, dir := filepath.Join(user, "private.jsonl"), filepath.Join(home, ".claude", "projects")
	if err := os.MkdirAll(filepath.Join(dir, "p"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(theirs, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	look := func(id string) ([]byte, error) {
		r := executor.AgentRun{Wall: &wall.Spec{Home: home}, Human: ir.HITL{OnHumanMessage: "pause"}}
		w := watch(nil, r, dir, session{id: id}, nil)
		if w.path == "" {
			t.Fatalf("%s was not found", id)
		}
		w.offset = 0
		return w.read()
	}
	if err := os.Symlink(theirs, filepath.Join(dir, "p", "planted.jsonl")); err != nil {
		t.Fatal(err)
	}
	if b, err := look("planted"); err == nil {
		t.Errorf("it read %q", b)
	}
	if err := os.WriteFile(filepath.Join(dir, "p", "own.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := look("own"); err != nil || len(b) == 0 {
		t.Errorf("its own: %q, %v", b, err)
	}
}
