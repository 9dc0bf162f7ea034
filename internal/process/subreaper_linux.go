package process

import "syscall"

// becomeSubreaper makes orphans of this process's descendants its children. It
// is a help, not a need: an error changes nothing.
func becomeSubreaper(int) {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER, linux/prctl.h
	_, _, _ = syscall.Syscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}
