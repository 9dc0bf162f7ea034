// Package atomicfile replaces files so that a crash leaves either the old bytes
// or the new ones. It is the only user of natefinch/atomic.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/natefinch/atomic"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// Batch replaces several files, as nearly together as a file system allows:
// Commit first writes and syncs all of them beside their targets, and only then
// renames. So a full disk or a missing permission changes nothing at all. The
// zero value is ready.
type Batch struct{ files []file }

type file struct {
	path string
	data []byte
	perm fs.FileMode
	temp string
	dir  *os.File // that holds it; nil where a directory cannot be synced

	old   []byte // what it holds, when others may follow it
	fresh bool   // there is none
}

// Add has path replaced by data at Commit. An existing file keeps its
// permissions; a new one gets perm. A symbolic link is followed, so that it
// stays a link.
func (b *Batch) Add(path string, data []byte, perm fs.FileMode) {
	b.files = append(b.files, file{path: path, data: data, perm: perm})
}

// Commit replaces the files in the order of Add. The commit point of each file
// is its rename. After an error that comes before the first rename nothing has
// changed, and one that comes before the last rename puts back what was replaced; the
// error says which file it was. Behind the last rename all files are new, and an error
// says only that a crash may undo it.
func (b *Batch) Commit() error {
	defer func() {
		for i := range b.files {
			b.files[i].drop()
		}
	}()
	last := len(b.files) - 1
	for i, f := range lists.Each(b.files) {
		if err := f.stage(); err != nil {
			return err
		}
		if i == last {
			break // it is never put back
		}
		old, err := regular.ReadFile(f.path)
		if f.fresh = errors.Is(err, fs.ErrNotExist); err != nil && !f.fresh {
			return fmt.Errorf("write %s: %w", f.path, err)
		}
		f.old = old
	}
	for i := range b.files {
		if err := b.files[i].replace(); err != nil {
			return errors.Join(err, b.back(i))
		}
		if err := b.files[i].sync(); i < last && err != nil {
			return errors.Join(err, b.back(i+1))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// back puts back the first n files after a step after them failed.
func (b *Batch) back(n int) error {
	var errs []error
	for i := range b.files[:n] {
		f := &b.files[i]
		if f.fresh {
			errs = append(errs, os.Remove(f.path))
			continue
		}
		old := file{path: f.path, data: f.old, perm: f.perm}
		err := old.stage()
		if err == nil {
			err = old.replace()
		}
		if err == nil {
			err = old.sync()
		}
		old.drop()
		if err != nil {
			errs = append(errs, fmt.Errorf("put back: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Steps that tests let fail.
var (
	rename  = atomic.ReplaceFile
	syncDir = (*os.File).Sync
)

// replace is the commit point.
func (f *file) replace() error {
	if err := rename(f.temp, f.path); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	f.temp = ""
	return nil
}

// sync makes the rename last.
func (f *file) sync() error {
	if f.dir == nil {
		return nil
	}
	if err := syncDir(f.dir); err != nil {
		return fmt.Errorf("sync %s: %w", f.dir.Name(), err)
	}
	return nil
}

// drop closes the directory and removes the temporary file, which is left only where
// something failed.
func (f *file) drop() {
	if f.temp != "" {
		_ = os.Remove(f.temp)
	}
	if f.dir != nil {
		_ = f.dir.Close()
	}
}

func (f *file) stage() error {
	if target, err := filepath.EvalSymlinks(f.path); err == nil {
		f.path = target
	}
	info, err := os.Stat(f.path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("write %s: not a regular file", f.path)
	case err == nil:
		f.perm = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	if f.dir, err = openDir(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	t, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	f.temp = t.Name()
	_, err = t.Write(f.data)
	if err := errors.Join(err, t.Chmod(f.perm), t.Sync(), t.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// Write replaces the file at path by data; see Batch.
func Write(path string, data []byte, perm fs.FileMode) error {
	var b Batch
	b.Add(path, data, perm)
	return b.Commit()
}

// WriteOwn replaces a file of ralph's own, whose path is absolute and resolved: no
// link is followed, neither in the directories above it nor in its place, where the
// link is replaced.
func WriteOwn(path string, data []byte, perm fs.FileMode) error {
	if err := regular.NoLinks(filepath.Dir(path)); err != nil {
		return err
	}
	if st, err := os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return Write(path, data, perm)
}

// Create writes a new file, whole or not at all, and fails with fs.ErrExist when there
// is one already, or a link. Where a file system has no hard links, a crash may leave a
// part of it.
func Create(path string, data []byte, perm fs.FileMode) error {
	f := file{path: path, temp: filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text())}
	defer func() { f.drop() }()
	err := createHere(f.temp, data, perm)
	if err == nil {
		if err = os.Link(f.temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
			err = createHere(path, data, perm)
		}
	}
	if err == nil {
		f.dir, err = openDir(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return f.sync()
}

// createHere writes a new file in its place.
func createHere(path string, data []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// openDir opens a directory to be synced; nil where that is not possible.
func openDir(dir string) (*os.File, error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	return os.Open(dir)
}
