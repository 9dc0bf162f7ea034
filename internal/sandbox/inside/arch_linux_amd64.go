package inside

import "golang.org/x/sys/unix"

const (
	arch = unix.AUDIT_ARCH_X86_64
	x32  = 0x40000000 // calls from here on are of another kind of program
)
