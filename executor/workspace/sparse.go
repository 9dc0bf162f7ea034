package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// unfold makes sure that git can read the index of a worktree. One of a sparse checkout
// names whole directories, which git expands: with more files in them than a commit may
// hold it is made anew from what ralph left.
func (s *space) unfold(ctx context.Context, w *worktree) error {
	name := filepath.Join(w.at.gitDir, "index")
	if w.Left == "" || s.asIndexed(w) {
		return nil
	}
	b, err := regular.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(b, []byte("sdir")) {
		return nil
	}
	if err != nil {
		return err
	}
	c, sum := s.census(), int64(0)
	entries, _ := readIndex(b, len(w.Left)/2) // as far as it can be read
	for _, e := range entries {
		if e.mode != 0o40000 { // of a directory
			continue
		}
		in, err := c.of(ctx, e.oid, 0)
		if err != nil {
			return err
		}
		sum = min(sum+in.n, uncounted)
	}
	if sum <= maxMore {
		return nil
	}
	left, err := s.git.tree(ctx, w.Left)
	if err != nil {
		return err
	}
	if in, err := s.census().of(ctx, left, 0); err != nil || sum < uncounted && sum <= in.n+maxMore {
		return err
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	_, err = s.git.line(ctx, w.at, "read-tree", w.Left)
	return err
}
