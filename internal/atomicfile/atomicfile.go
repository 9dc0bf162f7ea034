// Package atomicfile replaces files so that a crash leaves either the old bytes
// or the new ones. It is the only user of natefinch/atomic.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/natefinch/atomic"

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
// changed, and one that comes later puts back what was replaced; the error says
// which file it was.
func (b *Batch) Commit() error {
	defer func() {
		for _, f := range b.files {
			if f.temp != "" {
				_ = os.Remove(f.temp) // left only where something failed
			}
		}
	}()
	for i := range b.files {
		f := &b.files[i]
		if err := f.stage(); err != nil {
			return err
		}
		if i == len(b.files)-1 {
			break // nothing can fail behind it
		}
		old, err := os.ReadFile(f.path)
		if f.fresh = errors.Is(err, fs.ErrNotExist); err != nil && !f.fresh {
			return fmt.Errorf("write %s: %w", f.path, err)
		}
		f.old = old
	}
	for i := range b.files {
		f := &b.files[i]
		if err := atomic.ReplaceFile(f.temp, f.path); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", f.path, err), b.back(i))
		}
		f.temp = ""
		if err := syncDir(filepath.Dir(f.path)); err != nil {
			return errors.Join(err, b.back(i+1))
		}
	}
	return nil
}

// back puts back the first n files after a rename behind them failed.
func (b *Batch) back(n int) error {
	var errs []error
	for i := range b.files[:n] {
		f := &b.files[i]
		if f.fresh {
			errs = append(errs, os.Remove(f.path))
			continue
		}
		errs = append(errs, Write(f.path, f.old, f.perm))
	}
	return errors.Join(errs...)
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

// Create writes a new file and fails with fs.ErrExist when there is one already.
func Create(path string, data []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be synced there
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
