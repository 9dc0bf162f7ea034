//go:build unix

package worker

import (
	"syscall"
)

// ownGroup keeps a process away from the signals of the terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
