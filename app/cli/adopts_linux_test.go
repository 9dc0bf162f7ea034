package cli

import (
	"syscall"
	"unsafe"
)

// adopts reports whether orphans of this process's descendants become its children.
func adopts() bool {
	const getChildSubreaper = 37 // PR_GET_CHILD_SUBREAPER, linux/prctl.h
	var is int32
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, getChildSubreaper, uintptr(unsafe.Pointer(&is)), 0)
	return errno == 0 && is != 0
}
