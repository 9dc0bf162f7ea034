package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Dead returns the last holder of dir's lock, if it ended without releasing it and the
// lock was not taken since.
func Dead(dir string) (who Owner, ok bool) {
	if _, held, err := Holder(dir); held || err != nil {
		return who, false
	}
	who, err := readOwner(filepath.Join(dir, "owner.json"))
	return who, err == nil && who.PID != 0
}

// Holder returns the present holder of dir's lock, if any. It does not take the lock:
// the answer may be outdated when it returns.
func Holder(dir string) (who Owner, held bool, err error) {
	path := filepath.Join(dir, "lock")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return who, false, nil
	}
	if err := own(dir); err != nil {
		return who, false, fmt.Errorf("lock %s: %w", dir, err)
	}
	f := flock.New(path)
	free, err := f.TryRLock()
	if err != nil {
		return who, false, fmt.Errorf("lock %s: %w", dir, err)
	}
	if free {
		return who, false, f.Unlock()
	}
	who, err = readOwner(filepath.Join(dir, "owner.json"))
	return who, true, err
}
