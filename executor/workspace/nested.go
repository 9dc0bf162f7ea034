package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// unnest turns repositories that were made inside the worktree into plain
// directories: a commit could hold only their names, and what is in them would
// be lost with the next clean. Their .git is moved into ralph's state. It returns
// their paths. unstaged says that nothing was put into the index.
func (s *Space) unnest(ctx context.Context, w *worktree, unstaged bool) ([]string, error) {
	var found, staged []string
	if !unstaged {
		var err error
		if staged, err = s.staged(ctx, w); err != nil {
			return nil, err
		}
	}
	for _, p := range staged {
		if st, err := os.Lstat(filepath.Join(w.dir, p, ".git")); err != nil || !st.IsDir() {
			continue // a submodule, which has a file there
		}
		if _, err := s.git.line(ctx, w.at, "rm", "--cached", "--quiet", "-f", "--", ":(literal)"+p); err != nil {
			return nil, err
		}
	}
	for { // one may lie inside another
		out, err := s.git.line(ctx, w.at, "ls-files", "--others", "--exclude-standard", "-z")
		if err != nil {
			return nil, err
		}
		n := len(found)
		for p := range strings.SplitSeq(out, "\x00") {
			dir, nested := strings.CutSuffix(p, "/")
			if !nested {
				continue
			}
			if err := s.setAside(filepath.Join(w.dir, dir, ".git")); err != nil {
				return nil, err
			}
			found = append(found, dir)
		}
		if len(found) == n {
			return found, nil
		}
	}
}

// staged lists the repositories that were put into the index since ralph left
// the worktree.
func (s *Space) staged(ctx context.Context, w *worktree) ([]string, error) {
	if w.Left == "" {
		return nil, nil
	}
	out, err := s.git.line(ctx, w.at, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", w.Left)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	var paths []string
	for i := 0; i+1 < len(fields); i += 2 {
		if meta := strings.Fields(fields[i]); len(meta) == 5 && meta[0] != ":160000" && meta[1] == "160000" {
			paths = append(paths, fields[i+1])
		}
	}
	return paths, nil
}

// setAside moves what an agent put in the place of a .git into ralph's state.
func (s *Space) setAside(path string) error {
	aside, err := os.MkdirTemp(s.state, "replaced-git-*")
	if err != nil {
		return err
	}
	err = os.Rename(path, filepath.Join(aside, "git"))
	if errors.Is(err, syscall.EXDEV) { // worktrees may be on another file system
		if err = os.CopyFS(filepath.Join(aside, "git"), os.DirFS(path)); err == nil {
			err = removeAll(path)
		}
	}
	if err != nil {
		return fmt.Errorf("move an embedded repository away: %w", err)
	}
	return nil
}
