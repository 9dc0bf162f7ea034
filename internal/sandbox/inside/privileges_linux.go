package inside

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ralph-compiler/ralph/internal/wall"
)

// Limits where the Spec names none.
const (
	usualTmp  = 2 << 30
	usualFile = 2 << 30
	usualPids = 4096
)

// limit bounds what the program may use. It holds for all its descendants.
func (o *Order) limit() error {
	l := o.Wall.Limits
	pids := uint64(Pids(l))
	if o.Fence != nil { // all of the user's count
		pids += running()
	}
	for _, r := range []struct {
		what  int
		limit uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, uint64(cmp.Or(l.File, usualFile))},
		{unix.RLIMIT_NPROC, pids},
	} {
		var has unix.Rlimit
		if err := unix.Getrlimit(r.what, &has); err != nil {
			return fmt.Errorf("getrlimit: %w", err)
		}
		to := min(r.limit, has.Max)
		if err := unix.Setrlimit(r.what, &unix.Rlimit{Cur: to, Max: to}); err != nil {
			return fmt.Errorf("setrlimit %d: %w", r.what, err)
		}
	}
	return nil
}

// Pids is how many processes and threads there may be.
func Pids(l wall.Limits) int { return cmp.Or(l.Pids, usualPids) }

// TmpSize is the size of each file system in memory.
func TmpSize(l wall.Limits) int64 { return cmp.Or(l.Tmp, usualTmp) }

// renounce gives up all capabilities of this thread, for ever. The program is started
// from it and inherits that; what the other threads of process 1 could do is of no use to
// anybody: they only wait, and nobody may look into this process.
func renounce() error {
	for c := uintptr(0); c <= 63; c++ {
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // the kernel has no more
		}
		if err == nil && has != 0 { // bwrap has dropped it
			err = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
		if errors.Is(err, unix.EPERM) && os.Getuid() != 0 {
			break // outside of a user namespace: without new privileges it gives none
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	for _, c := range []struct {
		what string
		args [2]uintptr
	}{
		{"PR_CAP_AMBIENT_CLEAR_ALL", [2]uintptr{unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL}},
		{"PR_SET_NO_NEW_PRIVS", [2]uintptr{unix.PR_SET_NO_NEW_PRIVS, 1}},
		{"PR_SET_DUMPABLE", [2]uintptr{unix.PR_SET_DUMPABLE, 0}},
	} {
		if err := unix.Prctl(int(c.args[0]), c.args[1], 0, 0, 0); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	return nil
}
