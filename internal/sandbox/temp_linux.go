//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// A temp is a directory for temporary files that goes with its sandbox. Whoever made it
// holds a lock on it until then, so that it is known to be left behind if nobody does:
// neither who made it nor process 1 of the sandbox lived to remove it.
type temp struct {
	dir  string
	lock *os.File
}

// Names of such directories, with the lock and before it was taken.
const (
	heldTemp  = "ralph-landlock-"
	freshTemp = "ralph-sandbox-"
)

func makeTemp() (*temp, error) {
	fresh, err := os.MkdirTemp("", freshTemp)
	if err != nil {
		return nil, err
	}
	t := &temp{dir: filepath.Join(filepath.Dir(fresh), heldTemp+strings.TrimPrefix(filepath.Base(fresh), freshTemp))}
	if t.lock, err = locked(fresh); err == nil {
		err = os.Rename(fresh, t.dir)
	}
	if err != nil {
		return nil, errors.Join(err, t.free(), os.Remove(fresh))
	}
	return t, nil
}

// locked takes the lock of a directory, at once or not at all.
func locked(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(&os.PathError{Op: "lock", Path: dir, Err: err}, f.Close())
	}
	return f, nil
}

// free gives the lock back; t may be nil.
func (t *temp) free() error {
	if t == nil || t.lock == nil {
		return nil
	}
	if err := t.lock.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil // it was given back before
}

// remove removes the directory and gives the lock back; t may be nil.
func (t *temp) remove() error {
	if t == nil {
		return nil
	}
	return errors.Join(regular.RemoveAllOwn(t.dir), t.free())
}

// SweepTemp removes the directories for temporary files that sandboxes of the user left
// behind because ralph and their first process were killed.
func SweepTemp() error {
	top, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return err
	}
	all, err := os.ReadDir(top)
	for _, d := range all {
		dir := filepath.Join(top, d.Name())
		if !strings.HasPrefix(d.Name(), heldTemp) {
			continue
		}
		st, gone := os.Lstat(dir)
		if gone != nil || !st.IsDir() {
			continue
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Geteuid() {
			continue // another user's
		}
		f, held := locked(dir)
		if held != nil {
			continue
		}
		err = errors.Join(err, regular.RemoveAllOwn(dir), f.Close())
	}
	return err
}
