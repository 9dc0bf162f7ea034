package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// TestLocksThatStay: those of the user's repository that nobody holds any more are
// named, and none is removed.
func TestLocksThatStay(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	if got := r.space.Checkout.Locks(t.Context()); len(got) > 0 {
		t.Errorf("there is none: %q", got)
	}
	lock := filepath.Join(r.dir, ".git", "packed-refs.lock")
	r.must(os.WriteFile(lock, nil, 0o644))
	if got := r.space.Checkout.Locks(t.Context()); !slices.Equal(got, []string{lock}) {
		t.Errorf("got %q, want %q", got, lock)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Error(err)
	}
}
