package workspace

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// noteStamps notes how the tracked files of a worktree are before a gate runs
// there; touched says at its end which of them somebody wrote to since. Git would
// not tell: one that was changed and put back is the same to it.
func (s *Space) noteStamps(w *worktree) { s.stamped.Store(w.name, s.stampsOf(w)) }

// touched lists the tracked files that were written to since noteStamps, sorted,
// and forgets what was noted.
func (s *Space) touched(w *worktree) []string {
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
// are there; none if the index cannot be read.
func (s *Space) stampsOf(w *worktree) map[string]stamp {
	oid := 20
	if s.carried["extensions.objectformat"] == "sha256" {
		oid = 32
	}
	stamps := map[string]stamp{}
	b, err := regular.ReadMax(filepath.Join(w.at.gitDir, "index"), maxIndex)
	if err != nil {
		return nil
	}
	list, _ := readIndex(b, oid)
	for _, e := range list {
		if st, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(e.path))); err == nil && !st.IsDir() {
			stamps[e.path] = stampOf(st)
		}
	}
	return stamps
}
