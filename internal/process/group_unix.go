//go:build unix

package process

import "syscall"

// OwnGroup gives a process a group of its own: a terminal sends its signals to every
// process of the foreground group.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
