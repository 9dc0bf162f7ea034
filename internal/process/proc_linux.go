package process

import "syscall"

// hasProc says that the system has a process table in /proc.
const hasProc = true

// procMounted reports whether /proc is the kernel's: not a directory that somebody filled.
func procMounted() bool {
	const procSuperMagic = 0x9fa0 // linux/magic.h
	var st syscall.Statfs_t
	return syscall.Statfs("/proc", &st) == nil && st.Type == procSuperMagic
}
