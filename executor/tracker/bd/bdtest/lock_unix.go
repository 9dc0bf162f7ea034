//go:build unix

package bdtest

import (
	"os"
	"syscall"
)

// lock waits for the file's lock; the kernel frees it when the process is killed.
func lock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// die ends the process as kill -9 would.
func die() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
