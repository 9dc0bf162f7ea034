package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// unnest turns repositories that were made inside the worktree into plain
// directories: a commit could hold only their names, and what is in them would
// be lost with the next clean. Their .git is moved out of the worktree. unstaged says
// that nothing was put into the index.
func (s *space) unnest(ctx context.Context, w *worktree, unstaged bool) error {
	var staged []string
	if !unstaged {
		var err error
		if staged, err = s.staged(ctx, w); err != nil {
			return err
		}
	}
	for _, p := range staged {
		if st, err := os.Lstat(filepath.Join(w.dir, p, ".git")); err != nil || !st.IsDir() {
			continue // a submodule, which has a file there
		}
		if _, err := s.git.line(ctx, w.at, "rm", "--cached", "--quiet", "-f", "--", ":(literal)"+p); err != nil {
			return err
		}
	}
	for { // one may lie inside another
		others, err := s.git.list(ctx, w.at, "", "ls-files", "--others", "--exclude-standard", "-z")
		if err != nil {
			return err
		}
		more := false
		for _, p := range others {
			dir, nested := strings.CutSuffix(p, "/")
			if !nested {
				continue
			}
			why := oneLine(dir, 200) + " was a git repository of its own, which a commit cannot hold; its files are collected, its .git was moved out of its worktree"
			if err := s.moveOut(w, why, dir+"/.git"); err != nil {
				return err
			}
			more = true
		}
		if !more {
			return nil
		}
	}
}

// staged lists the repositories that were put into the index since ralph left
// the worktree.
func (s *space) staged(ctx context.Context, w *worktree) ([]string, error) {
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
