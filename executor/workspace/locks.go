package workspace

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// lockHeld is longer than git holds such a lock.
const lockHeld = 300 * time.Millisecond

// Locks lists the locks in the user's repository that a git left which was killed, of
// files that others write, too: in a linked worktree `git config` writes the user's.
// They are not ralph's to remove.
func (s Checkout) Locks(ctx context.Context) []string {
	there := map[string]os.FileInfo{}
	paths := []string{filepath.Join(s.git.common, "config.lock"), filepath.Join(s.git.common, "packed-refs.lock")}
	for _, p := range paths {
		if st, err := os.Lstat(p); err == nil {
			there[p] = st
		}
	}
	if len(there) == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
	case <-time.After(lockHeld):
	}
	var left []string
	for _, p := range paths {
		if st, err := os.Lstat(p); err == nil && there[p] != nil && os.SameFile(st, there[p]) && st.ModTime().Equal(there[p].ModTime()) {
			left = append(left, p)
		}
	}
	return left
}
