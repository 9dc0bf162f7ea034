package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// mend puts back what ties the worktree to the repository, without reading it:
// an agent may have replaced the .git file, or left locks when it was killed.
func (s *space) mend(w *worktree) error {
	var q asking
	q.do(func() error { return regular.NoLinks(w.at.gitDir) })
	q.do(func() error { return os.MkdirAll(w.dir, 0o755) })
	q.do(func() error { return s.mendCommon(w) })
	q.do(func() error { return s.mendHead(w) })
	if q.err == nil && !s.linkIntact(w) {
		q.do(func() error { return s.moveGit(w) })
		q.do(func() error {
			return regular.WriteFile(filepath.Join(w.dir, ".git"), []byte("gitdir: "+w.at.gitDir+"\n"), 0o644)
		})
	}
	q.do(func() error { return s.unlockTree(w) })
	return q.err
}

// moveGit moves what is in the place of ralph's own .git out of a worktree.
func (s *space) moveGit(w *worktree) error {
	if there, err := exists(filepath.Join(w.dir, ".git")); err != nil || !there {
		return err
	}
	return s.moveOut(w, gitReplaced, ".git")
}

// mendCommon writes anew where the worktree's repository is, if that cannot be
// read: git was killed while it wrote it, or an agent changed it.
func (s *space) mendCommon(w *worktree) error {
	const common = "../.." // from .git/worktrees/<name>
	path := filepath.Join(w.at.gitDir, "commondir")
	if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() {
		if b, err := regular.ReadFile(path); err != nil || strings.TrimSpace(string(b)) == common {
			return err
		}
	}
	w.cut = true
	return regular.WriteOwn(path, []byte(common+"\n"), 0o644)
}

// mendHead writes HEAD of the worktree anew if nothing can be read from it: git
// would not take the directory for a repository.
func (s *space) mendHead(w *worktree) error {
	path := filepath.Join(w.at.gitDir, "HEAD")
	b, err := regular.ReadFile(path)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(string(b))
	if strings.HasPrefix(text, "ref: refs/") || len(text) >= 40 && strings.Trim(text, "0123456789abcdef") == "" {
		return nil
	}
	w.cut = true
	if text = w.Left; w.ref != "" {
		text = "ref: " + w.ref
	}
	if err := os.Remove(path); err != nil { // it may be a link
		return err
	}
	return regular.WriteFile(path, []byte(text+"\n"), 0o644)
}

// mendIndex makes an index that cannot be read anew, from a commit.
func (s *space) mendIndex(ctx context.Context, w *worktree, commit string) error {
	_, err := s.git.line(ctx, w.at, "ls-files", "--", ":(literal,top).git/none")
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if rerr := os.Remove(filepath.Join(w.at.gitDir, "index")); rerr != nil {
		return errors.Join(err, rerr)
	}
	_, err = s.git.line(ctx, w.at, "read-tree", commit)
	return err
}

// linkIntact reports whether the worktree's .git file is the one that ralph wrote.
func (s *space) linkIntact(w *worktree) bool {
	if w.Clone {
		return s.cloneIntact(w)
	}
	return fileHolds(filepath.Join(w.dir, ".git"), "gitdir: "+w.at.gitDir+"\n")
}

// unlockTree removes what a killed git left in the worktree's own directory. Of a
// clone that is all of its .git: a lock on its config alone fails each `git config`
// of the attempts that follow.
func (s *space) unlockTree(w *worktree) error {
	locks := []string{"locked"}
	err := fs.WalkDir(os.DirFS(w.at.gitDir), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil // git says what it cannot read
		case err != nil:
			return err
		case d.IsDir() && fanOut(path):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".lock"): // no ref has such a name
			locks = append(locks, filepath.FromSlash(path))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range locks {
		if err := remove(filepath.Join(w.at.gitDir, name)); err != nil {
			return err
		}
	}
	return nil
}

// fanOut reports whether a directory of a .git holds loose objects: many, and never
// a lock.
func fanOut(path string) bool {
	name, ok := strings.CutPrefix(path, "objects/")
	return ok && len(name) == 2
}
