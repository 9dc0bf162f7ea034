package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// Files that their owner may not read get the right back all at once: git names one at a
// time, and reads all of the worktree for it.
func TestManyFilesThatMayNotBeRead(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read all")
	}
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	const n = 400
	for i := range n {
		name := fmt.Sprintf("closed/%d", i)
		r.in("bd-1-1", name, "x")
		r.must(os.Chmod(filepath.Join(r.space.Dir("bd-1-1"), name), 0))
	}
	c := r.collect("bd-1-1", 1, base)
	if got := len(strings.Fields(r.git("ls-tree", "--name-only", c.Result.Commit, "closed/"))); got != n || len(c.Problems) > 0 {
		t.Errorf("%d files are collected, %q", got, c.Problems)
	}
}
