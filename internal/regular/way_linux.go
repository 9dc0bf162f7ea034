package regular

import (
	"runtime"
	"syscall"
	"unsafe"
)

// From linux/openat2.h and linux/fcntl.h; the same on all architectures.
const (
	sysOpenat2        = 437
	atFdCwd           = -100
	oPath             = 0o10000000
	resolveNoSymlinks = 0x04
)

// openHow is struct open_how.
type openHow struct{ flags, mode, resolve uint64 }

// way reports in one call to the kernel that dir is a directory with no link on the way
// (there), or that it is not there yet and nothing on the way is a link. Otherwise, and
// where the kernel is too old or may not be asked, ok is false: who wants to know looks
// at each part.
func way(dir string) (there, ok bool) {
	path, err := syscall.BytePtrFromString(dir)
	if err != nil {
		return false, false
	}
	how := openHow{flags: oPath | syscall.O_DIRECTORY | syscall.O_CLOEXEC, resolve: resolveNoSymlinks}
	at := atFdCwd
	fd, _, errno := syscall.Syscall6(sysOpenat2, uintptr(at), uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	runtime.KeepAlive(path)
	if errno != 0 {
		return false, errno == syscall.ENOENT
	}
	return syscall.Close(int(fd)) == nil, true
}
