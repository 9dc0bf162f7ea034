package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// What setup and copy brought is there for the next attempt, too, whatever an attempt or a
// gate deleted, and is no part of what is collected.
func TestThePreparedStateIsPutBack(t *testing.T) { // execution §3, prepared state
	overLayouts(t, testThePreparedStateIsPutBack)
}

func testThePreparedStateIsPutBack(t *testing.T) {
	for name, remove := range map[string]string{"what setup made": "made/a", "what was copied": "own.log", "its whole worktree": "."} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) {
				e.Run.Worktree.Copy = []string{"own.log"}
				e.Run.Worktree.Setup = []string{"mkdir -p made && echo a >made/a && echo b >made/b && echo c >c.log"}
			}))
			r.write("own.log", "own\n")
			base := r.head()
			dir := r.space.Dir("bd-1-1")
			whole := func(when string) {
				t.Helper()
				for _, f := range []string{"made/a", "made/b", "own.log", "c.log"} {
					if f == "c.log" && name != "its whole worktree" {
						continue
					}
					if _, err := os.Lstat(filepath.Join(dir, f)); err != nil {
						t.Errorf("%s: %v", when, err)
					}
				}
			}
			r.prepare("bd-1-1", 1, base)
			whole("first")
			r.must(os.RemoveAll(filepath.Join(dir, remove)))
			r.collect("bd-1-1", 1, base)
			r.prepare("bd-1-1", 2, base)
			whole("after an attempt")
			r.in("bd-1-1", "a.txt", "a")
			c := r.collect("bd-1-1", 2, base)
			if len(c.Changes) != 1 || len(c.Problems) > 0 {
				t.Errorf("collected %+v", c)
			}
			e := r.gate("bd-1-1", c.Result.Commit, "check", false)
			r.opened(e)
			r.must(os.RemoveAll(filepath.Join(dir, remove)))
			r.closed(e)
			r.opened(r.gate("bd-1-1", c.Result.Commit, "check", false))
			whole("after a gate")
			if _, err := r.space.Prepare(t.Context(), r.effect(executor.EffectPrepare, "bd-1-1", 3, c.Result.Commit)); err != nil {
				t.Error(err)
			}
			if c := r.collect("bd-1-1", 3, c.Result.Commit); len(c.Changes) > 0 {
				t.Errorf("at last: %+v", c)
			}
		})
	}
}
