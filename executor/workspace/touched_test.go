package workspace

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// A split index names only what differs from one that is shared: git says what it holds.
func TestTheFilesOfASplitIndexAreStamped(t *testing.T) { // execution §3: tracked files that are written to while a gate runs
	overLayouts(t, func(t *testing.T) {
		r := newRepo(t, executortest.Epic(two))
		base := r.head()
		r.prepare("bd-1-1", 1, base)
		w := r.space.own(r.space.nodes["bd-1-1"])
		r.must(r.space.worktree(t.Context(), w, base))
		r.git("-C", w.dir, "update-index", "--split-index")
		stamps, err := r.space.stampsOf(t.Context(), w)
		r.must(err)
		if _, ok := stamps["README.md"]; !ok || len(stamps) != 3 {
			t.Errorf("stamps of %v", stamps)
		}
	})
}
