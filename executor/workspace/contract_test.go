package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestTheContract(t *testing.T) { overLayouts(t, testTheContract) }

func testTheContract(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2"}))
	base, _, err := r.space.Bases.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	executortest.WorkspaceContract(t, r.space, base, func(t *testing.T, node ir.NodeID, dir string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, string(node)+".txt"), []byte("made\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
}
