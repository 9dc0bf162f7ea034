//go:build unix

package cli

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// TestAFloorOfFreeSpaceIsKept lets an agent use up space until less than min_free
// is left: nothing more begins, ralph says why, and goes on once there is room.
func TestAFloorOfFreeSpaceIsKept(t *testing.T) { // C10; worktree.min_free
	t.Parallel()
	if testing.Short() {
		t.Skip("real git and real agents for some seconds")
	}
	disk := t.TempDir()
	if err := mountTmpfs(disk, "64m"); err != nil {
		t.Skipf("SKIPPED: a small disk has to be mounted to fill it, which needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, mntDetach) })
	s := newSite(t, siteWork+`
if [ "$RALPH_NODE" = 1.1 ]; then head -c 50m /dev/zero > "$TOP/filler"; fi`,
		executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
			e.Run.Worktree.MinFree = 20 << 20
			e.Nodes[0].Steps[0].Retry = ir.Retry{Backoff: "fixed", InitialMS: 2000}
			e.Nodes[1].Steps[0].Retry = ir.Retry{Backoff: "fixed", InitialMS: 2000}
		}), disk)
	a := s.start("apply")
	s.until("ralph says that room is needed", func() bool { return strings.Contains(s.failures(), "make room") })
	if b, err := os.ReadFile(s.file("../log/agents")); err != nil || strings.Contains(string(b), "1.2.") {
		t.Errorf("agents that began with too little space: %s, %v", b, err)
	}
	if err := os.Remove(s.file("../filler")); err != nil {
		t.Fatal(err)
	}
	if got := a.wait(); got.code != exit.Done {
		t.Fatalf("exit %d\n%s\n%s", got.code, got.all(), s.failures())
	}
	s.sound()
}
