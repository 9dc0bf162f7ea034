package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// noteStamps notes how the tracked files of a worktree are before a gate runs
// there; touched says at its end which of them somebody wrote to since. Git would
// not tell: one that was changed and put back is the same to it.
func (s *space) noteStamps(ctx context.Context, w *worktree) error {
	stamps, err := s.stampsOf(ctx, w)
	s.stamped.Store(w.name, stamps)
	return err
}

// touched lists the tracked files that were written to since noteStamps, sorted,
// and forgets what was noted.
func (s *space) touched(w *worktree) []string {
	noted, ok := s.stamped.LoadAndDelete(w.name)
	if !ok {
		return nil
	}
	var touched []string
	for path, was := range noted.(map[string]stamp) {
		if st, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(path))); err != nil || stampOf(st) != was {
			touched = append(touched, path)
		}
	}
	slices.Sort(touched)
	return touched
}

// stampsOf are the stamps of the files that the index of a worktree names and that
// are there. Git is asked where the index is large, or split.
func (s *space) stampsOf(ctx context.Context, w *worktree) (map[string]stamp, error) {
	stamps := map[string]stamp{}
	var paths []string
	b, err := regular.ReadMax(filepath.Join(w.at.gitDir, "index"), maxIndex)
	if list, ok := readIndex(b, s.newHash().Size()); err == nil && ok {
		for _, e := range list {
			paths = append(paths, e.path)
		}
	} else {
		var err error
		if paths, err = s.git.list(ctx, w.at, "", "ls-files", "-z"); err != nil {
			return nil, err
		}
	}
	for _, path := range paths {
		if st, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(path))); err == nil && !st.IsDir() {
			stamps[path] = stampOf(st)
		}
	}
	return stamps, nil
}
