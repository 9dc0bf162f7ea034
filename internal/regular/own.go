package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Files of ralph's own lie in its state directories, where agents and gates can write:
// they run as the same user. A link that one of them planted there leads to a file of
// the user's. So none is followed, neither in the place of a file nor in that of a
// directory above it. The paths that are given are absolute and were resolved before
// any agent ran.

// NoLinks returns an error if an element of the path dir is a link or otherwise not a
// directory; it names that element. Elements that do not exist yet are fine.
func NoLinks(dir string) error {
	_, err := There(dir)
	return err
}

// There reports whether dir is a directory. The error is that of NoLinks.
func There(dir string) (bool, error) {
	dir = filepath.Clean(dir)
	if there, ok := way(dir); ok {
		return there, nil
	}
	return walk(dir)
}

// walk looks at each part of a path.
func walk(dir string) (bool, error) {
	for i := range len(dir) {
		if last := i == len(dir)-1; i == 0 || !last && dir[i+1] != filepath.Separator {
			continue
		}
		at := dir[:i+1]
		st, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		switch {
		case st.Mode().IsRegular():
			return false, &fs.PathError{Op: "open", Path: at, Err: errors.New("a file is where a directory of ralph's is to be")}
		case !st.IsDir():
			return false, planted(at, st.Mode())
		}
	}
	return true, nil
}

// Own returns an error when something is at path that is no regular file, or a link
// on the way there.
func Own(path string) error {
	if err := NoLinks(filepath.Dir(path)); err != nil {
		return err
	}
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !st.Mode().IsRegular() {
		return planted(path, st.Mode())
	}
	return err
}

// planted is the error for something that is in the place of one of ralph's own files.
func planted(path string, mode fs.FileMode) error {
	what := Kind(mode)
	if mode&fs.ModeSymlink != 0 {
		if to, err := os.Readlink(path); err == nil {
			what += " to " + strings.ToValidUTF8(to, "\uFFFD")
		}
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w, but %s: ralph follows none among its own files. Look where it leads, then remove it (not what it leads to)", ErrNot, what)}
}

// MkdirOwn makes a directory of ralph's own, and those above it.
func MkdirOwn(dir string) error {
	if err := NoLinks(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// RemoveAllOwn removes what is of ralph's own, and all that it holds, also in directories
// whose permissions somebody took away. A link is removed, not what it leads to.
func RemoveAllOwn(path string) error {
	if err := NoLinks(filepath.Dir(path)); err != nil {
		return err
	}
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := unlock(path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// unlock gives the owner access to a directory and to all below it.
func unlock(dir string) error {
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() { // it is read afterwards
			err = root.Chmod(name, 0o700)
		}
		return err
	})
}

// MkdirTemp makes a directory for temporary files; its path holds no link.
func MkdirTemp(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// OpenOwn opens a file of ralph's own for reading.
func OpenOwn(path string) (*os.File, error) { return openOwn(path, os.O_RDONLY, 0) }

// ReadOwn reads a file of ralph's own.
func ReadOwn(path string) ([]byte, error) { return read(-1)(OpenOwn(path)) }

// ReadOwnMax is ReadOwn of a file of at most limit bytes.
func ReadOwnMax(path string, limit int64) ([]byte, error) { return read(limit)(OpenOwn(path)) }

// CreateOwn makes a file of ralph's own, for writing. A file or a link in its place is
// taken away first, so that no other name of it is written to: neither what a link leads
// to, nor a file that has a second name elsewhere. Everything else stays, and is an
// error: no agent makes a device, and what a directory holds may be a person's.
func CreateOwn(path string, perm fs.FileMode) (*os.File, error) {
	const flag = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := openOwn(path, flag, perm)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() && st.Mode()&fs.ModeSymlink == 0 {
		return nil, planted(path, st.Mode())
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return openOwn(path, flag, perm)
}

// WriteOwn writes a file of ralph's own.
func WriteOwn(path string, data []byte, perm fs.FileMode) error {
	f, err := CreateOwn(path, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// AppendOwn opens a file of ralph's own to write at its end, and makes it if there is
// none.
func AppendOwn(path string, perm fs.FileMode) (*os.File, error) {
	return openOwn(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, perm)
}

func openOwn(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := NoLinks(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if noFollow == 0 && flag&os.O_EXCL == 0 {
		if err := Own(path); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, flag|noFollow|syscall.O_NONBLOCK, perm)
	if st, serr := os.Lstat(path); err != nil && serr == nil && st.Mode()&fs.ModeSymlink != 0 && flag&os.O_EXCL == 0 {
		return nil, planted(path, st.Mode())
	}
	return checked(f, err)
}

// Resolved is a path without links; the path itself where that cannot be told.
func Resolved(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// Within reports whether a clean path is a directory or below it. It looks at nothing.
func Within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
