//go:build unix

package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestWorktreesOfASuccessGoAndOthersAreNamedOnce(t *testing.T) { // S2-63, S2-67
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) { e.Run.Git.Cleanup = "never" }))
	r.run(exit.Done)
	r.in("1.2", "mine.txt", "a person's\n")
	r.epic(executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) { e.Run.Git.Cleanup = "on_success" }))
	a := r.run(exit.Done)
	if _, err := os.Stat(r.tree("1.1")); !os.IsNotExist(err) {
		t.Errorf("the worktree of 1.1 is still there (%v)", err)
	}
	if _, err := os.Stat(r.tree("1.2") + "/mine.txt"); err != nil {
		t.Error(err)
	}
	said := a.out.String() + a.err.String()
	if n := strings.Count(said, r.tree("1.2")); n != 1 || !strings.Contains(said, "is kept: it holds changes that are not committed") {
		t.Errorf("it named the worktree %d times:\n%s", n, said)
	}
}
