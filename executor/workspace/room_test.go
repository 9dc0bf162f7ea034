package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestASmallDiskIsNotFilledUpToTheEnd(t *testing.T) {
	overLayouts(t, testASmallDiskIsNotFilledUpToTheEnd)
} // worktree.min_free; facts: C10

func testASmallDiskIsNotFilledUpToTheEnd(t *testing.T) {
	const mega = 1 << 20
	r := newRepo(t, nil)
	disk := filepath.Join(filepath.Dir(r.dir), "project-worktrees")
	r.must(os.Mkdir(disk, 0o755))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no small file system can be mounted here (needs root): %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() })
	r.epic = executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.MinFree = 2 * mega })
	r.open()
	if err := r.space.Trees.Room(); err != nil {
		t.Fatalf("an empty disk: %v", err)
	}
	r.prepare("bd-1-1", 1, r.head())
	r.must(os.WriteFile(disk+"/ballast", make([]byte, 3*mega), 0o644))
	for what, err := range map[string]error{
		"an agent or a gate": r.space.Trees.Room(),
		"a worktree":         second(r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-2", 1, r.head()))),
	} {
		if failure(err) != executor.FailTransient || !strings.Contains(err.Error(), "make room") || !strings.Contains(err.Error(), disk) {
			t.Errorf("%s on a disk that is almost full: %v", what, err)
		}
	}
	r.must(os.Remove(disk + "/ballast"))
	if err := r.space.Trees.Room(); err != nil {
		t.Errorf("after room was made: %v", err)
	}
}

func second[A any](_ A, err error) error { return err }

func TestTheFloorHoldsOnEveryDisk(t *testing.T) { // worktree.min_free
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) {
		e.Run.Worktree.MinFree = 1000
		e.Nodes[1].Git.Worktree = ".inside/1-2"
	}))
	for _, full := range []string{r.space.State(), r.dir, filepath.Dir(r.dir)} {
		r.space.free = func(dir string) (int64, error) {
			if dir == full {
				return 999, nil
			}
			return 1000, nil
		}
		if err := r.space.Trees.Room(); failure(err) != executor.FailTransient || !strings.Contains(err.Error(), full) {
			t.Errorf("%s is almost full: %v", full, err)
		}
	}
}
