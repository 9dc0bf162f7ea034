package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// An agent, or a tool of its, may take rights from what it makes: a cache that is only
// read, a test's file that cannot be. Git does not record them, and the owner, who is
// the user, can give them back.

// unlock gives the owner of a file or directory the rights that are needed to it. It
// reports whether that changed anything.
func unlock(path string, need fs.FileMode) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.IsDir() && !st.Mode().IsRegular() || st.Mode().Perm()&need == need {
		return false
	}
	return os.Chmod(path, st.Mode().Perm()|need) == nil
}

// unlockIn is unlock of a path of a directory, whose links lead nowhere outside.
func unlockIn(dir, path string, need fs.FileMode) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	st, err := root.Lstat(path)
	if err != nil || !st.IsDir() && !st.Mode().IsRegular() || st.Mode().Perm()&need == need {
		return false
	}
	return root.Chmod(path, st.Mode().Perm()|need) == nil
}

// unlockDirs gives the owner all rights to the directories below dir, and to dir.
func unlockDirs(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission) && d != nil && unlock(path, 0o700):
			return unlockDirs(path) // it could not be read before
		case err == nil && d.IsDir():
			unlock(path, 0o700)
		}
		return nil // what cannot be mended is reported by its user
	})
}

// unlockFiles makes all files of a worktree readable to their owner.
func unlockFiles(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // git says which
			return nil
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Type().IsRegular():
			unlock(path, 0o400)
		}
		return nil
	})
}

// remove removes a file, if it is there.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeIn is remove, also from a directory that may not be written to.
func removeIn(path string) error {
	err := remove(path)
	if errors.Is(err, fs.ErrPermission) && unlock(filepath.Dir(path), 0o700) {
		err = remove(path)
	}
	return err
}

// unreadable is how git says that it may not read a file.
var unreadable = lazyregexp.New(`(?m)^error: open\("(.+)"\): Permission denied$`)

// closed finds the file of a worktree that git may not read; "" if it was something
// else that failed.
func closed(err error) string {
	var g *gitError
	if !errors.As(err, &g) {
		return ""
	}
	if m := unreadable.FindStringSubmatch(g.stderr); m != nil && filepath.IsLocal(filepath.FromSlash(m[1])) {
		return m[1]
	}
	return ""
}
