package process

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// await returns when the process has ended, or could not be watched: Wait tells.
// Unlike Wait it needs no thread of its own: a thousand programs wait in one poll.
func await(p *os.Process) {
	var fd int
	var dup error
	if err := p.WithHandle(func(handle uintptr) {
		n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, handle, syscall.F_DUPFD_CLOEXEC, 0)
		if fd = int(n); errno != 0 {
			dup = errno
		}
	}); err != nil || dup != nil {
		return
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // or the poller does not take it
		_ = syscall.Close(fd)
		return
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	// It is readable when the process has ended; reading itself is an error.
	asked := false
	_ = conn.Read(func(fd uintptr) bool {
		if !asked {
			asked = true
			return ended(int(fd))
		}
		return true
	})
}

// ended reports whether a process has ended, or cannot be asked.
func ended(pidfd int) bool {
	const pPIDFD, flags = 3, syscall.WNOHANG | syscall.WEXITED | 0x01000000 // WNOWAIT
	var info [16]uint64                                                     // siginfo: begins with the signal's number, 0 if it has not ended
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPIDFD, uintptr(pidfd), uintptr(unsafe.Pointer(&info)), flags, 0, 0)
		switch {
		case errors.Is(errno, syscall.EINTR):
		case errno != 0:
			return true
		default:
			return info[0] != 0
		}
	}
}
