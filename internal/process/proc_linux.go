package process

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// hasProc says that the system has a process table in /proc.
const hasProc = true

// procMounted reports whether /proc is the kernel's: not a directory filled by others.
func procMounted() bool {
	const procSuperMagic = 0x9fa0 // linux/magic.h
	var st syscall.Statfs_t
	return syscall.Statfs("/proc", &st) == nil && st.Type == procSuperMagic
}

// Supported says why programs cannot be run here; nil where they can.
func Supported() error {
	switch at, err := os.Readlink("/proc/self"); {
	case err != nil:
		return errors.New("/proc cannot be read: what agents and gates leave running would not be found and ended. Mount it: mount -t proc proc /proc")
	case at != strconv.Itoa(os.Getpid()):
		return errors.New("/proc is that of another pid namespace: what agents and gates leave running would not be found and ended. Mount one for this namespace: mount -t proc proc /proc (unshare --mount-proc)")
	}
	return nil
}
